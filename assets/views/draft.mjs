// @ts-check
/** Draft and verify: another model proposes, this one reads the proposals in one call and keeps those that it would have taken. */

import { h, list, set, text } from "../lib/dom.mjs";
import { counted, msg, named } from "../lib/language.mjs";
import * as read from "../lib/reads.mjs";
import { capital, shown } from "../lib/words.mjs";

/** @typedef {import("../lib/types").World} World @typedef {{proposed: string[], kept: number, own: string | null}} Round */

/** The chips of a round: what was kept, what was not, what this model took itself. Pure. @param {Round} round @returns {{token: string, kind: "kept" | "not" | "own"}[]} */
export const chips = (round) => [
  ...round.proposed.map((token, i) => ({ token, kind: /** @type {"kept" | "not"} */ (i < round.kept ? "kept" : "not") })),
  ...(round.own === null ? [] : [{ token: round.own, kind: /** @type {"own"} */ ("own") }]),
];

/** What was drafted for the request that is looked at, at this moment, or null. @param {World} world */
function measured(world) {
  const found = world.analysis.draft_verify?.result;
  return found && found.moment === world.moved?.at && found.request === read.request(world) ? found : null;
}

/** @param {string} id of an architecture */
const title = (id) => capital(id.replaceAll("_", " "));

/** @type {import("../lib/types").View} */
export default {
  id: "draft",
  title: "Draft and verify",
  slot: "checks",
  phases: ["prefill", "decode"],
  applies: (world) => world.opened?.scenario?.policy?.kind === "greedy" && world.opened?.task?.objective === "next_token",
  wants: () => [],

  mount(element, context) {
    const select = h("select", { "aria-label": msg`Who drafts` }), ahead = h("input", { type: "number", min: 1, max: 8, value: "4", "aria-label": msg`Proposed tokens a round` });
    const go = h("button", { type: "button", class: "btn sm" }, msg`draft`);
    element.append(h("details", { class: "draft" }, h("summary", null, h("h2", { class: "h" }, msg`Draft and verify`), h("span", { class: "note" })),
      h("div", { class: "row" }, select, ahead, go), h("ol", { class: "rounds" }), h("p", { class: "note" })));
    const details = /** @type {any} */ (element.firstElementChild);
    const ask = () => context.send({ kind: "analyse", name: "draft_verify", arguments: { ...(select.value ? { drafter: select.value } : {}), ahead: Math.max(1, Math.min(8, Math.round(Number(ahead.value)) || 4)), request: Number(details.dataset.request ?? 0) } });
    go.onclick = select.onchange = ahead.onchange = ask;
  },

  draw(element, world) {
    const details = /** @type {any} */ (element.firstElementChild);
    const [summary, bar, rounds, note] = details.children;
    details.dataset.request = read.request(world);
    const said = world.analysis.draft_verify, found = measured(world), here = !!found;
    for (const control of bar.children) control.disabled = world.role !== "writer" || (said && said.progress < 1);
    text(summary.lastElementChild, here ? msg`${found.tokens} tokens in ${found.calls} calls` : "");
    list(bar.firstElementChild, here ? found.drafters : [], (/** @type {string} */ id) => id, (/** @type {string} */ id) => h("option", { value: id }, named(title(id))));
    if (here && bar.firstElementChild.value !== found.drafter) bar.firstElementChild.value = found.drafter;
    set(bar.firstElementChild, "hidden", here ? null : true);
    list(rounds, here ? found.rounds : [], (_, i) => i, () => h("li"), (line, round) => {
      list(line, chips(/** @type {Round} */ (round)), (_, i) => i, () => h("span", { class: "mono" }), (chip, c) => {
        set(chip, "data-kind", c.kind);
        text(chip, shown(c.token));
        set(chip, "title", { kept: msg`proposed and kept`, not: msg`proposed, not kept`, own: msg`this model’s own` }[c.kind]);
      });
    });
    text(note, here
      ? `${found.same ? msg`The same text as without a draft` : msg`Another text than without a draft: this should not be`}; ${msg`kept ${found.kept} of ${found.proposed} proposed`}, ${counted(found.calls, "{0} call", "{0} calls")}, ${msg`alone ${found.alone}`} ◉`
      : msg`A smaller model with weights for this task proposes; this one checks all proposals in one call.`);
  },

  table(world) {
    const found = measured(world);
    return { columns: [msg`round`, msg`token`, msg`how`], rows: (found?.rounds ?? []).flatMap((/** @type {Round} */ r, /** @type {number} */ i) => chips(r).map((c) => [i + 1, c.token, c.kind])) };
  },
};
