// @ts-check
/** The bench to take away: a picture of it, and its read and all derivatives as a table. */

import { msg } from "../lib/language.mjs";
import { pageMenu } from "../lib/taking/menu.mjs";
import { savePicture } from "../lib/taking/shot.mjs";
import { derivatives, jacobian, read, values } from "./read.mjs";

/** @typedef {import("./read.mjs").Bench} Bench @typedef {import("../lib/types").Table} Table */

/** @param {HTMLElement} button @param {{bench: () => Bench, stage: HTMLElement, copy: () => Promise<void>, redraw: () => void, refuse: (why: string) => void}} of */
export function taking(button, { bench, stage, copy, redraw, refuse }) {
  const name = "lookback-bench", caption = msg`Lookback: read bench`;
  return pageMenu(button, {
    title: msg`Bench`, caption: () => caption, name: () => name, copy, table: () => asTable(bench()),
    picture: (kind) => savePicture(stage, { name, caption, redraw }, kind),
    failed: (why) => refuse(msg`“${msg`Bench`}” could not be taken away: ${why}`),
  });
}

/** A line for each row that is read, then what comes of all of them. @param {Bench} b @returns {Table} */
export function asTable(b) {
  const r = read(b), d = derivatives(b, r), J = jacobian(b, r), V = values(b);
  const each = (/** @type {string} */ name, /** @type {number[]} */ of) => of.map((_, i) => `${name} ${i}`);
  const columns = [msg`row`, ...each("K", b.q), ...each("V", b.g), "q·K", msg`score`, msg`masked`, "exp", msg`weight`, ...each("w × V", b.g), "∂L/∂s", ...each("∂L/∂K", b.q), ...each("∂L/∂V", b.g), ...b.names.map((name) => `∂w/∂s ${name}`)];
  const rows = b.names.map((name, j) => [name, ...b.K[j], ...V[j], r.dots[j], r.scores[j], b.hidden[j], r.exps[j], r.weights[j], ...V[j].map((x) => r.weights[j] * x), d.scores[j], ...d.keys[j], ...d.values[j], ...b.names.map((_, i) => J[j][i])]);
  const line = (/** @type {string} */ name, /** @type {number[]} */ keys, /** @type {number[]} */ of) => [name, ...b.q.map((_, i) => keys[i] ?? null), ...b.g.map((_, i) => of[i] ?? null), ...columns.slice(1 + b.q.length + b.g.length).map(() => null)];
  return { columns, rows: [...rows, line("q", b.q, []), line("∂L/∂q", d.q, []), line("z", [], r.z), line("g = ∂L/∂z", [], b.g)] };
}
