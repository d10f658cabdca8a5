// @ts-check
/** What the analysis `cost` counted, as lines and as small charts. Pure, but for drawing. */

import * as draw from "../canvas.mjs";
import { counted, msg } from "../language.mjs";
import { bytes, duration } from "../words.mjs";

/** @typedef {{n: number, macs: number, sequential: number, longest: number, bytes: number, ms: number, terms: any}} Point */
/** @typedef {{name: string, value: string, note: string, mark: "m" | "e" | "f"}} Line */

/** A count, short: "512", "20.5 k", "8.39 M", "2.15 G". @param {number} n */
export function count(n) {
  const power = n < 10000 ? 0 : Math.min(4, Math.floor(Math.log10(n) / 3));
  if (!power) return n.toLocaleString("en");
  const value = n / 1000 ** power;
  return `${value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)} ${["", "k", "M", "G", "T"][power]}`;
}

/** Four costs that are never one, and the time beside them. @param {any} found @returns {Line[]} */
export function lines(found) {
  const { next, cells } = found;
  const hidden = cells.all > cells.visible ? msg`masks let ${count(cells.visible)} of ${count(cells.all)} cells through` : "";
  const loops = Object.keys(found.loops).length;
  return [
    { name: msg`work`, value: msg`${count(found.macs)} MAC`, note: [next ? msg`one further row ${count(next.macs)}` : "", hidden].filter(Boolean).join("; "), mark: "e" },
    { name: msg`steps in a row`, value: String(found.sequential), note: loops ? msg`rows wait for rows in a loop` : msg`layers wait for layers`, mark: "e" },
    { name: msg`longest way`, value: found.ways.length ? counted(found.longest, found.ways[0].unit === "steps" ? "{0} step" : "{0} layer", found.ways[0].unit === "steps" ? "{0} steps" : "{0} layers") : "—", note: found.ways.length ? msg`between two rows that reach each other` : msg`not told by masks or loops`, mark: "e" },
    { name: msg`kept`, value: bytes(found.bytes), note: found.bytes_per_row ? msg`+${bytes(found.bytes_per_row)} a further row` : msg`nothing for a further row`, mark: "e" },
    ...(cells.square ? [{ name: msg`scores at once`, value: count(cells.held), note: cells.held < cells.square ? msg`a head of the largest read, in tiles; in one matrix ${count(cells.square)}` : msg`a head of the largest read, in one matrix`, mark: /** @type {const} */ ("e") }] : []),
    { name: msg`time`, value: duration(found.ms), note: next ? msg`one further row ${duration(next.ms)}` : "", mark: "m" },
  ];
}

/** The leading terms with this run's numbers. @param {any} found @returns {Line[]} */
export function terms(found) {
  const { n, d, k, r, values, crossovers } = found.terms ?? {};
  if (!values) return [];
  const said = /** @type {[string, string, string][]} */ ([
    ["n²·d", "self_attention", msg`self-attention, n ${n}, d ${d}`],
    ["n·d²", "recurrent", msg`recurrent: less from n = ${crossovers.recurrent}`],
    ["k·n·d²", "convolutional", msg`convolution, k ${k}: less from n = ${crossovers.convolutional}`],
    ["r·n·d", "restricted", msg`window, r ${r}: less from n = ${crossovers.restricted}`],
  ]);
  return said.map(([name, key, note]) => ({ name, value: count(values[key]), note, mark: "f" }));
}

/** Where the time goes: operations with the most work, in their order. @param {[string, number][]} ops @param {number} [most] */
export function largest(ops, most = 6) {
  const kept = new Set([...ops].sort((a, b) => b[1] - a[1]).slice(0, most).map(([name]) => name));
  return ops.filter(([name]) => kept.has(name));
}

const CHARTS = /** @type {const} */ (["macs", "sequential", "longest", "bytes", "ms"]);

/** Five small charts over n, both axes logarithmic; each its own scale. @param {HTMLCanvasElement} canvas @param {Point[]} sweep */
export function charts(canvas, sweep) {
  const [g, width, height] = draw.fit(canvas);
  const titles = { macs: msg`work`, sequential: msg`steps`, longest: msg`way`, bytes: msg`kept`, ms: msg`time` };
  const ends = { macs: count, sequential: String, longest: String, bytes: (/** @type {number} */ n) => bytes(n).replace(".0 ", " "), ms: duration };
  const slot = width / CHARTS.length, top = 18, bottom = 28, log = (/** @type {number} */ x) => Math.log2(Math.max(x, 1e-3));
  const low = log(sweep[0].n), high = log(sweep[sweep.length - 1].n);
  CHARTS.forEach((name, i) => {
    const left = i * slot + 4, wide = slot - 10, values = sweep.map((p) => log(Math.max(p[name], name === "ms" ? 1e-3 : 1)));
    const base = Math.min(...values), tall = Math.max(...values, base + high - low); // one doubling of n is as wide as one doubling is high
    const x = (/** @type {number} */ n) => left + ((log(n) - low) / (high - low)) * wide;
    const y = (/** @type {number} */ v) => top + (1 - (v - base) / (tall - base)) * (height - top - bottom);
    draw.label(g, titles[name], left, 8, { size: 11, weight: 620, color: "--ink" });
    g.strokeStyle = draw.css("--line");
    g.lineWidth = 1;
    g.beginPath();
    g.moveTo(left, height - bottom);
    g.lineTo(left + wide, height - bottom);
    g.stroke();
    g.strokeStyle = draw.css(name === "ms" ? "--g" : "--ink");
    g.lineWidth = 1.8;
    g.setLineDash(name === "ms" ? [4, 2] : []);
    g.beginPath();
    sweep.forEach((p, j) => (j ? g.lineTo(x(p.n), y(values[j])) : g.moveTo(x(p.n), y(values[j]))));
    g.stroke();
    g.setLineDash([]);
    draw.label(g, ends[name](sweep[sweep.length - 1][name]), left, height - 18, { size: 10, mono: true, color: "--ink-2" });
    draw.label(g, slope(sweep, name), left, height - 6, { size: 10, mono: true, color: "--ink-3" });
  });
}

/** How it grows in the last doublings: "n^1.9" is the slope of the line between the last point and the one half way back.
 * @param {Point[]} sweep @param {"macs" | "sequential" | "longest" | "bytes" | "ms"} name */
export function slope(sweep, name) {
  const last = sweep[sweep.length - 1], before = sweep[Math.max(0, sweep.length - 3)];
  const grown = Math.log(Math.max(last[name], 1e-9) / Math.max(before[name], 1e-9)) / Math.log(last.n / before.n);
  return Number.isFinite(grown) ? (Math.abs(grown) < 0.05 ? msg`constant` : `n^${grown.toFixed(1)}`) : "—";
}
