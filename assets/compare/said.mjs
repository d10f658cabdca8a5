// @ts-check
/** What the comparison says: its sentence, and what each step of its track gave. */

import { h } from "../lib/dom.mjs";
import { counted, msg, parts } from "../lib/language.mjs";
import { brief, probability, shown } from "../lib/words.mjs";
import { letter } from "./grid.mjs";

/** @typedef {import("./columns.mjs").Column} Column */
/** @typedef {{now: import("./link.mjs").Comparison, columns: Column[], refused: string}} Page */

/** @param {Column} c */
export const stepOf = (c) => c.world.moved?.step ?? 0;
/** @param {Column} c */
export const ended = (c) => !!c.world.moved?.ended || !!c.problem;

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
  const choices = ready.map((c) => ({ c, token: c.request()?.candidates.find((/** @type {any} */ x) => x.id === c.request().choice) }));
  const going = choices.filter((x) => x.token);
  if (!going.length) return [msg`All models have ended.`, " ", h("span", { class: "dim" }, msg`Go back to choose another token.`)];
  const token = (/** @type {any} */ t) => h("b", { class: "c-d mono", title: shown(t.token) }, brief(shown(t.token)));
  const step = Math.max(...ready.map(stepOf)), after = step ? counted(step, "After {0} token", "After {0} tokens") : msg`At the start`;
  if (new Set(going.map((x) => x.token.token)).size === 1) return [...parts`${after} ${going.length < ready.length ? msg`every model that still writes` : msg`every model`} chooses ${token(going[0].token)}: ${going.map((x) => `${letter(page.columns.indexOf(x.c))} ${probability(x.token.probability, 2)}`).join(", ")}.`, ...looking(page, ready)];
  return going.flatMap((x, i) => [i ? ", " : "", ...parts`${letter(page.columns.indexOf(x.c))} chooses ${token(x.token)}`]).concat(".");
}

/** Which models can look at a source row themselves, where not all can. @param {Page} page @param {Column[]} ready @returns {string[]} */
function looking(page, ready) {
  const look = ready.filter((c) => c.relation()?.info.key === "s");
  if (!look.length || look.length === ready.length || !ready.every((c) => c.request()?.source)) return [];
  return [" ", msg`Only ${look.map((c) => letter(page.columns.indexOf(c))).join(", ")} can read a source row directly.`];
}

/** What each step gave, for the track. @param {Page} page @param {number} i from 1 @returns {{text: string, title: string}} */
export function stepped(page, i) {
  if (page.now.phase === "train") return { text: String(i), title: msg`update ${i}` };
  const given = page.columns.map((c, n) => {
    const request = c.request(), prompt = (c.world.opened?.scenario.requests[0].target.length ?? 0) + 1;
    const row = request?.target[prompt + i - 1];
    return { name: letter(n), token: row && row.state !== "unknown" ? shown(row.token) : "" };
  });
  const known = given.filter((g) => g.token);
  const same = new Set(known.map((g) => g.token)).size <= 1;
  return { text: same ? (known[0]?.token ?? "") : [...new Set(known.map((g) => g.token))].join(" | "), title: known.map((g) => `${g.name} ${g.token}`).join(", ") };
}
