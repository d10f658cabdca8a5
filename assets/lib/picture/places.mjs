// @ts-check
/** The places that a row reads most, as a list: where one is drawn, another is chosen here, and makes a branch. */

import { h, list, set, text } from "../dom.mjs";
import { counted, msg } from "../language.mjs";
import { probability } from "../words.mjs";

/** share: NaN where it is not known. @typedef {{key: number, share: number}} Line */
/** @typedef {{shares: number[], names: string[], draws: boolean, drawn: number | null, set: boolean, locked: number | null, able: boolean, take: (key: number) => void, hover: (key: number | null) => void}} Shown
 * draws: the model draws one place; set: the drawn one was set by a person; locked: the place that is looked at */

/** Lines of the list. */
const MOST = 5;

/** The most probable places, largest first, the drawn one among them wherever it stands. Pure.
 * @param {number[]} shares @param {number | null} drawn @param {number} [most] @returns {{top: Line[], rest: number, others: number}} rest: what all others have together */
export function ranked(shares, drawn, most = MOST) {
  const all = shares.map((share, key) => ({ key, share })).filter((l) => !Number.isNaN(l.share)).sort((a, b) => b.share - a.share || a.key - b.key);
  const top = all.slice(0, most);
  const own = all.find((l) => l.key === drawn);
  if (own && !top.includes(own)) top[most - 1] = own;
  const others = all.filter((l) => !top.includes(l));
  return { top, rest: others.reduce((sum, l) => sum + l.share, 0), others: others.length };
}

/** @returns {HTMLElement} */
export const places = () => h("div", { class: "places-list" },
  h("div", { class: "ph" }, h("h2", { class: "h" }, msg`Place`), h("span", { class: "sp" }), h("span", { class: "note mono" })),
  h("ol"), h("p", { class: "others" }, h("span"), h("b", { class: "mono" })), h("p", { class: "note" }));

/** @param {any} element @param {Shown} o */
export function drawPlaces(element, o) {
  const [head, lines, others, hint] = element.children;
  const { top, rest, others: left } = ranked(o.shares, o.drawn);
  set(element, "data-draws", o.draws ? "" : null);
  text(head.lastElementChild, !top.length ? "" : !o.draws ? msg`a mean: no draw` : o.set ? msg`set by you` : msg`drawn`);
  const shown = Array.from({ length: MOST }, (_, i) => top[i] ?? null);
  list(lines, shown, (_, i) => i, () => h("li", null, h("button", { type: "button", class: "cand" }, h("span", { class: "w" }), h("span", { class: "bar" }, h("i")), h("span", { class: "n" }), h("span", { class: "sr" }))), (li, l) => line(li.firstChild, l, o));
  text(others.firstChild, left ? counted(left, "{0} other", "{0} others") : "");
  text(others.lastChild, left ? probability(rest) : "");
  text(hint, o.draws ? msg`Choose a place to read it instead: a branch.` : msg`All places are read, each by its weight.`);
}

/** @param {any} button @param {Line | null} l @param {Shown} o */
function line(button, l, o) {
  const [name, bar, share, act] = button.children;
  const drawn = !!l && l.key === o.drawn;
  text(name, l ? `${l.key} ${o.names[l.key]}` : "");
  bar.firstChild.style.width = l ? `${100 * l.share}%` : "0";
  text(share, l ? probability(l.share) : "");
  set(button, "class", `cand${drawn ? " lead" : ""}${l ? "" : " none"}`);
  set(button, "disabled", !l || (o.draws && !o.able));
  set(button, "aria-pressed", String(o.draws ? drawn : !!l && l.key === o.locked));
  text(act, l ? said(o, drawn) : "");
  button.onclick = l ? () => o.take(l.key) : null;
  button.onpointerenter = button.onfocus = () => o.hover(l ? l.key : null);
  button.onpointerleave = button.onblur = () => o.hover(null);
}

/** What the number beside a place is, and what a click does. @param {Shown} o @param {boolean} drawn */
function said(o, drawn) {
  if (!o.draws) return msg`is its weight: look at this place`;
  if (drawn) return o.set ? msg`is its chance, set by you: let it be drawn` : msg`is its chance, drawn: keep it`;
  return msg`is its chance: read this place`;
}
