// @ts-check
/** Why the adjective moves: a target row holds the word before and decides the word after it, so after "chat" it is the adjective that is
 * looked for, which English has before the noun. Numbers: the shipped encoder-decoder on "the black cat sleeps", layer 2. */

import { counted, msg, parts } from "../../lib/language.mjs";
import { percent, probability } from "../../lib/words.mjs";
import { b, d, i, k, measured, mono, q, v } from "../said.mjs";

/** @typedef {import("../see.mjs").See} See @typedef {import("../types").Said} Said */

const SCENARIO = { architecture: "encoder_decoder", requests: [{ source: ["the", "black", "cat", "sleeps"] }] };
const LOOK = { relation: "cross", layer: 1, head: 0, show: /** @type {const} */ ("weights"), scope: /** @type {const} */ ("layer"), lock: null, path: null, op: null, editing: false };
const READ = { relation: "cross", layer: 1, head: 0 };
const [BLACK, CAT] = [1, 2];
/** @param {number} times */
const steps = (times) => (times ? [{ command: { kind: "step", unit: "step" }, times }] : []);
/** @param {number} times */
const start = (times) => ({ scenario: SCENARIO, log: steps(times), look: LOOK });
/** Nothing is hidden, and the model wrote what it writes by itself. @param {See} see @param {string[]} rows */
const stands = (see, rows) => see.phase === "decode" && see.stage === "" && !see.hidden("cross").length && see.tokens().join() === ["<bos>", ...rows].join();

/** What a row reads most, as a live value: "cat .90". @param {See} see @param {number} row */
function mostNow(see, row) {
  const most = see.most(READ, row);
  return most ? `${most.token} ${percent(most.weight)}` : msg`not computed`;
}

/** @param {See} see */
function leadNow(see) {
  const lead = see.lead();
  return lead ? `${lead.token} ${probability(lead.probability, 2)}` : msg`nothing yet`;
}

/** @param {See} see */
const hiddenNow = (see) => counted(see.hidden("cross").length, "{0} cell hidden", "{0} cells hidden");

/** @param {See} see @param {number} query @param {number} key */
const only = (see, query, key) => {
  const cells = see.hidden("cross");
  return cells.length === 1 && cells[0].query === query && cells[0].key === key;
};

/** @param {See} see @param {number} row */
const openNow = (see, row) => {
  const { open, of } = see.reads("cross", 1, row);
  return msg`${open} of ${of}`;
};

/** @type {import("../types").Lesson} */
export const adjective = {
  id: "adjective",
  title: () => msg`Why the adjective moves`,
  about: () => msg`A row holds one word and decides the next, so it reads what comes next.`,
  begin: start(0),
  reads: [READ],
  steps: [
    {
      title: () => msg`One row per word`,
      text: () => [
        parts`The model translates ${i("the black cat sleeps")} into French, one word at a time. Each word that it has so far is a row. The newest row reads the source words and decides the next word.`,
        parts`Row 0 is ${q("<bos>")}, which only says “begin”. Click a cell of its line in the map to see how much it reads there.`,
      ],
      at: { says: () => msg`decode ${0}`, here: (see) => stands(see, []), start: start(0) },
      ring: (see) => (see.world.look.lock ? "" : "#slot-map"),
      checks: [
        { says: () => parts`you looked at a cell of row 0`, done: (see) => see.world.look.lock?.row === 0 && see.world.look.relation === "cross", now: (see) => lockNow(see), mark: "m", once: true },
      ],
      verdict: (see) => parts`Row 0 reads ${k(see.most(READ, 0)?.token ?? "")} most, and ${d(see.tokens()[1] ?? see.lead()?.token ?? "")} comes next. The weights of a row add up to 1.`,
    },
    {
      title: () => msg`Step to le`,
      text: () => [
        parts`${d("le")} leads, but it is not a row yet: a word must be chosen before its row can run.`,
        parts`Press ${b(msg`Step`)}. ${q("le")} becomes row 1, reads, and decides the word after it.`,
      ],
      at: { says: () => msg`decode ${0}`, here: (see) => stands(see, []), start: start(0) },
      ring: (see) => (see.tokens().length > 1 ? "" : "#step, #step-phone"),
      checks: [
        { says: () => parts`row 1 is computed`, done: (see) => see.tokens()[1] === "le", now: (see) => (see.tokens()[1] ? msg`yes` : msg`waiting for Step`), mark: "" },
        { says: () => parts`row 1 reads most`, done: (see) => see.most(READ, 1) !== null, now: (see) => mostNow(see, 1), mark: "m" },
        { says: () => parts`row 1 decides`, done: (see) => see.deciding() === 1, now: (see) => (see.deciding() === 1 ? leadNow(see) : msg`not computed`), mark: "m" },
      ],
      verdict: (see) => parts`Row 1 holds ${q("le")} and reads ${k(see.most(READ, 1)?.token ?? "")}: the word that it decides, not the word that it holds.`,
    },
    {
      title: () => msg`Which word will be read?`,
      text: () => [parts`${d("chat")} leads and is taken next. Its row, row 2, has not run: it must find what comes after ${q("chat")}. In English the colour stood ${i(msg`before the noun`)}.`],
      at: { says: () => msg`decode ${1}`, here: (see) => stands(see, ["le"]), start: start(1) },
      predict: {
        asks: () => parts`which source word will row 2 read most?`,
        options: (see) => see.tokens("s").map((token, key) => ({ key: `${key} ${token}`, label: token, role: "k" })),
        measured: (see) => (see.tokens()[2] === "chat" ? see.weights(READ, 2) : null),
        reveal: "step",
        verdict: (see, said) => ourVerdict(see, said),
      },
      checks: [{ says: () => parts`row 2 is computed`, done: (see) => see.tokens()[2] === "chat" && see.most(READ, 2) !== null, now: (see) => (see.tokens()[2] ? mostNow(see, 2) : msg`not computed`), mark: "m" }],
    },
    {
      title: () => msg`Take the word away`,
      text: () => [
        parts`Reading ${k("black")} and writing ${d("noir")} go together. Is the one needed for the other? Take it away and see.`,
        parts`Turn on ${b(msg`Edit mask`)} and click the cell where row 2, ${q("chat")}, reads ${k("black")}. The step runs again without it.`,
      ],
      at: { says: () => msg`decode ${2}`, here: (see) => stands(see, ["le", "chat"]), start: start(2) },
      ring: () => "#slot-map",
      predict: {
        asks: () => parts`without this cell, what follows ${q("chat")}?`,
        options: () => ["noir", "dort", "chat"].map((token) => ({ key: token, label: token, role: "d" })),
        bar: "d",
        measured: (see) => (see.hidden("cross").some((c) => c.query === 2 && c.key === BLACK) && see.deciding() === 2 ? ["noir", "dort", "chat"].map((token) => see.p(token)) : null),
        reveal: "you",
        verdict: (see, said) => {
          const lead = see.lead()?.token ?? "";
          const then = parts`Without the cell ${d(lead)} leads at ${mono(probability(see.p(lead), 2))}${measured}; ${d("noir")} had ${mono(probability(see.unedited("noir"), 2))} and has ${mono(probability(see.p("noir"), 2))}${measured}.`;
          return [...(said === lead ? parts`Yes.` : parts`You said ${d(said)}.`), " ", ...then];
        },
      },
      checks: [
        { says: () => parts`that cell is hidden, alone`, done: (see) => only(see, 2, BLACK), now: hiddenNow, mark: "e" },
        { says: () => parts`another word leads`, done: (see) => see.deciding() === 2 && !!see.lead() && see.lead()?.token !== "noir", now: leadNow, mark: "m" },
      ],
      verdict: () => parts`This shows what happens without the cell. It does not show that weights explain every choice: a word can be read much and matter little.`,
      hint: () => parts`The cell stands in line ${q("chat")}, column ${k("black")} of layer 2. In layer 1 alone the same cell changes little: look at L2.`,
    },
    {
      title: () => msg`Try it yourself`,
      text: () => [parts`${b(msg`Challenge.`)} Now make the French keep the English order: after ${q("le")}, let ${d("noir")} lead in place of ${d("chat")}. Hide one cell and no more.`],
      at: { says: () => msg`decode ${1}`, here: (see) => stands(see, ["le"]), start: start(1) },
      ring: () => "#slot-map",
      checks: [
        { says: () => parts`row 1 decides ${d("noir")}`, done: (see) => see.deciding() === 1 && see.lead()?.token === "noir", now: (see) => (see.deciding() === 1 ? leadNow(see) : msg`row ${see.deciding()} decides`), mark: "m" },
        { says: () => parts`exactly one cell`, done: (see) => see.hidden("cross").length === 1, now: hiddenNow, mark: "e" },
        { says: () => parts`row 1 still reads something`, done: (see) => see.reads("cross", 1, 1).open > 0, now: (see) => openNow(see, 1), mark: "e" },
      ],
      hint: () => parts`What does row 1, ${q("le")}, read most in layer 2? Hide that.`,
      verdict: (see) => parts`Done. Without ${k(see.tokens("s")[see.hidden("cross")[0]?.key ?? CAT] ?? "")}, ${d("chat")} fell from ${mono(probability(see.unedited("chat"), 2))} to ${mono(probability(see.p("chat"), 2))}${measured}, and the row took what else follows ${i("the")}.`,
    },
    {
      title: () => msg`What you can now say`,
      text: () => [parts`Say it in a sentence of your own, then compare it with ours.`],
      write: {
        asks: () => parts`Why does row ${q("chat")} read ${k("black")}?`,
        ours: () => parts`A row holds the newest word but decides the next one. French wants the colour after the noun, so the row of ${q("chat")} reads ${k("black")} to write ${d("noir")}; when it may not, another word leads.`,
      },
      checks: [],
    },
  ],
};

/** @param {See} see */
function lockNow(see) {
  const { lock } = see.world.look;
  if (!lock || lock.row !== 0) return msg`waiting`;
  const weight = see.weights(READ, 0)?.[lock.key];
  return weight === undefined ? msg`not computed` : `${see.tokens("s")[lock.key]} ${percent(weight)}`;
}

/** @param {See} see @param {string} said @returns {Said} */
function ourVerdict(see, said) {
  const most = see.most(READ, 2);
  if (!most) return [];
  const right = said === `${most.key} ${most.token}`;
  const lead = see.tokens()[3] ?? see.lead()?.token ?? "";
  const why = parts`Row 2 holds ${q("chat")} but decides the ${i(msg`next word`)}, ${d(lead)}. It takes ${v(percent(most.weight))} from ${k(most.token)}.`;
  return [...(right ? parts`Yes.` : parts`You said ${k(said.split(" ")[1])}.`), " ", ...why];
}
