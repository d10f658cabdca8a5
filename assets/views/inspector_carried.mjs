// @ts-check
/** Of a state that is linear in what rows wrote: the arithmetic of one row's write, and what is left of every row's write in the state of now. */

import { h, hide, list, set, text } from "../lib/dom.mjs";
import { shownPath } from "../lib/inspect/inspected.mjs";
import { counted, msg } from "../lib/language.mjs";
import { carried, fading, isCarried, largest, left, selectors, write } from "../lib/states/carrying.mjs";
import * as tapes from "../lib/states/tapes.mjs";
import { figure, percent, rowWords } from "../lib/words.mjs";

/** @typedef {import("../lib/types").World} World @typedef {import("../lib/states/carrying.mjs").Write} Write @typedef {import("../lib/states/carrying.mjs").Said} Said */
/** One line of a table: its cells. on: it is the chosen one. @typedef {{cells: string[], on: boolean, lit: boolean}} Line */

const NAME = "inspector_carried";
const LINES = 5; // rows of whose writes something is left
const SERIES = 4; // the newest of the rows after a locked one
const before = (/** @type {string} */ letter) => `${letter}₋₁`;

/** Whether the inspector stands on what is carried, or on a tensor that made it. @param {World} world */
function isShown(world) {
  const path = shownPath(world);
  const group = tapes.shown(world);
  return !!group && (path === null || path.startsWith(`${group.scope}.`)) && world.look.op === null;
}

/** @type {import("../lib/types").View} */
export default {
  id: NAME,
  title: "This write, and what is left of the others",
  slot: "inspector",
  phases: ["prefill", "decode"],
  applies: isCarried,
  wants: selectors,

  mount(element) {
    const head = (/** @type {string} */ said) => h("div", { class: "hh" }, h("h2", { class: "h" }, said), h("span", { class: "note" }));
    element.append(
      h("div", { class: "insp carried write-part" }, head(msg`This write`),
        h("div", { class: "write-lines", tabindex: 0, role: "group", "aria-label": msg`This write` }, h("table", { class: "which" }, h("thead", null, h("tr")), h("tbody"))), h("p", { class: "note mono" })),
      h("div", { class: "insp carried left-part" }, head(msg`Still in the state now`),
        h("table", { class: "which" }, h("thead", null, h("tr", null, [msg`written by`, msg`left of it`, "", msg`share`].map((said) => (said ? h("th", { scope: "col" }, said) : h("td"))))), h("tbody"),
          h("tfoot", null, h("tr", null, h("td", { colspan: 3 }), h("td")))),
        h("p", { class: "note" }), h("p", { class: "note" })),
    );
  },

  draw(element, world) {
    set(element, "data-empty", isShown(world) ? null : "true");
    if (!isShown(world)) return;
    const [written, there] = /** @type {any} */ (element.children);
    const c = carried(world, NAME);
    for (const part of [written, there]) set(part, "data-nothing", c ? null : "true");
    set(written, "data-terms", tapes.shown(world)?.channel ? null : "true");
    const lock = c && world.look.lock && tapes.owner(world) === c.group.owner ? world.look.lock : null;
    const row = c ? (lock && lock.row <= c.newest ? lock.row : c.newest) : 0;
    const unit = c && !c.group.channel ? Math.min(lock?.key ?? 0, c.width - 1) : null;
    const where = !c ? msg`nothing is computed yet` : c.group.channel ? msg`channel ${tapes.channelOf(world, c.group).at}` : "";
    text(written.children[0].lastElementChild, c ? [msg`row ${rowWords(row, c.tokens[row])}`, where || msg`unit ${/** @type {number} */ (unit)}`].join(", ") : where);
    text(there.children[0].lastElementChild, [where || (lock ? msg`unit ${/** @type {number} */ (unit)}` : msg`all units`), c ? msg`after row ${c.newest}` : ""].filter(Boolean).join(", "));
    if (!c) return;
    const w = write(c, row);
    const now = unit === null ? byPlace(w, c.carry.pairs, lock?.key ?? -1) : ofUnit(w, unit);
    table(written.children[1].firstElementChild, now.head, now.lines);
    text(written.lastElementChild, now.note);
    remains(there, c, lock ? unit : null, world.hover?.row ?? -1, lock ? lock.row : -1);
  },

  table(world) {
    const c = carried(world, NAME);
    const rows = c ? left(c).rows.flatMap((r) => r.there.map((v, n) => [r.row, r.token, n, r.wrote[n], v, finite(r.left), finite(r.share)])) : [];
    return { columns: [msg`row`, msg`token`, msg`unit`, msg`written`, msg`left in the state`, msg`left of the row’s write`, msg`share of the state`], rows };
  },
};

/** As a narrow column has room for. @param {number} v */
const brief = (v) => (v !== 0 && Math.abs(v) < 0.0005 ? v.toExponential(0).replace("-", "−") : figure(v));

/** @param {number} v */
const finite = (v) => (Number.isFinite(v) ? v : null);

/** @param {any} element @param {string[]} head @param {Line[]} lines */
function table(element, head, lines) {
  const [top, body] = element.children;
  list(top.firstElementChild, head, (_, i) => i, () => h("th", { scope: "col" }), (th, said) => text(th, said));
  list(body, lines, (l, i) => `${i} ${l.cells.length}`, (l) => h("tr", null, l.cells.map(() => h("td"))), (tr, l) => {
    set(tr, "class", [l.on ? "sel" : "", l.lit ? "lit" : ""].filter(Boolean).join(" ") || null);
    l.cells.forEach((said, i) => text(tr.children[i], said));
  });
}

/** A state of a channel: a line for each place. Pure. @param {Write} w @param {boolean} pairs @param {number} chosen */
export function byPlace(w, pairs, chosen) {
  const half = w.state.length / 2;
  const order = w.state.map((_, i) => (pairs ? (i % 2 ? half : 0) + Math.floor(i / 2) : i));
  const made = w.made.length ? w.made : w.factors;
  const by = made.length > 1 ? made.find((f) => !f.single) : undefined;
  const product = w.factors.map((f) => f.letter).join("");
  const columns = /** @type {[string, (n: number) => string][]} */ ([
    ["n", (n) => (pairs ? `${n % half} ${n < half ? "re" : "im"}` : String(n))],
    ...(w.kept ? [[w.keeps, (/** @type {number} */ n) => brief(/** @type {number[]} */ (w.kept)[n])]] : []),
    [w.kept ? `× ${before(w.letter)}` : before(w.letter), (n) => brief(w.before[n])],
    ...(w.joined ? [[`${w.keeps} ${before(w.letter)}`, (/** @type {number} */ n) => brief(w.carried[n])]] : []),
    ...(by ? [[by.letter, (/** @type {number} */ n) => brief(by.values[n])]] : []),
    [`+ ${product}`, (n) => brief(w.written[n])],
    [w.letter, (n) => brief(w.state[n])],
  ]);
  const single = made.filter((f) => f.single).map((f) => `${f.letter} ${figure(f.values[0])}`);
  const all = w.made.length ? `${product} = ${w.made.map((f) => f.letter).join(" ")}` : "";
  return {
    head: columns.map(([said]) => said), note: [all, ...single].filter(Boolean).join(", "),
    lines: order.map((n) => ({ cells: columns.map(([, of]) => of(n)), on: n === chosen, lit: false })),
  };
}

/** One unit of a state: its terms, a line each. Pure. @param {Write} w @param {number} n */
export function ofUnit(w, n) {
  const line = (/** @type {string} */ term, /** @type {string} */ sum, /** @type {number} */ value, on = false) => ({ cells: [term, sum, figure(value)], on, lit: false });
  const lines = [
    line(w.keeps ? `${w.keeps} · ${before(w.letter)}` : before(w.letter), w.kept ? `${figure(w.kept[n], 2)} × ${figure(w.before[n], 2)}` : "", w.carried[n]),
    line(w.factors.map((f) => f.letter).join(" · "), w.factors.map((f) => figure(f.values[n], 2)).join(" × "), w.written[n]),
    line(w.letter, msg`sum`, w.state[n], true),
    ...(w.shown ? [line(`${w.shown.letter} = ${w.shown.gate.letter} · tanh ${w.letter}`, `${figure(w.shown.gate.values[n], 2)} × ${figure(Math.tanh(w.state[n]), 2)}`, w.shown.value[n])] : []),
  ];
  return { head: [msg`term`, msg`arithmetic`, msg`value`], lines, note: "" };
}

/** @param {any} part @param {import("../lib/states/carrying.mjs").Carried} c @param {number | null} unit @param {number} lit @param {number} chosen */
function remains(part, c, unit, lit, chosen) {
  const { rows, off } = left(c, unit);
  const { lines, others } = largest(rows, LINES, chosen);
  const [, body, foot] = part.children[1].children;
  list(body, lines, (_, i) => i, () => h("tr", null, h("td", { class: "c-k" }), h("td"), h("td", null, h("i", { class: "left-bar" })), h("td")), (tr, r) => {
    set(tr, "class", [r.row === chosen ? "sel" : "", r.row === lit ? "lit" : ""].filter(Boolean).join(" ") || null);
    text(tr.children[0], rowWords(r.row, r.token));
    text(tr.children[1], Number.isFinite(r.left) ? percent(r.left) : "–");
    const bar = tr.children[2].firstElementChild;
    set(bar, "data-less", r.share < 0 ? "true" : null);
    const width = `${Math.max(r.share ? 1 : 0, Math.min(1, Math.abs(r.share)) * 100)}%`;
    if (bar.style.width !== width) bar.style.width = width;
    text(tr.children[3], Number.isFinite(r.share) ? figure(r.share) : "–");
  });
  hide(foot, !others.count);
  text(foot.firstElementChild.firstElementChild, counted(others.count, "{0} other row", "{0} other rows"));
  text(foot.firstElementChild.lastElementChild, figure(others.share));
  const sum = rows.reduce((all, r) => all + r.share, 0);
  const [, , told, faded] = part.children;
  text(told, Number.isFinite(sum) ? msg`Σ of shares ${figure(sum)}; Σ of what is left − state ${off ? off.toExponential(0) : "0"} ◉` : msg`the state is 0 there`);
  set(told, "title", msg`share: how much of the state lies in the direction of what is left of the row; below 0 it takes away`);
  const series = chosen >= 0 && chosen < c.newest ? fading(c, chosen, unit).map((v, i) => `${chosen + 1 + i}: ${Number.isFinite(v) ? percent(v) : "–"}`) : [];
  text(faded, series.length ? msg`Left of row ${chosen} after row ${series.slice(-SERIES).join(", ")}` : msg`Lock a row: how its write faded from row to row.`);
}
