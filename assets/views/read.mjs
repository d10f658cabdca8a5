// @ts-check
/** Who reads whom: key rows above, query rows below, ribbons as wide as the weight; then the decision. */

import * as draw from "../lib/canvas.mjs";
import { h, list, set } from "../lib/dom.mjs";
import { cellFigure } from "../lib/maps.mjs";
import { follow, ground, pan, seen } from "../lib/pan.mjs";
import * as read from "../lib/reads.mjs";
import { gutter, hidden, layout, unknownWord } from "../lib/strips.mjs";
import { percent, probability, requestName, shown } from "../lib/words.mjs";

/** @typedef {import("../lib/types").World} World @typedef {import("../lib/types").Context} Context */
/** @typedef {import("../lib/strips.mjs").Layout} Layout */

const GHOST = 0.2; // an earlier row's read below this share is not drawn

/** The places of the query strip: its rows, then the decision, then one that is not known yet.
 * @param {World} world @param {"s" | "t"} owner */
export function places(world, owner) {
  const rows = read.rows(world, owner).map((row) => ({ kind: kindOf(row), token: shown(row.token), id: row.id, text: row.text, would: row.would ?? null }));
  const view = read.requestView(world);
  if (owner === "s" || !view || view.finished) return rows;
  const lead = read.choice(view);
  const next = lead ? { kind: "next", token: shown(lead.token), id: lead.id, text: null, would: null } : null;
  const later = { kind: "unknown", token: "", id: -1, text: null, would: null };
  return next ? [...rows, next, later] : [...rows, later];
}

/** A row that was decided but not given to the model yet looks like a decision.
 * @param {read.Row} row */
const kindOf = (row) => (row.state === "unknown" && (row.origin === "model" || row.origin === "chosen") ? "next" : row.state);

/** How each key row stands to the current query row.
 * @param {World} world @param {(row: number, key: number) => number} weight @param {number} row */
export function keyReads(world, weight, row) {
  const at = read.relation(world);
  if (!at) return [];
  const mask = read.visibility(at.info, at.layer);
  return read.rows(world, at.info.key).map((key, i) => {
    const state = !read.known(key) ? key.state : mask.own(row, i) === false ? "user" : !mask.allows(row, i) ? "model" : "open";
    return { key: i, state, weight: state === "open" ? weight(row, i) : 0 };
  });
}

/** What a screen reader hears instead of the ribbons.
 * @param {World} world @param {(row: number, key: number) => number} weight */
function description(world, weight) {
  const at = read.relation(world);
  const { row } = read.focus(world);
  const queries = at ? read.rows(world, at.info.query) : [];
  if (!at || !queries[row]) return "Nothing is read yet";
  const keys = read.rows(world, at.info.key);
  const top = read.reads(weight, row, keys.length).slice(0, 4).map((r) => `${percent(r.weight)} ${shown(keys[r.key].token)}`);
  return `${at.info.title}, layer ${at.layer + 1} head ${at.head + 1}: row ${row} ${shown(queries[row].token)} reads ${top.join(", ") || "nothing known"}`;
}

/** @type {WeakMap<HTMLElement, import("../lib/pan.mjs").Pan>} */
const pans = new WeakMap();

/** @type {import("../lib/types").View} */
export default {
  id: "read",
  title: "Who reads whom",
  slot: "read",
  phases: ["prefill", "decode"],
  wants: (world) => read.readSelectors(world).slice(0, 1),

  mount(element) {
    const p = pan({ role: "img", "aria-label": "Who reads whom" }, "read-pan");
    pans.set(element, p);
    element.append(h("div", { class: "seg tabs", role: "group", "aria-label": "Request", hidden: true }), p.element);
  },

  draw(element, world, context) {
    tabs(/** @type {any} */ (element.firstElementChild), world, context, "request");
    const p = /** @type {import("../lib/pan.mjs").Pan} */ (pans.get(element));
    p.redraw = () => void strips(p, world);
    set(p.canvas, "aria-label", description(world, read.readCells(world, "read")));
    prepare(p, world);
    return () => {
      const geo = strips(p, world);
      p.canvas.onclick = (event) => geo && lockAt(event, p, geo, world, context);
    };
  },
};

/** One button for each request or sequence; hidden where there is one.
 * @param {HTMLElement} element @param {World} world @param {Context} context @param {string} word */
export function tabs(element, world, context, word) {
  const count = read.requestCount(world);
  element.hidden = count < 2;
  list(element, Array.from({ length: count < 2 ? 0 : count }), (_, i) => i, (_, i) => h("button", { type: "button" }, requestName(i)), (button, _, i) => {
    set(button, "aria-pressed", String(i === read.request(world)));
    set(button, "aria-label", `Look at ${word} ${requestName(i)}`);
    button.onclick = () => context.look({ request: i, lock: null });
  });
}

/** Where the strips lie; the ground is made as wide as they are.
 * @param {import("../lib/pan.mjs").Pan} p @param {World} world @returns {Layout | null} */
function prepare(p, world) {
  const at = read.relation(world);
  if (!at) return null;
  const geo = layout(...draw.boxOf(p.element), Math.max(read.rows(world, at.info.key).length, places(world, at.info.query).length));
  ground(p, geo.width);
  return geo;
}

/** @param {import("../lib/pan.mjs").Pan} p @param {World} world @returns {Layout | null} */
function strips(p, world) {
  const at = read.relation(world);
  const geo = prepare(p, world);
  if (!at || !geo) return null;
  const weight = read.readCells(world, "read");
  const { row } = read.focus(world);
  const keys = read.rows(world, at.info.key);
  const queries = places(world, at.info.query);
  const count = Math.max(keys.length, queries.length);
  follow(p, "row", `${world.moved?.at} ${row} ${count}`, row < 0 ? null : { left: geo.x(row) - geo.left - geo.slot, right: geo.x(row) + 3 * geo.slot });
  const [g, width, height, scrolled] = seen(p);
  g.save();
  g.beginPath();
  g.rect(geo.left - 4, 0, width, height);
  g.clip();
  g.translate(-scrolled, 0);
  const shownPlace = (/** @type {number} */ i) => geo.x(i) - scrolled < width && geo.x(i) + geo.slot - scrolled > geo.left;
  ghosts(g, geo, weight, row, keys.length, shownPlace);
  const reads = keyReads(world, weight, row);
  ribbons(g, geo, reads, row);
  const top = reads.reduce((best, r) => (r.weight > (reads[best]?.weight ?? 0) ? r.key : best), -1);
  keys.forEach((key, i) => shownPlace(i) && keyChip(g, geo, key, i, i === top));
  numbers(g, geo, reads, row, top);
  queries.forEach((place, i) => shownPlace(i) && queryChip(g, geo, place, i, i === row, decidesText(world, at.info.query, queries, i)));
  if (at.info.query === "t") decision(g, geo, world, queries);
  g.restore();
  if (geo.left) gutter(g, geo, at.info);
  return geo;
}

/** Earlier rows' main reads, as grey ghosts.
 * @param {CanvasRenderingContext2D} g @param {Layout} geo @param {(row: number, key: number) => number} weight
 * @param {number} row @param {number} keys @param {(i: number) => boolean} near */
function ghosts(g, geo, weight, row, keys, near) {
  for (let r = 0; r < row; r++) {
    for (let key = 0; key < keys; key++) {
      const w = weight(r, key);
      if (w > GHOST && (near(r) || near(key))) draw.ribbon(g, geo.middle(key), geo.top + geo.chip + 3, geo.middle(r), geo.bottom - 3, Math.max(1.5, w * 15), draw.css("--ribbon-ghost"));
    }
  }
}

/** The current row's reads in the colour of values; what you hid is dashed and crossed.
 * @param {CanvasRenderingContext2D} g @param {Layout} geo @param {ReturnType<typeof keyReads>} reads @param {number} row */
function ribbons(g, geo, reads, row) {
  const [y0, y1] = [geo.top + geo.chip, geo.bottom];
  const widest = Math.min(geo.slot * 0.62, 44);
  for (const r of reads) {
    if (r.state === "user") hidden(g, geo.middle(r.key), y0 + 4, geo.middle(row) + 26, y1 - 4);
    else if (r.state === "model") draw.cross(g, geo.middle(r.key), y0 + 9, 3, "--ink-3");
    else if (r.weight > 0.004) draw.ribbon(g, geo.middle(r.key), y0 + 2, geo.middle(row), y1 - 2, Math.max(1.2, r.weight * widest), draw.alpha(draw.css("--v-fill"), Math.min(0.97, 0.3 + 0.75 * r.weight)));
  }
}

/** @param {CanvasRenderingContext2D} g @param {Layout} geo @param {read.Row} row @param {number} i @param {boolean} top */
function keyChip(g, geo, row, i, top) {
  draw.font(g, 480, 10.5, true);
  draw.label(g, draw.clip(g, placeName(geo, i, row), geo.slot - 2), geo.middle(i), 6, { size: 10.5, mono: true, align: "center", color: "--ink-3" });
  const state = row.state === "new" ? "known" : row.state;
  draw.chip(g, geo.x(i), geo.top, geo.slot - geo.pad, geo.chip, shown(row.token), { role: "k", state, on: top, size: geo.size });
  if (row.text) unknownWord(g, geo, i, geo.top);
}

/** A row's position with its id; for a word that became <unk>, with what was typed.
 * @param {Layout} geo @param {number} i @param {{id: number, text: string | null}} row */
function placeName(geo, i, row) {
  if (row.text) return `${i} “${shown(row.text)}”`;
  return geo.ids && geo.slot > 76 && row.id >= 0 ? `${i} · id ${row.id}` : String(i);
}

/** The share of each read beside its key; the largest on its ribbon.
 * @param {CanvasRenderingContext2D} g @param {Layout} geo @param {ReturnType<typeof keyReads>} reads @param {number} row @param {number} top */
function numbers(g, geo, reads, row, top) {
  const widest = Math.min(geo.slot * 0.62, 44);
  for (const r of reads) {
    if (!(r.weight > 0.004)) continue;
    const value = cellFigure(r.weight);
    if (r.key !== top || r.weight * widest < 20) {
      draw.label(g, value, geo.x(r.key) + 4, geo.top + geo.chip + 10, { size: 11, mono: true, weight: 520, color: "--v" });
      continue;
    }
    const [x, y] = [(geo.middle(r.key) + geo.middle(row)) / 2, (geo.top + geo.chip + geo.bottom) / 2];
    g.fillStyle = draw.css("--v-fill");
    draw.roundRect(g, x - 17, y - 10, 34, 20, 10);
    g.fill();
    draw.font(g, 720, 13.5, true);
    g.fillStyle = "#07231C";
    g.textAlign = "center";
    g.textBaseline = "middle";
    g.fillText(value, x, y + 0.5);
  }
}

/** What a row decided, and what it would decide now where an edit changed that.
 * @param {World} world @param {"s" | "t"} owner @param {ReturnType<typeof places>} queries @param {number} i */
function decidesText(world, owner, queries, i) {
  if (queries[i].kind !== "known" && queries[i].kind !== "new") return ["", ""];
  const now = queries[i + 1]?.would;
  const next = read.decides(world, owner, i);
  return next ? [`→ ${shown(next)}`, now ? `now ${shown(now)}` : ""] : ["", ""];
}

/** @param {CanvasRenderingContext2D} g @param {Layout} geo @param {ReturnType<typeof places>[number]} place @param {number} i @param {boolean} on @param {string[]} decides what it decided, and what it would decide now */
function queryChip(g, geo, place, i, on, decides) {
  const state = /** @type {any} */ (place.kind === "new" ? "known" : place.kind);
  draw.chip(g, geo.x(i), geo.bottom, geo.slot - geo.pad, geo.chip, place.token, { role: "q", state, on, size: geo.size });
  if (place.text) unknownWord(g, geo, i, geo.bottom);
  const y = geo.bottom + geo.chip + 10;
  draw.font(g, on ? 640 : 460, 11, true);
  const [then, now] = decides.map((said) => draw.clip(g, said, geo.slot - 2));
  draw.label(g, geo.ids || !now ? then : now, geo.middle(i), y, { size: 11, mono: true, weight: on ? 640 : 460, align: "center", color: on || now ? "--d" : "--ink-3" });
  if (geo.ids && now) draw.label(g, now, geo.middle(i), y + 14, { size: 11, mono: true, weight: 640, align: "center", color: "--d" });
  else if (geo.ids && place.id >= 0) draw.label(g, draw.clip(g, placeName(geo, i, place), geo.slot - 2), geo.middle(i), y + 14, { size: 10.5, mono: true, align: "center", color: "--ink-3" });
}

/** The probability under the decision; where padding lies between, the line that skips it.
 * @param {CanvasRenderingContext2D} g @param {Layout} geo @param {World} world @param {ReturnType<typeof places>} queries */
function decision(g, geo, world, queries) {
  const view = read.requestView(world);
  const lead = read.choice(view);
  const at = queries.findLastIndex((p) => p.kind === "next");
  if (!lead || at < 0 || view.finished) return;
  const y = geo.bottom + geo.chip + 10;
  draw.label(g, probability(lead.probability), geo.middle(at), y, { size: 11, mono: true, weight: 640, align: "center", color: "--d" });
  const from = view.decision_row;
  const skipped = queries.slice(from + 1, at).filter((p) => p.kind === "padded").length;
  if (!skipped) return;
  const [x0, x1, lane] = [geo.middle(from), geo.x(at) - 5, geo.bottom - 9];
  g.strokeStyle = draw.css("--d");
  g.lineWidth = 2;
  g.beginPath();
  g.moveTo(x0, geo.bottom - 1);
  g.lineTo(x0, lane);
  g.lineTo(x1, lane);
  g.lineTo(x1, geo.bottom + geo.chip / 2);
  g.lineTo(geo.x(at) - 1, geo.bottom + geo.chip / 2);
  g.stroke();
  const said = `last valid row, skips ${skipped}`;
  draw.font(g, 560, 11);
  const room = g.measureText(said).width + 10;
  g.fillStyle = draw.css("--surface");
  g.fillRect((x0 + x1) / 2 - room / 2, lane - 8, room, 16);
  draw.label(g, said, (x0 + x1) / 2, lane, { size: 11, weight: 560, align: "center", color: "--d" });
}

/** A click on a query locks its largest read; a click on a key locks that read of the current row.
 * @param {MouseEvent} event @param {import("../lib/pan.mjs").Pan} p @param {Layout} geo @param {World} world @param {Context} context */
function lockAt(event, p, geo, world, context) {
  const at = read.relation(world);
  const column = Math.floor((event.offsetX + p.element.scrollLeft - geo.left) / geo.slot);
  if (!at || column < 0 || event.offsetX < geo.left) return;
  const weight = read.readCells(world, "read");
  const keys = read.rows(world, at.info.key);
  const inside = (/** @type {number} */ y) => event.offsetY >= y && event.offsetY <= y + geo.chip;
  if (inside(geo.top) && keys[column]) context.look({ lock: { row: read.focus(world).row, key: column } });
  else if (inside(geo.bottom) && Number.isFinite(weight(column, 0))) context.look({ lock: { row: column, key: read.reads(weight, column, keys.length)[0]?.key ?? 0 } });
}
