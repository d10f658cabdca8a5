// @ts-check
/** What the comparison says: its sentence, and what each step of its track gave. */

import { h } from "../lib/dom.mjs";
import { counted, msg, parts } from "../lib/language.mjs";
import { loops } from "../lib/states/tapes.mjs";
import { brief, probability, shown } from "../lib/words.mjs";
import { letter } from "./grid.mjs";

/** @typedef {import("./columns.mjs").Column} Column @typedef {import("./link.mjs").Comparison} Comparison */
/** @typedef {{now: Comparison, columns: Column[], refused: string}} Page */

/** The place of the clock before the prefill, where nothing is read; 0 is after it, n after n tokens. */
export const START = -1;
/** Where a column stands, or a moment of it; in training: after how many updates. @param {Column} c @param {{phase: string, step: number} | null} [at] */
export const placeOf = (c, at = c.world.moved) => (at?.phase === "prefill" && !at.step ? START : at?.phase === "prefill" ? 0 : (at?.step ?? 0));
/** Where the clock stands: with the column that is furthest. @param {Pick<Page, "now" | "columns">} page @returns {number} */
export function stepOf({ now, columns }) {
  const ready = columns.filter((c) => c.world.moved);
  return ready.length ? Math.max(...ready.map((c) => placeOf(c))) : now.phase === "prefill" ? START : 0;
}
/** The phase that is shown: after a prefill the first token leads on into decode. @param {Pick<Page, "now" | "columns">} page @returns {Comparison["phase"]} */
export function phaseOf({ now, columns }) {
  const phase = columns.find((c) => c.world.moved)?.world.moved.phase;
  return now.phase === "train" || !phase || phase === "train" ? now.phase : phase;
}
/** @param {Column} c */
export const ended = (c) => !!c.world.moved?.ended || !!c.problem;

/** Why a server does not take something: the one input of the page has no path. Pure. @param {{message: string}} error */
export const whyNot = ({ message }) => message.replace(/requests\.0\.(source|target)(\.\d+)*/g, (_, side) => (side === "source" ? msg`The source` : msg`The prompt`));

/** The one sentence: text and elements. @param {Page} page @returns {any[]} */
export function said(page) {
  if (page.refused) return [h("span", { class: "refused", title: page.refused }, brief(page.refused))];
  const broken = page.columns.find((c) => c.problem);
  if (broken) return [h("span", { class: "refused" }, broken.problem)];
  const ready = page.columns.filter((c) => c.world.moved);
  if (!ready.length) return [h("span", { class: "dim" }, msg`The models are being set up.`)];
  if (page.now.phase === "train") {
    const updates = Math.max(...ready.map((c) => c.world.moved.updates));
    const alike = new Set(ready.map((c) => c.world.opened.scenario.task)).size === 1;
    return [alike ? counted(updates, "After {0} update on the same batches.", "After {0} updates on the same batches.") : counted(updates, "After {0} update, each on the batches of its own task.", "After {0} updates, each on the batches of its own task.")];
  }
  const step = stepOf(page);
  if (step === START) return [msg`Nothing is read yet.`, " ", h("span", { class: "dim" }, msg`The prefill reads all that is known: ${paced(page)}.`)];
  const choices = ready.map((c) => ({ c, token: c.request()?.candidates.find((/** @type {any} */ x) => x.id === c.request().choice) }));
  const going = choices.filter((x) => x.token);
  if (!going.length) return [msg`All models have ended.`, " ", h("span", { class: "dim" }, msg`Go back to choose another token.`)];
  const token = (/** @type {any} */ t) => h("b", { class: "c-d mono", title: shown(t.token) }, brief(shown(t.token)));
  const after = step ? counted(step, "After {0} token", "After {0} tokens") : msg`After the prefill`;
  if (new Set(going.map((x) => x.token.token)).size === 1) return [...parts`${after} ${going.length < ready.length ? msg`every model that still writes` : msg`every model`} chooses ${token(going[0].token)}: ${going.map((x) => `${letter(page.columns.indexOf(x.c))} ${probability(x.token.probability, 2)}`).join(", ")}.`, ...looking(page, ready)];
  return going.flatMap((x, i) => [i ? ", " : "", ...parts`${letter(page.columns.indexOf(x.c))} chooses ${token(x.token)} at ${probability(x.token.probability, 2)}`]).concat(".");
}

/** Which models can look at a source row themselves, where not all can. @param {Page} page @param {Column[]} ready @returns {string[]} */
function looking(page, ready) {
  const look = ready.filter((c) => c.relation()?.info.key === "s");
  if (!look.length || look.length === ready.length || !ready.every((c) => c.request()?.source)) return [];
  return [" ", msg`Only ${look.map((c) => letter(page.columns.indexOf(c))).join(", ")} can read a source row directly.`];
}

/** How the models read what is known: those that carry a state need the row before. @param {Pick<Page, "columns">} page @returns {string} */
export function paced({ columns }) {
  const named = (/** @type {boolean} */ by) => columns.flatMap((c, i) => (c.world.opened && loops(c.world) === by ? [letter(i)] : [])).join(", ");
  const [rows, whole] = [named(true), named(false)];
  if (!rows && !whole) return ""; // none has answered
  return rows && whole ? msg`${rows} row by row, ${whole} at once` : rows ? msg`row by row` : msg`all rows at once`;
}

/** What a place of the track is called, and what is said of it. @param {Page} page @param {number} i @returns {{text: string, note: string, title: string}} */
export function placed(page, i) {
  if (page.now.phase === "train") return { text: String(i), note: "", title: i ? msg`update ${i}` : "" };
  if (i === START) return { text: msg`Start`, note: "", title: msg`nothing is read yet` };
  if (!i) return { text: msg`Prefill`, note: paced(page), title: paced(page) };
  return { note: "", ...(i <= stepOf(page) ? stepped(page, i) : { text: "", title: "" }) };
}

/** Which token a step gave. @param {Page} page @param {number} i from 1 @returns {{text: string, title: string}} */
function stepped(page, i) {
  const given = page.columns.map((c, n) => {
    const request = c.request(), prompt = (c.world.opened?.scenario.requests[0].target.length ?? 0) + 1;
    const row = request?.target[prompt + i - 1];
    return { name: letter(n), token: row && row.state !== "unknown" ? shown(row.token) : "" };
  });
  const known = given.filter((g) => g.token);
  const same = new Set(known.map((g) => g.token)).size <= 1;
  return { text: same ? (known[0]?.token ?? "") : [...new Set(known.map((g) => g.token))].join(" | "), title: known.map((g) => `${g.name} ${g.token}`).join(", ") };
}
