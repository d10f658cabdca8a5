// @ts-check
/** The time loop of an update, step by step: forward through the rows, then back with the gradient. What is known where one stands. Pure. */

import { counted, msg } from "../language.mjs";
import * as read from "../reads.mjs";
import { groupsOf } from "../states/tapes.mjs";
import { figure, number, percent, shown } from "../words.mjs";

/** @typedef {import("../types").World} World */
/** One scope of the analysis `gradient_through_time`, by row. @typedef {{scope: string, states: string[], links: (number | null)[], products: (number | null)[], bounds: (number | null)[], gradients: number[], signals: (number | null)[]}} Loop */
/** @typedef {{loops: Loop[], row: number, losses: (number | null)[], tokens: string[], labels: string[], truncate: number}} Ways */
/** Where one stands: rows 0..n-1 forward, then n-1..0 back. @typedef {{back: boolean, row: number}} Stand */

export const NAME = "gradient_through_time";

/** Whether a state is carried from target row to target row. @param {World} world */
export const loops = (world) => groupsOf(world, "t").some((g) => g.tapes.some((t) => t.carried));

/** Whether it stands where the map stands otherwise. @param {World} world */
export const timeShown = (world) => read.phase(world) === "train" && world.look.pane === "time" && loops(world);

/** What was measured of the sequence that is looked at, as far as it belongs to this moment's batch. @param {World} world @returns {Ways | null} */
export function ways(world) {
  const result = world.analysis[NAME]?.result;
  const rows = read.trainRows(world);
  if (!result || result.moment !== world.moved?.at || result.request !== read.request(world) || result.losses.length > rows.length) return null;
  const figures = (/** @type {any[]} */ all) => all.map((v) => (v === null ? null : number(v)));
  const all = result.scopes.map((/** @type {any} */ s) => ({ ...s, links: figures(s.links), products: figures(s.products), bounds: figures(s.bounds), gradients: s.gradients.map(number), signals: figures(s.signals) }));
  const count = result.losses.length;
  return { loops: all, row: result.row, losses: figures(result.losses), tokens: rows.slice(0, count).map((r) => shown(r.input)), labels: rows.slice(0, count).map((r) => shown(r.label)), truncate: result.truncate };
}

/** @param {number} step @param {number} count rows @returns {Stand} */
export const standOf = (step, count) => (step < count ? { back: false, row: step } : { back: true, row: Math.max(0, 2 * count - 1 - step) });

/** Whether the forward pass has made a state, and whether the backward pass has reached it. @param {Stand} at @param {number} row */
export const made = (at, row) => at.back || row <= at.row;
/** @param {Stand} at @param {number} row */
export const reached = (at, row) => at.back && row >= at.row;

/** Where one stands, in a sentence. @param {Ways} of @param {Loop} loop @param {Stand} at */
export function said(of, loop, at) {
  const token = of.tokens[at.row];
  if (!at.back) return at.row ? msg`Forward: row ${at.row} ${token} makes state ${at.row} from state ${at.row - 1}.` : msg`Forward: row 0 ${token} makes the first state.`;
  if (at.row > of.row) return msg`Backward is at row ${at.row} ${token}: gradient ${figure(loop.gradients[at.row])}. Row ${of.row} is followed from there on.`;
  if (at.row === of.row) return msg`Backward is at row ${at.row} ${token}: the loss of ${of.labels[of.row]} enters here.`;
  const [from, here] = [loop.signals[of.row], loop.signals[at.row]];
  const links = of.row - at.row;
  if (here === null || here === 0 || !from) return of.truncate ? msg`Backward is at row ${at.row} ${token}: cut off. The loop is truncated after ${of.truncate} rows.` : msg`Backward is at row ${at.row} ${token}: nothing of the signal arrives.`;
  const share = percent(here / from);
  if (of.loops.length > 1) return msg`Backward is at row ${at.row} ${token}: ${share} of the signal from ${of.labels[of.row]} arrives, by all ways; the bars are this loop’s alone.`;
  return msg`Backward is at row ${at.row} ${token}: ${share} of the signal from ${of.labels[of.row]} is left after ${counted(links, "{0} link", "{0} links")}.`;
}

/** How high a bar is, 0 to 1, on a logarithmic scale from a thousandth to the largest bound (10 at least). @param {Loop} loop @param {number} value */
export function height(loop, value) {
  const most = Math.max(10, ...loop.bounds.flatMap((v) => (v !== null && Number.isFinite(v) ? [v] : [])));
  return Math.max(0, Math.min(1, Math.log10(Math.max(value, 1e-3) / 1e-3) / Math.log10(most / 1e-3)));
}
