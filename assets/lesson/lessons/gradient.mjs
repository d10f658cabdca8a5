// @ts-check
/** Where the gradient gets small: the loss of a late row goes back through one Jacobian after another, and the product may shrink far below the product
 * of their norms. Numbers: a tanh cell and an LSTM of one width, both as they are drawn at random from one seed, on one sentence. Source: 000 0x03B and
 * 0x03E; Pascanu et al. 2013, arXiv 1211.5063. */

import { msg, parts } from "../../lib/language.mjs";
import { ways } from "../../lib/training/backwards.mjs";
import { figure } from "../../lib/words.mjs";
import { ruled, start } from "../asked.mjs";
import { b, d, g, measured, mono, q } from "../said.mjs";

/** @typedef {import("../see.mjs").See} See @typedef {import("../../lib/training/backwards.mjs").Loop} Loop */

const TEXT = "the report was not convincing . the black cat sleeps . the committee rejected".split(" ");
const LAST = TEXT.length; // its row; <bos> is row 0
const LINKS = LAST;
const ASKED = [LAST - 1, LAST - 3, LAST - 5, LAST - 8, 0];
const [TENTH, HUNDREDTH, FAR] = [0.1, 0.01, 6];
/** @param {string} cell @param {number} [truncate] */
const scenario = (cell, truncate = 0) => ({
  architecture: "recurrent", task: "language_model", config: { cell, width: 96, truncate }, weights: "random", seed: 7, phase: "train", training: { batch: "mine" }, requests: [{ target: TEXT }],
});
const LOOK = { pane: /** @type {const} */ ("time") };
/** @param {string} cell @param {number} [updates] */
const begins = (cell, updates = 0) => start(scenario(cell), updates, "step", LOOK);

/** @param {See} see @param {string} cell */
const runs = (see, cell) => see.scenario.architecture === "recurrent" && see.scenario.config?.cell === cell && see.phase === "train" && see.scenario.training?.batch === "mine";
/** @param {See} see @param {string} cell */
const fresh = (see, cell) => runs(see, cell) && see.updates === 0 && !see.stage;
/** After the first update: what was measured belongs to the weights that it began with. @param {See} see @param {string} cell */
const first = (see, cell) => runs(see, cell) && see.updates === 1 && !see.stage;

/** The way back from a row, as the analysis of this moment says; null while it is not measured. @param {See} see @param {string} cell
 * @returns {{row: number, loop: Loop} | null} */
function way(see, cell) {
  const found = runs(see, cell) ? ways(see.of(0)) : null;
  return found?.loops[0] ? { row: found.row, loop: found.loops[0] } : null;
}

/** From the last row. @param {See} see @param {string} cell */
const fromLast = (see, cell) => (first(see, cell) && way(see, cell)?.row === LAST ? /** @type {Loop} */ (way(see, cell)?.loop) : null);
/** What is left at row 0. @param {See} see @param {string} cell */
const atStart = (see, cell) => way(see, cell)?.loop.products[0] ?? NaN;
/** @param {See} see @param {string} cell */
const startNow = (see, cell) => (Number.isFinite(atStart(see, cell)) ? figure(atStart(see, cell)) : msg`not measured`);

/** The farthest state back that so much reaches, of all of them without a gap.
 * @param {(number | null)[]} products by row, that of the followed row is 1 @param {number} row followed @param {number} share */
export function reach(products, row, share) {
  let at = row;
  while (at > 0 && (products[at - 1] ?? 0) >= share) at--;
  return at;
}

/** Of the states that are asked about, the farthest back that so much reaches. @param {Loop} loop */
const answer = (loop) => ASKED.filter((row) => (loop.products[row] ?? 0) >= TENTH).at(-1) ?? ASKED[0];

/** The same question for either cell. @param {string} cell @returns {import("../types").Question} */
const question = (cell) => ({
  asks: () => parts`which is the farthest of these states that at least a tenth reaches?`,
  options: () => ASKED.map((row) => ({ key: String(row), label: msg`s${row}, ${LAST - row} back` })),
  bar: "g",
  measured: (see) => fromLast(see, cell) && ASKED.map((row) => /** @type {Loop} */ (fromLast(see, cell)).products[row] ?? NaN),
  shows: (value) => figure(value),
  reveal: "step",
  verdict(see, said) {
    const loop = fromLast(see, cell);
    if (!loop) return [];
    return ruled(said === String(answer(loop)), `s${said}`, parts`A tenth comes as far back as state ${reach(loop.products, LAST, TENTH)}; at state 0, ${g(figure(loop.products[0] ?? NaN))}${measured} of it is left after ${LINKS} links.`);
  },
});

/** What the first step noted, as a figure. @param {See} see @param {string} name @param {number} [digits] */
const noted = (see, name, digits = 3) => (see.note(name) === null ? "–" : figure(Number(see.note(name)), digits));

/** The smallest and the largest norm of one link. @param {Loop} loop */
function links(loop) {
  const all = loop.links.flatMap((v) => (v === null ? [] : [v]));
  return [Math.min(...all), Math.max(...all)];
}

/** @type {import("../types").Lesson} */
export const gradient = {
  id: "gradient",
  title: () => msg`Where the gradient gets small`,
  about: () => msg`It goes back through a product, and a product can vanish.`,
  begin: begins("tanh"),
  steps: [
    {
      title: () => msg`One state after another`,
      text: () => [
        parts`A recurrent cell with tanh carries one state from row to row. The last row, ${q(TEXT[LAST - 1])}, has a loss; its gradient goes back from state ${LAST} to state 0, through ${LINKS} links. Each link multiplies it by a matrix: the Jacobian of one step.`,
        parts`The weights are drawn at random; nothing was learned. The bars will say how large the product of all these matrices is, the norm of what is left.`,
      ],
      at: { says: () => msg`tanh, before the first update`, here: (see) => fresh(see, "tanh"), start: begins("tanh") },
      predict: question("tanh"),
      checks: [{ says: () => parts`the way back is measured; left at state 0`, done: (see) => fromLast(see, "tanh") !== null, now: (see) => startNow(see, "tanh"), mark: "m" }],
      note(see) {
        const loop = /** @type {Loop} */ (fromLast(see, "tanh"));
        const [low, high] = links(loop);
        return { tanh: atStart(see, "tanh"), bound: loop.bounds[0] ?? NaN, low, high };
      },
    },
    {
      title: () => msg`A bound is not a measure`,
      text: (see) => [
        parts`Every single link has a norm between ${mono(noted(see, "low", 2))} and ${mono(noted(see, "high", 2))}${measured}. Multiplied, these norms would leave up to ${mono(noted(see, "bound", 2))} (dotted); the product of the matrices leaves ${g(noted(see, "tanh"))}. What one link lets through, another does not.`,
        parts`${b(msg`Challenge.`)} In ${b(msg`Back through time`)} click the column of another row: its loss is followed then. Find row ${FAR} or a later one, of which a hundredth still reaches state 0.`,
      ],
      at: { says: () => msg`tanh, update 1`, here: (see) => first(see, "tanh"), start: begins("tanh", 1) },
      ring: (see) => (atStart(see, "tanh") >= HUNDREDTH ? "" : "#slot-map"),
      checks: [
        { says: () => parts`row ${FAR} or later is followed`, done: (see) => first(see, "tanh") && (way(see, "tanh")?.row ?? -1) >= FAR && way(see, "tanh")?.row !== LAST, now: (see) => (way(see, "tanh") ? msg`row ${way(see, "tanh")?.row ?? ""}` : msg`not measured`), mark: "e" },
        { says: () => parts`a hundredth reaches state 0`, done: (see) => first(see, "tanh") && way(see, "tanh")?.row !== LAST && atStart(see, "tanh") >= HUNDREDTH, now: (see) => startNow(see, "tanh"), mark: "m" },
      ],
      hint: () => parts`Each link leaves only a part. Drag or scroll in the view to see the early rows, and click near row ${FAR}.`,
      verdict: (see) => parts`From row ${way(see, "tanh")?.row ?? ""} it is ${g(startNow(see, "tanh"))}${measured}. The fewer the links, the more arrives: such a cell learns what lies near, and hardly what lies far.`,
    },
    {
      title: () => msg`A cell with a gate`,
      text: (see) => [
        parts`An LSTM of the same width, drawn from the same seed. Beside what it shows it carries a cell: old content times a forget gate, plus what is written. Content can pass a link without going through a matrix and a tanh.`,
        parts`With tanh ${g(noted(see, "tanh"))} was left at state 0.`,
      ],
      at: { says: () => msg`LSTM, before the first update`, here: (see) => fresh(see, "lstm"), start: begins("lstm") },
      predict: question("lstm"),
      checks: [{ says: () => parts`the way back is measured; left at state 0`, done: (see) => fromLast(see, "lstm") !== null, now: (see) => startNow(see, "lstm"), mark: "m" }],
      verdict(see) {
        const loop = fromLast(see, "lstm");
        const times = (loop?.products[0] ?? NaN) / Number(see.note("tanh"));
        return parts`${figure(times, 0)} times as much as with tanh${measured}. It still falls, and the norms of single links, up to ${mono(figure(loop ? links(loop)[1] : NaN, 2))}, promise more than is kept: a gate makes a better way, not a constant one.`;
      },
    },
    {
      title: () => msg`Does learning mend it?`,
      text: (see) => [parts`Back to tanh. ${b(msg`Challenge.`)} Let it learn this one sentence: press ${b(msg`Play`)} or ${b(msg`Step`)} until the loss is below a half nat a row. Then see what is left at state 0; at random weights it was ${g(noted(see, "tanh"))}.`],
      at: { says: () => msg`tanh, update 1`, here: (see) => runs(see, "tanh") && see.updates >= 1 && see.updates < 4, start: begins("tanh", 1) },
      ring: (see) => (!(see.loss < 0.5) ? "#play, #play-phone" : way(see, "tanh") ? "" : "#slot-map"),
      checks: [
        { says: () => parts`the loss is below 0.5`, done: (see) => runs(see, "tanh") && see.loss < 0.5, now: (see) => (Number.isFinite(see.loss) ? figure(see.loss, 2) : msg`not computed`), mark: "m" },
        { says: () => parts`the way back is measured anew`, done: (see) => runs(see, "tanh") && see.loss < 0.5 && way(see, "tanh") !== null, now: (see) => startNow(see, "tanh"), mark: "m" },
      ],
      hint: () => parts`Play goes by itself; the number beside it is how many updates a second. It rests when you press it again; the way back is measured as soon as it rests.`,
      verdict: (see) => parts`Left at state 0 from row ${way(see, "tanh")?.row ?? ""}: ${g(startNow(see, "tanh"))}${measured}. Before it had learned anything it was ${g(noted(see, "tanh"))}. What a row needs may stand in the rows just before it: a lower loss does not say how far back the gradient reaches.`,
    },
    {
      title: () => msg`What you can now say`,
      text: () => [parts`Say it in a sentence of your own, then compare it with ours.`],
      write: {
        asks: () => parts`Where does the gradient get small, and what does a gate change?`,
        ours: () => parts`The gradient of a late row reaches an early state through a product of Jacobians. Even where each has a norm near 1 the product can vanish, because they shrink different directions. A gated cell adds a way on which content passes with a factor near 1, so more arrives; the steps stay one after another.`,
      },
      checks: [],
    },
  ],
};
