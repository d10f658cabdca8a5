// @ts-check
/** The pictures of the bench: the Jacobian of softmax, d loss / d score, what a moved score would do; and two lines of words. */

import { cellMap, clip, css, fit, font, hatch, label, roundRect } from "../lib/canvas.mjs";
import { isNamed } from "../lib/inspect/bench.mjs";
import { figure } from "../lib/words.mjs";
import { late, read } from "./read.mjs";

/** @typedef {import("./read.mjs").Bench} Bench @typedef {import("./read.mjs").Read} Read */

const short = (/** @type {number} */ x) => figure(x, 2).replace(/^(−?)0\./, "$1.");

/** @param {HTMLCanvasElement} canvas @param {Bench} b @param {number[][]} J @param {number} row @returns {number} the largest size, end of the scale */
export function drawJacobian(canvas, b, J, row) {
  const max = Math.max(1e-12, ...J.flat().map(Math.abs));
  cellMap(canvas, {
    rows: J.length, columns: J.length, value: (i, j) => J[i][j], state: (i, j) => (b.hidden[i] || (b.hidden[j] && b.enters !== "multiply") ? "user" : "ok"),
    scale: { max, diverging: true }, left: 78, top: 30, gap: 2, maxCell: 44, values: true, format: short, selected: { row, column: row },
    rowLabels: b.names, columnLabels: b.names.map((name, j) => (isNamed(b, j) ? name : String(j))), roles: ["k", "k"],
  });
  return max;
}

/** Bars to both sides of 0. @param {HTMLCanvasElement} canvas @param {Bench} b @param {number[]} scores @param {number} row */
export function drawScores(canvas, b, scores, row) {
  const [g, width, height] = fit(canvas);
  const left = 84, right = 64, middle = left + (width - left - right) / 2, most = Math.max(1e-12, ...scores.map(Math.abs));
  const line = Math.min(38, height / Math.max(1, scores.length));
  const every = Math.ceil(14 / line), said = (/** @type {number} */ j) => j === row || (j % every === 0 && Math.abs(j - row) * line >= 14); // words do not overlap
  g.strokeStyle = css("--line-2");
  g.beginPath();
  g.moveTo(middle, 0);
  g.lineTo(middle, line * scores.length);
  g.stroke();
  scores.forEach((value, j) => {
    const y = j * line + line / 2, size = (Math.abs(value) / most) * (middle - left), thick = Math.max(1, Math.min(16, line - 4));
    if (said(j)) label(g, b.names[j], left - 8, y, { mono: true, size: 12.5, weight: j === row ? 700 : 500, align: "right", color: j === row ? "--k" : "--ink-2" });
    if (b.hidden[j] && b.enters !== "multiply") hatch(g, left, y - thick / 2, width - left - right, thick, css("--ink-2"), 1.3, 5);
    else {
      g.fillStyle = css("--g-fill");
      g.fillRect(value < 0 ? middle - size : middle, y - thick / 2, Math.max(1, size), thick);
      if (j === row) {
        g.strokeStyle = css("--ink");
        g.lineWidth = 1.6;
        g.strokeRect(value < 0 ? middle - size : middle, y - thick / 2, Math.max(1, size), thick);
        g.lineWidth = 1;
      }
    }
    if (said(j)) label(g, figure(value), width - 2, y, { mono: true, size: 12, weight: 600, align: "right", color: "--g" });
  });
}

const DASHES = [[4, 3], [2, 3], [7, 2], [1, 3]];

/** Every open row's weight while the score of one moves around where it is. @param {HTMLCanvasElement} canvas @param {Bench} b @param {Read} r @param {number} row
 * @returns {[number, number]} from where to where it moves */
export function drawSweep(canvas, b, r, row) {
  const [g, width, height] = fit(canvas);
  const left = 30, right = 70, top = 8, bottom = 22, at = r.scores[row];
  const low = Math.min(-3, at - 1), high = Math.max(3, at + 1);
  const X = (/** @type {number} */ s) => left + ((s - low) / (high - low)) * (width - left - right), Y = (/** @type {number} */ w) => top + (1 - w) * (height - top - bottom);
  g.strokeStyle = css("--line");
  for (const w of [0, 0.5, 1]) {
    g.beginPath();
    g.moveTo(left, Y(w));
    g.lineTo(width - right, Y(w));
    g.stroke();
    label(g, String(w), left - 6, Y(w), { mono: true, size: 11, align: "right", color: "--ink-3" });
  }
  for (const s of [low, 0, high]) label(g, figure(s, 1).replace(/\.0$/, ""), X(s), height - 8, { mono: true, size: 11, align: "center", color: "--ink-3" });
  if (b.hidden[row] && b.enters !== "multiply") {
    label(g, late(b) ? "× 0" : "−∞", (left + width - right) / 2, height / 2, { mono: true, size: 16, align: "center", color: "--ink-3" });
    return [low, high];
  }
  const places = Array.from({ length: 81 }, (_, i) => low + ((high - low) * i) / 80);
  const lines = places.map((s) => read(b, r.scores.map((x, j) => (j === row ? s : x))).weights);
  const open = b.names.map((_, j) => j).filter((j) => !b.hidden[j]);
  const named = labels(open.map((j) => ({ j, y: Y(lines[80][j]) })), height - bottom);
  open.forEach((j, n) => {
    const on = j === row;
    g.setLineDash(on ? [] : DASHES[n % DASHES.length]);
    g.strokeStyle = css(on ? "--v-fill" : "--ink-3");
    g.lineWidth = on ? 2.6 : 1.3;
    g.beginPath();
    places.forEach((s, i) => (i ? g.lineTo(X(s), Y(lines[i][j])) : g.moveTo(X(s), Y(lines[i][j]))));
    g.stroke();
    g.setLineDash([]);
    const y = named.get(j);
    if (y !== undefined) label(g, b.names[j], width - right + 6, y, { mono: true, size: 11, weight: on ? 700 : 500, color: on ? "--v" : "--ink-3" });
  });
  g.strokeStyle = css("--ink-2");
  g.setLineDash([3, 3]);
  g.lineWidth = 1;
  g.beginPath();
  g.moveTo(X(at), top);
  g.lineTo(X(at), height - bottom);
  g.stroke();
  g.setLineDash([]);
  g.fillStyle = css("--v-fill");
  g.strokeStyle = css("--ink");
  g.beginPath();
  g.arc(X(at), Y(r.weights[row]), 4.5, 0, 7);
  g.fill();
  g.stroke();
  return [low, high];
}

/** Where names stand so that none lies on another; those without room have none. Pure. @param {{j: number, y: number}[]} wanted @param {number} bottom @returns {Map<number, number>} */
export function labels(wanted, bottom) {
  const found = new Map();
  let free = 6;
  for (const { j, y } of [...wanted].sort((a, b) => a.y - b.y)) {
    const place = Math.max(free, Math.min(y, bottom - 4));
    if (place > bottom + 6) continue;
    found.set(j, place);
    free = place + 13;
  }
  return found;
}

/** @typedef {{top: string[], bottom: string[], links: [number, number, number][], bench?: Bench, row?: string}} Words what leads from a word above to one below: which two, and how much */

const LEAST = 0.02; // a lighter link would be no more than a smear
const CHIP = { width: 104, height: 26 };

/** Two lines of words, and the links between them as thick as they weigh. @param {HTMLCanvasElement} canvas @param {Words} w */
export function drawWords(canvas, w) {
  const [g, width, height] = fit(canvas);
  const pitch = Math.min(CHIP.width + 24, width / Math.max(w.top.length, w.bottom.length)), wide = Math.min(CHIP.width, pitch - 8);
  const X = (/** @type {number} */ i) => i * pitch + wide / 2, low = CHIP.height + 2, high = height - CHIP.height - 2, middle = (low + high) / 2;
  g.strokeStyle = css("--v-fill");
  for (const [i, j, weight] of [...w.links].sort((a, b) => a[2] - b[2])) {
    if (weight < LEAST) continue;
    g.globalAlpha = 0.25 + 0.75 * weight;
    g.lineWidth = 1 + 5 * weight;
    g.beginPath();
    g.moveTo(X(i), low);
    g.bezierCurveTo(X(i), middle, X(j), middle, X(j), high);
    g.stroke();
  }
  g.globalAlpha = g.lineWidth = 1;
  line(g, w.top, X, 1, wide, "k");
  line(g, w.bottom, X, height - CHIP.height - 1, wide, "q");
}

/** @param {CanvasRenderingContext2D} g @param {string[]} words @param {(i: number) => number} X @param {number} y @param {number} wide @param {"k" | "q"} role */
function line(g, words, X, y, wide, role) {
  words.forEach((word, i) => {
    if (!word) return;
    g.fillStyle = css(`--${role}-wash`);
    g.strokeStyle = css(`--${role}-fill`);
    roundRect(g, X(i) - wide / 2 + 0.5, y, wide, CHIP.height, 5);
    g.fill();
    g.stroke();
    font(g, 560, 12.5, true);
    label(g, clip(g, word, wide - 8), X(i), y + CHIP.height / 2, { mono: true, size: 12.5, weight: 560, align: "center", color: `--${role}` });
  });
}
