// @ts-check
/** Prefill of several requests that read themselves: one strip a request, its padding, and the row of it that decides. */

import * as draw from "../canvas.mjs";
import { msg } from "../language.mjs";
import { follow, seen } from "../draw/pan.mjs";
import * as read from "../reads.mjs";
import { places } from "./ribbons.mjs";
import { arrow, lane } from "./ropes.mjs";
import { strip, WIDEST } from "./strips.mjs";
import { number, probability, requestName, shown } from "../words.mjs";

/** @typedef {import("../types").World} World */
/** @typedef {{name: string, rows: import("./ribbons.mjs").Place[], valid: number, decides: number | null, lead: any | null, guess: any | null}} Line guess: what the physical last slot would say, which is padding and decides nothing */
/** @typedef {{lines: Line[], selected: number, computed: boolean, gutter: number, slot: number, chip: number, block: number, room: number, end: number, seen: number, width: number, height: number}} Passes
 * room: of the strips in sight; end: where the decisions stand; seen: width in sight; width, height: of the whole ground, 0 where it fits */

/** @param {World} world */
export function shownFor(world) {
  const at = read.relation(world);
  return read.phase(world) === "prefill" && read.requestCount(world) > 1 && at?.info.query === "t" && at.info.key === "t";
}

/** What is shown of each request, and where. Pure.
 * @param {World} world @param {number} width seen @param {number} height @returns {Passes} */
export function passes(world, width, height) {
  const list = read.requests(world);
  const lines = list.map((r, b) => {
    const rows = places(world, "t", r).filter((p) => p.kind !== "next").slice(0, r.target.length);
    return { name: requestName(b), rows, valid: rows.filter((p) => p.kind !== "padded").length, decides: r.decision_row, lead: read.choice(r), guess: r.unused ?? null };
  });
  const small = width < 560;
  const [gutter, tail] = [small ? 30 : 128, small ? 138 : 200];
  const count = Math.max(1, ...lines.map((l) => l.rows.length));
  const slot = Math.max(small ? 52 : 56, Math.min(WIDEST, (width - gutter - tail) / count));
  const room = Math.min(count * slot, width - gutter - tail);
  const block = Math.max(56, Math.min(92, (height - 14) / Math.max(1, lines.length)));
  const tall = Math.ceil(14 + block * lines.length);
  return {
    lines, selected: read.request(world), computed: list.some((r) => r.decision_row !== null), gutter, slot, room, block, chip: block < 70 ? 24 : 30,
    end: gutter + room + (small ? 60 : 104), seen: width, width: count * slot > room ? width + count * slot - room : 0, height: tall > height ? tall : 0,
  };
}

/** The row of a request under a point of the whole ground.
 * @param {Passes} o @param {number} x @param {number} y */
export function at(o, x, y) {
  const [request, row] = [Math.floor((y - 12) / o.block), Math.floor((x - o.gutter) / o.slot)];
  const line = o.lines[request];
  return line && row >= 0 && row < line.valid ? { request, row } : null;
}

/** @param {import("../draw/pan.mjs").Pan} p @param {Passes} o @param {World} world */
export function paint(p, o, world) {
  const chosen = o.lines[o.selected];
  const row = world.look.lock?.row ?? chosen?.decides ?? chosen?.valid - 1;
  follow(p, "pass", `${world.moved?.at} ${o.selected} ${row}`, o.width ? { left: row * o.slot, right: (row + 1.5) * o.slot + o.seen - o.room } : null, o.height ? { top: o.selected * o.block, bottom: (o.selected + 1) * o.block + 14 } : null);
  const [g, width, height, scrolled, down] = seen(p);
  g.translate(0, -down);
  o.lines.forEach((line, n) => {
    const y = 14 + n * o.block;
    if (y - down > height || y + o.block < down) return;
    names(g, o, line, n, y);
    g.save();
    g.beginPath();
    g.rect(o.gutter - 3, y - 14, o.room + 6, o.block);
    g.clip();
    g.translate(-scrolled, 0);
    line.rows.forEach((place, i) => slotAt(g, o, line, place, i, y, n === 0, n === o.selected && world.look.lock?.row === i));
    g.restore();
    decision(g, o, line, y, scrolled);
  });
  g.translate(0, down);
  draw.label(g, msg`decision`, o.end + slotWidth(o) / 2, 5 - down, { size: 10.5, color: "--ink-3", align: "center" });
  aside(g, o, width);
}

/** @param {Passes} o */
const slotWidth = (o) => Math.min(o.slot, WIDEST) - 4;

/** @param {CanvasRenderingContext2D} g @param {Passes} o @param {Line} line @param {number} n @param {number} y */
function names(g, o, line, n, y) {
  const middle = y + o.chip / 2;
  if (n === o.selected) {
    g.fillStyle = draw.css("--ink");
    g.fillRect(o.gutter - 10, y + 1, 3, o.chip - 2);
  }
  if (o.gutter < 60) return draw.label(g, line.name, 2, middle, { size: 13, weight: 640, color: "--ink" });
  strip(g, msg`Request ${line.name}`, [["Q", "q"]], msg`${line.valid} of ${line.rows.length} valid`, middle);
}

/** @param {CanvasRenderingContext2D} g @param {Passes} o @param {Line} line @param {import("./ribbons.mjs").Place} place @param {number} i @param {number} y @param {boolean} numbered @param {boolean} locked */
function slotAt(g, o, line, place, i, y, numbered, locked) {
  const pad = o.slot > 70 ? 8 : 4;
  const [x, w] = [o.gutter + i * o.slot + pad / 2, o.slot - pad];
  const on = i === line.decides;
  draw.chip(g, x, y, w, o.chip, place.token, { role: "q", state: place.kind === "new" ? "known" : place.kind, on, size: o.slot > 80 ? 14 : o.slot > 66 ? 13 : 11.5 });
  if (numbered) draw.label(g, String(i), x + w / 2, 5, { size: 10.5, mono: true, align: "center", color: "--ink-3" });
  if (!locked) return;
  g.strokeStyle = draw.css("--ink");
  g.lineWidth = 2;
  draw.roundRect(g, x - 2, y - 2, w + 4, o.chip + 4, 7);
  g.stroke();
}

/** The line from the row that decides, under the padding, to what it decides; what the last slot says goes nowhere.
 * @param {CanvasRenderingContext2D} g @param {Passes} o @param {Line} line @param {number} y @param {number} scrolled */
function decision(g, o, line, y, scrolled) {
  const [middle, w, skipped] = [y + o.chip / 2, slotWidth(o), line.rows.length - line.valid];
  const edge = o.gutter + Math.min(o.room, line.rows.length * o.slot - scrolled);
  if (line.decides === null) draw.dashed(g, o.end, y, w, o.chip, 5);
  else draw.chip(g, o.end, y, w, o.chip, line.lead ? shown(line.lead.token) : "?", { state: "next", size: w > 76 ? 14 : 12 });
  draw.label(g, line.lead ? probability(line.lead.probability) : msg`not yet`, o.end + w / 2, y + o.chip + 10, { size: 11, mono: !!line.lead, weight: line.lead ? 640 : 460, align: "center", color: line.lead ? "--d" : "--ink-3" });
  if (line.decides === null) return;
  const from = o.gutter + (line.decides + 0.5) * o.slot - scrolled;
  if (skipped) {
    lane(g, Math.max(o.gutter, Math.min(from, edge)), y + o.chip + 1, y + o.chip + 12, o.end, middle, skipped);
    return nowhere(g, line, edge, o.end - 20, middle - 5, o.gutter < 60);
  }
  g.strokeStyle = draw.css("--d");
  g.lineWidth = 2.2;
  g.beginPath();
  g.moveTo(edge - 2, middle);
  g.lineTo(o.end - 3, middle);
  g.stroke();
  arrow(g, o.end, middle);
  if (o.block >= 60) draw.label(g, msg`last valid = last slot`, edge - 4, y + o.chip + 10, { size: 11, align: "right", color: "--ink-3" });
}

/** The physical last slot has a guess too; it is never used.
 * @param {CanvasRenderingContext2D} g @param {Line} line @param {number} x0 @param {number} x1 @param {number} y @param {boolean} small */
function nowhere(g, line, x0, x1, y, small) {
  g.setLineDash([3, 4]);
  g.strokeStyle = draw.css("--ink-3");
  g.lineWidth = 1.2;
  g.beginPath();
  g.moveTo(x0, y);
  g.lineTo(x1 - 6, y);
  g.stroke();
  g.setLineDash([]);
  g.fillStyle = draw.css("--surface");
  g.fillRect((x0 + x1) / 2 - 9, y - 7, 12, 14);
  draw.cross(g, (x0 + x1) / 2 - 3, y);
  if (!line.guess || small) return;
  draw.font(g, 480, 10.5, true);
  const said = draw.clip(g, `${shown(line.guess.token)} ${probability(line.guess.probability, 2)}`, x1 - x0 - 2);
  draw.label(g, said, x0 + 2, y - 12, { size: 10.5, mono: true, color: "--ink-3" });
  draw.label(g, msg`never used`, x0 + 2, y + 13, { size: 10.5, color: "--ink-3" });
}

/** What padding does and does not do, where there is room to say it.
 * @param {CanvasRenderingContext2D} g @param {Passes} o @param {number} width */
function aside(g, o, width) {
  const x = o.end + slotWidth(o) + 24;
  if (width - x < 120 || o.lines.every((l) => l.valid === l.rows.length)) return;
  draw.label(g, msg`Padding rows`, x, 20, { size: 12, weight: 620, color: "--ink" });
  [msg`run with the rest`, msg`write K, V: masked`, msg`decide nothing`].forEach((said, i) => draw.label(g, said, x, 39 + i * 17, { size: 11.5 }));
}

/** @param {Passes} o */
export const description = (o) =>
  o.lines.map((l) => {
    const decides = l.decides === null ? msg`nothing is decided yet` : msg`row ${l.decides} ${l.rows[l.decides]?.token ?? ""} decides ${l.lead ? shown(l.lead.token) : ""}`;
    return msg`Request ${l.name}: ${l.valid} of ${l.rows.length} valid; ${decides}.`;
  }).join(" ");

/** @param {Passes} o @returns {import("../types").Table} */
export const table = (o) => ({
  columns: [msg`request`, msg`slots`, msg`valid rows`, msg`deciding row`, msg`decision`, msg`probability`, msg`last slot would say (never used)`],
  rows: o.lines.map((l) => [l.name, l.rows.length, l.valid, l.decides, l.lead?.token ?? null, l.lead ? number(l.lead.probability) : null, l.guess?.token ?? null]),
});
