// @ts-check
/** The arithmetic of the locked read, or of the newest one: score, mask, exp, weight, weights times values, output. */

import { arithmetic, mixtureError, product, vectorAt } from "../lib/inspect/arithmetic.mjs";
import * as draw from "../lib/canvas.mjs";
import { h, hide, list, set, text } from "../lib/dom.mjs";
import { shownPath, tapAt } from "../lib/inspect/inspected.mjs";
import { Scales } from "../lib/inspect/scales.mjs";
import { counted, msg, parts } from "../lib/language.mjs";
import { evenness, whole } from "../lib/read/evenness.mjs";
import * as read from "../lib/reads.mjs";
import { benchLink, leadsTo, readAsBench } from "../lib/inspect/tobench.mjs";
import { figure, leaf, requestName, rowWords, shown } from "../lib/words.mjs";

/** @typedef {import("../lib/types").World} World @typedef {NonNullable<ReturnType<typeof arithmetic>>} Found */

const PLACES = 7; // lines of the table, unless the style has room for fewer (--places); where there are more keys the last stands for all others
const VECTORS = 4;
const NAME = "inspector_read";
/** Above this a read's output is not the mean of what it reads: one row was drawn instead. */
const ROUNDING = 1e-3;
/** Its selectors: weights and scores, what is mixed and the mixture, the query and the keys. */
const [WEIGHTS, SCORES, MIXED, MIXTURE, QUERY, KEYS] = [0, 1, 2, 3, 4, 5];

/** @type {WeakMap<HTMLElement, Scales>} */
const scales = new WeakMap();
/** How many lines there is room for, and of what that was asked. @type {WeakMap<HTMLElement, {of: string, places: number}>} */
const rooms = new WeakMap();

/** Whether the read is what the inspector shows: not while the op cursor stands inside it, on a tile. @param {World} world */
function isShown(world) {
  const at = read.relation(world);
  return shownPath(world) === null && !!at && read.tileAt(world, read.scope(at.info, at.layer)) === null;
}

/** @type {import("../lib/types").View} */
export default {
  id: NAME,
  title: "This read",
  slot: "inspector",
  phases: ["train", "prefill", "decode"],

  wants(world) {
    const at = read.relation(world);
    if (!at || !isShown(world)) return [];
    const taps = read.tapsOf(world, at.info, at.layer);
    const index = (/** @type {string | null} */ path) => ({ b: read.request(world), ...(tapAt(world, path ?? "")?.axes.length === 3 ? {} : { h: at.head }) });
    const vectors = [taps.mixed, taps.mixture, taps.query, taps.keys].map((path) => ({ path: path ?? "-", index: index(path), dtype: /** @type {const} */ ("f32") }));
    return [...read.readSelectors(world), ...vectors];
  },

  mount(element) {
    scales.set(element, new Scales());
    const head = [["", msg`key`], ["m", msg`score`], ["e", msg`+ mask`], ["f", msg`exp`], ["m", msg`weight`]];
    element.append(
      h("div", { class: "insp read-part" },
        h("div", { class: "hh" }, h("h2", { class: "h" }, msg`This read`), h("span", { class: "note" }), benchLink()),
        h("div", { class: "read-lines" },
          h("table", { class: "arith" }, h("thead", null, h("tr", null, head.map(([mark, said]) => h("th", { scope: "col" }, said, mark ? h("i", { class: `pv ${mark}` }) : null)))), h("tbody"),
            h("tfoot", null, h("tr", { class: "off" }, h("td", { colspan: 3 }), h("td"), h("td")), h("tr", null, h("td", { colspan: 3, class: "dim" }, msg`sum`, " ", h("span", { class: "note" })), h("td"), h("td")))),
          h("details", { class: "terms" }, h("summary", null, h("span")),
            h("div", { class: "vecs" }, ["q", "k", "", "sum"].map((role) => h("div", { class: `vec ${role === "sum" ? "total" : ""}` }, h("span", { class: `mono ${role ? `c-${role}` : ""}` }), role === "sum" ? h("b", { class: "mono" }) : h("canvas", { role: "img" })))))),
        h("div", { class: "mixture" },
          h("div", { class: "vecs" }, Array.from({ length: VECTORS + 1 }, (_, i) => h("div", { class: `vec${i === VECTORS ? " sum" : ""}` }, h("span", { class: "mono" }), h("canvas", { role: "img" })))),
          h("div", { class: "scale div" }, h("span"), h("i"), h("span"), h("span", { class: "dim" }), h("button", { class: "link", type: "button", title: msg`Fit the scale to what is shown` }, msg`fit`)),
          h("p", { class: "note" }))),
      h("p", { class: "insp note nothing-yet", hidden: true }),
    );
  },

  draw(element, world, context) {
    const [part] = /** @type {any} */ (element.children);
    const here = isShown(world);
    set(element, "data-empty", here ? null : "true");
    if (!here) return;
    const places = room(part, world);
    const found = reading(world, places);
    const [head, lines, mixture] = part.children;
    who(head.children[1], world, found);
    leadsTo(head.lastElementChild, !!found, () => readAsBench(world, NAME), context.say);
    set(part, "data-nothing", found ? null : "true");
    if (!found) return;
    table(lines.firstElementChild, world, found, places);
    const terms = termsOf(lines.lastElementChild, world, found);
    const again = () => this.draw(element, world, context)?.();
    lines.lastElementChild.ontoggle = again;
    const mixed = mixtureOf(mixture, world, found, /** @type {Scales} */ (scales.get(element)), again);
    return () => {
      terms();
      mixed();
    };
  },

  table(world) {
    const at = read.relation(world);
    const { row } = read.focus(world);
    if (!at || row < 0) return { columns: [], rows: [] };
    const all = arithmetic(world, read.readCells(world, NAME, SCORES), read.readCells(world, NAME, WEIGHTS), Infinity)?.lines ?? [];
    return {
      columns: [msg`query row`, msg`key row`, msg`key`, msg`visible`, msg`score`, msg`exp(score − largest)`, msg`weight`],
      rows: all.map((l) => [row, l.key, l.token, l.state === "open", l.score, l.exp, l.weight]),
    };
  },
};

/** How many lines the style has room for; it is asked again only where that can have changed. @param {HTMLElement} part @param {World} world */
function room(part, { look, moved, opened }) {
  const of = [innerWidth, innerHeight, look.op, !!look.lock, moved?.phase, opened?.scenario.architecture, look.relation, look.layer].join();
  if (rooms.get(part)?.of !== of) rooms.set(part, { of, places: Number(getComputedStyle(part).getPropertyValue("--places")) || PLACES });
  return /** @type {any} */ (rooms.get(part)).places;
}

/** @param {World} world @param {number} places */
function reading(world, places) {
  const at = read.relation(world);
  const keys = at ? read.rows(world, at.info.key).filter((r) => r.state !== "unknown").length : 0;
  return arithmetic(world, read.readCells(world, NAME, SCORES), read.readCells(world, NAME, WEIGHTS), keys > places ? places - 1 : places);
}

/** Whose read it is. @param {HTMLElement} element @param {World} world @param {Found | null} found */
function who(element, world, found) {
  const info = read.relation(world)?.info;
  const query = found && info ? read.rows(world, info.query)[found.row] : null;
  const words = said(world, info, found?.row ?? 0, query);
  list(element, words, (_, i) => `${i} ${words.length}`, (p) => h("span", { class: typeof p === "object" ? "mono c-q" : null }), (span, p) => text(span, typeof p === "object" ? p.token : String(p)));
}

/** Words, and the query's token as an object. @param {World} world @param {any} info @param {number} row @param {read.Row | null | undefined} query @returns {any[]} */
function said(world, info, row, query) {
  if (!query) return [world.moved?.unreadable ? msg`not finite` : msg`nothing is computed yet`];
  const several = read.requestCount(world) > 1 ? `${requestName(read.request(world))}, ` : "";
  const token = /** @type {any} */ ({ token: shown(query.token) });
  return info.query === "r" ? [several, token] : parts`${several}query ${token}, ${info.query === "t" ? msg`target` : msg`source`} row ${row}`;
}

/** Lines, with that of the sum, share the room of the table; where keys grow while decoding they are as low from the start as they will be.
 * @param {World} world @param {Found} found @param {number} places */
function lineHeight(world, found, places) {
  const grows = read.relation(world)?.info.key === "t" && read.phase(world) === "decode";
  const count = grows ? places : found.lines.length + (found.others.count ? 1 : 0);
  return Math.max(19, Math.min(31, Math.floor(((places + 1) * 19) / (count + 1))));
}

/** @param {any} element @param {World} world @param {Found} found @param {number} places */
function table(element, world, found, places) {
  const [header, body, foot] = element.children;
  const why = found.after ? { open: "1", model: "0", user: "0", padded: "0" } : { open: "0", model: "−∞", user: msg`−∞ you`, padded: msg`−∞ pad` };
  header.firstElementChild.children[2].firstChild.data = found.after ? msg`× mask` : msg`+ mask`;
  const lit = world.hover?.row === found.row ? world.hover.key : -1;
  const height = `${lineHeight(world, found, places)}px`;
  if (element.style.getPropertyValue("--line-height") !== height) element.style.setProperty("--line-height", height);
  list(body, found.lines, (_, i) => i, () => h("tr", null, h("td"), h("td"), h("td"), h("td"), h("td")), (tr, l) => {
    set(tr, "class", [l.on ? "sel" : l.state === "open" ? "" : "off", l.key === lit ? "lit" : ""].filter(Boolean).join(" ") || null);
    [rowWords(l.key, l.token), figure(l.score, 2), why[l.state], l.exp ? figure(l.exp, 3) : "0", figure(l.weight)].forEach((said, i) => text(tr.children[i], said));
    set(tr.firstElementChild, "title", rowWords(l.key, l.token));
    set(tr, "title", { open: null, padded: msg`padding`, user: msg`masked by you`, model: msg`masked by the program` }[l.state]);
  });
  const [others, sum] = foot.children;
  hide(others, !found.others.count);
  text(others.children[0], counted(found.others.count, "{0} other key", "{0} other keys"));
  [found.others.exp, found.others.weight].forEach((value, i) => text(others.children[i + 1], figure(value)));
  [found.sum.exp, found.sum.weight].forEach((value, i) => text(sum.children[i + 1], figure(value)));
  const of = evenness(weightsOf(world, found));
  text(sum.firstElementChild.lastElementChild, of ? msg`· H ${figure(of.bits, 2)} bits, 2^H ${figure(of.rows, 2)}` : "");
  set(sum, "title", !of ? null : msg`How evenly this row reads: H = −Σ p log₂ p of its weights. 0 bits for one row alone; 2^H is the number of rows that it reads in effect.` + (!whole(of) ? ` ${msg`p = w ÷ ${figure(of.sum, 2)}, as they do not sum to 1.`}` : ""));
  set(foot, "title", found.after ? msg`exp of (score − ${figure(found.top, 2)}), the largest, hidden keys too; weight = exp / sum × mask, before any division by what is left` : msg`exp of (score − ${figure(found.top, 2)}), the largest; weight = exp / sum`);
}

/** What the row gives to every key. @param {World} world @param {Found} found */
function weightsOf(world, found) {
  const at = read.relation(world), weight = read.readCells(world, NAME, 0);
  return at ? read.rows(world, at.info.key).map((_, key) => weight(found.row, key)) : [];
}

/** The score of the chosen key as a product. @param {any} details @param {World} world @param {Found} found @returns {() => void} */
function termsOf(details, world, found) {
  const [request, head] = [read.request(world), read.relation(world)?.head ?? 0];
  const line = found.lines.find((l) => l.on);
  const query = vectorAt(world.values(NAME, QUERY)[0], request, head, found.row);
  const key = line ? vectorAt(world.values(NAME, KEYS)[0], request, head, line.key) : [];
  const of = line ? product(query, key, line.score) : null;
  set(details, "data-empty", of ? null : "true");
  if (!of || !line) return () => {};
  text(details.firstElementChild.firstElementChild, of.root ? msg`score of ${line.token} = q · k / √${of.root}` : msg`score of ${line.token} = q · k`);
  if (!details.open) return () => {};
  const rows = details.lastElementChild.children;
  const most = { max: sizeOf([...query, ...key]) || 1, diverging: true };
  const products = { max: sizeOf(of.terms) || 1, diverging: true };
  [msg`query q`, msg`key k`, msg`q × k`, of.root ? msg`sum / √${of.root}` : msg`sum`].forEach((said, i) => text(rows[i].firstElementChild, said));
  text(rows[3].lastElementChild, of.root ? `${figure(of.dot, 2)} / ${figure(of.divisor, 2)} = ${figure(of.dot / of.divisor, 2)}` : figure(of.dot, 2));
  [query, key, of.terms].forEach((values, i) => set(rows[i].lastElementChild, "aria-label", range(values)));
  return () => {
    draw.vector(rows[0].lastElementChild, query, most);
    draw.vector(rows[1].lastElementChild, key, most);
    draw.vector(rows[2].lastElementChild, of.terms, products);
  };
}

/** Weights times values, and the recorded output beside the sum made again.
 * @param {any} part @param {World} world @param {Found} found @param {Scales} scales @param {() => void} again @returns {() => void} */
function mixtureOf(part, world, found, scales, again) {
  const [vecs, bar, note] = part.children;
  const at = read.relation(world);
  const [request, head] = [read.request(world), at?.head ?? 0];
  const [values, outputs] = [world.values(NAME, MIXED)[0], world.values(NAME, MIXTURE)[0]];
  const output = vectorAt(outputs, request, head, found.row);
  const weight = read.readCells(world, NAME, WEIGHTS);
  const rows = at ? read.rows(world, at.info.key) : [];
  const value = (/** @type {number} */ key) => vectorAt(values, request, head, key);
  const { off, factor } = mixtureError((key) => finite(weight(found.row, key)), value, output, rows.length, ROUNDING);
  const drawn = off > ROUNDING ? drawnKey(value, output, rows.length) : -1;
  set(part, "data-empty", values && outputs ? null : "true");
  const open = found.lines.filter((l) => l.state === "open");
  const top = drawn >= 0 ? [{ weight: 1, key: drawn, token: shown(rows[drawn].token) }] : [...open].sort((a, b) => b.weight - a.weight).slice(0, VECTORS);
  const more = drawn < 0 && open.length + found.others.count > top.length;
  const all = [...top.map((l) => ({ said: `${figure(l.weight)} × ${l.token}`, numbers: value(l.key) })), ...Array(VECTORS - top.length).fill({ said: "", numbers: [] }),
    { said: (factor === 1 ? "" : `× ${figure(factor, 2)} `) + (more ? msg`+ … = output` : msg`= output`), numbers: output }];
  all.forEach((p, i) => {
    const row = vecs.children[i];
    text(row.firstElementChild, p.said);
    set(row, "data-empty", p.numbers.length ? null : "true");
    set(row.lastElementChild, "aria-label", p.numbers.length ? msg`${p.said}: ${range(p.numbers)}` : msg`no further key`);
  });
  const name = outputs?.path ?? "";
  const size = sizeOf(all.flatMap((p) => p.numbers));
  const scale = scales.of(world, name, size ? { max: size, diverging: true } : null);
  [`−${figure(scale.max, 1)}`, `+${figure(scale.max, 1)}`].forEach((said, i) => text(bar.children[i * 2], said));
  text(bar.children[3], counted(output.length, "{0} dim", "{0} dims"));
  bar.lastElementChild.onclick = () => {
    scales.fit(name);
    again();
  };
  text(note, sumSaid(world, leaf(name), off, drawn >= 0, factor));
  return () => all.forEach((p, i) => draw.vector(vecs.children[i].lastElementChild, p.numbers, scale));
}

/** How far the sum made again is from what was recorded. @param {World} world @param {string} name of the output @param {number} off @param {boolean} drawn one row, not a mean @param {number} factor of the sum */
function sumSaid(world, name, off, drawn, factor) {
  if (drawn) return msg`${name} as recorded ◉: one row, drawn by its weight`;
  if (!Number.isFinite(off)) return msg`${name} as recorded ◉`;
  const said = off ? off.toExponential(0) : "0";
  if (factor !== 1) return msg`${name} as recorded ◉: ${figure(factor, 3)} × the sum, off by ${said} ƒ`;
  return world.recording ? msg`${name} as kept ◉, in 16 bits; the sum is off by ${said} ƒ` : msg`${name} as recorded ◉; the sum is off by ${said} ƒ`;
}

/** The key whose value is the whole output, or -1. @param {(key: number) => number[]} value @param {number[]} output @param {number} keys */
function drawnKey(value, output, keys) {
  for (let key = 0; key < keys; key++) if (value(key).every((v, i) => Math.abs(v - output[i]) < ROUNDING)) return key;
  return -1;
}

/** A weight that is not known weighs nothing. @param {number} value */
const finite = (value) => (Number.isNaN(value) ? 0 : value);

/** @param {number[]} values */
const range = (values) => counted(values.length, "{0} number", "{0} numbers") + (values.length ? ` ${msg`from ${figure(Math.min(...values), 2)} to ${figure(Math.max(...values), 2)}`}` : "");

/** The largest size among numbers, rounded up to a tenth; 0 where there is none. @param {number[]} values */
function sizeOf(values) {
  const most = values.reduce((a, v) => (Number.isFinite(v) ? Math.max(a, Math.abs(v)) : a), 0);
  return most ? Math.max(0.1, Math.ceil(most * 10) / 10) : 0;
}
