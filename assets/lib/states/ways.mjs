// @ts-check
/** One linear recurrence, run in each way that the model has (its `schedule`): the same numbers, in other steps. Measured by `schedules`. */

import * as draw from "../canvas.mjs";
import { msg } from "../language.mjs";
import { measureWhenIdle } from "../run/measuring.mjs";
import * as read from "../reads.mjs";
import * as tapes from "./tapes.mjs";
import { figure } from "../words.mjs";

/** @typedef {import("../types").World} World @typedef {import("../types").Context} Context */
/** What one way gave: steps that wait for each other, and by row the channel's number. @typedef {{schedule: string, steps: number, values: number[]}} Way */

/** Rows of so few are measured without being asked. */
const SMALL = 160;

/** The read of the state in the layer that is looked at; null where a model has one way only. @param {World} world @returns {any} a tap */
export function readOf(world) {
  const carry = world.schema?.carries?.find((/** @type {any} */ c) => c.read);
  if (!carry || !("schedule" in (world.opened?.scenario?.config ?? {}))) return null;
  const scope = new RegExp(`^${carry.scope.replace("*", "\\d+")}\\.${carry.read}$`);
  const reads = (world.schema?.taps ?? []).filter((/** @type {any} */ t) => scope.test(t.path) && t.axes.length === 3);
  return reads[Math.min(world.look.layer, reads.length - 1)] ?? null;
}

/** What is asked for: that read, in the channel that is looked at; null before a call has told how many there are.
 * @param {World} world @returns {{request: number, path: string, channel: number} | null} */
export function asked(world) {
  const tap = readOf(world);
  const channels = world.moved?.sizes?.[tap?.axes[2]] ?? 0;
  return tap && channels ? { request: read.request(world), path: tap.path, channel: Math.min(world.look.head, channels - 1) } : null;
}

/** What was measured at this moment of just that, or null. @param {World} world @returns {{largest: number, tolerance: number, ways: Way[]} | null} */
export function found(world) {
  const [want, result] = [asked(world), world.analysis.schedules?.result];
  const fits = want && result?.ways && result.moment === world.moved?.at && result.path === want.path && result.channel === want.channel && result.request === want.request;
  return fits ? result : null;
}

/** @param {World} world @param {Context} context */
export function measuring(world, context) {
  const want = asked(world);
  const rows = Math.max(world.moved?.sizes?.t ?? 0, read.rows(world, "t").filter(read.known).length);
  const wanted = !!want && !found(world) && (read.rows(world, "t").some(read.known) || world.moved?.requests?.some((/** @type {any} */ r) => r.source));
  return measureWhenIdle(world, context, "schedules", want ?? {}, !!wanted, rows <= SMALL);
}

/** How far the ways are apart at each row. @param {Way[]} ways */
export const apart = (ways) => ways[0].values.map((v, i) => Math.max(...ways.slice(1).map((w) => Math.abs(w.values[i] - v))));

/** What fp32 rounds off numbers of this size. @param {Way[]} ways */
export const rounding = (ways) => 2 ** -24 * Math.max(...ways.flatMap((w) => w.values.map(Math.abs)));

/** The output of the channel by row, the first way as a line, the second as squares; below, on a scale of its own, how far they are apart.
 * @param {HTMLCanvasElement} canvas @param {Way[]} ways @param {string[]} names of the ways */
export function plot(canvas, ways, names) {
  const [g, width, height] = draw.fit(canvas);
  if (!ways.length) return draw.label(g, msg`both ways: not measured yet`, width / 2, height / 2, { size: 11.5, align: "center", color: "--ink-3" });
  const left = 38, middle = Math.round(height * 0.56);
  const [one, other] = [ways[0].values, (ways[1] ?? ways[0]).values];
  const x = (/** @type {number} */ i) => left + 6 + (one.length < 2 ? 0 : (i * (width - left - 12)) / (one.length - 1));
  const ends = [Math.min(0, ...one), Math.max(0, ...one)];
  const y = (/** @type {number} */ v) => 22 + (1 - (v - ends[0]) / (ends[1] - ends[0] || 1)) * (middle - 44);
  draw.font(g, 560, 11);
  draw.label(g, draw.clip(g, msg`Output y: ${names[0]} line, ${names[1] ?? ""} squares`, width), 0, 8, { size: 11, weight: 560, color: "--ink-2" });
  for (const v of ends) rule(g, figure(v, 2), left, width, y(v));
  g.strokeStyle = draw.css("--ink");
  g.lineWidth = 1.6;
  g.beginPath();
  one.forEach((v, i) => (i ? g.lineTo(x(i), y(v)) : g.moveTo(x(i), y(v))));
  g.stroke();
  g.fillStyle = draw.css("--v-fill");
  other.forEach((v, i) => g.fillRect(x(i) - 2.5, y(v) - 2.5, 5, 5));
  rows(g, one.length, x, middle - 10);
  differences(g, ways, x, { left, width, top: middle + 6, bottom: height - 16 });
  rows(g, one.length, x, height - 6);
}

/** @param {CanvasRenderingContext2D} g @param {Way[]} ways @param {(i: number) => number} x @param {{left: number, width: number, top: number, bottom: number}} box */
function differences(g, ways, x, { left, width, top, bottom }) {
  const off = apart(ways);
  const floor = rounding(ways);
  const sizes = [...off, floor].filter((v) => v > 0 && Number.isFinite(v)).map(Math.log10);
  const [low, high] = sizes.length ? [Math.floor(Math.min(...sizes)), Math.ceil(Math.max(...sizes) + 1e-9)] : [-9, -6];
  const y = (/** @type {number} */ v) => (v > 0 ? top + 20 + (1 - (Math.log10(v) - low) / (high - low || 1)) * (bottom - top - 30) : bottom - 10);
  draw.label(g, msg`their difference, log`, 0, top + 4, { size: 11, weight: 560, color: "--ink-2" });
  for (const power of [low, high]) rule(g, `1e${power}`, left, width, y(10 ** power));
  g.fillStyle = draw.css("--line-2");
  if (floor > 0) g.fillRect(left, y(floor) - 1, width - left, 2);
  draw.label(g, msg`fp32 rounds off ${floor.toExponential(0)}`, width, top + 4, { size: 10.5, color: "--ink-3", align: "right" });
  g.fillStyle = draw.css("--ink-2");
  off.forEach((v, i) => {
    g.beginPath();
    g.arc(x(i), y(v), 2.4, 0, 2 * Math.PI);
    if (v > 0) g.fill();
  });
}

/** @param {CanvasRenderingContext2D} g @param {string} said @param {number} left @param {number} width @param {number} y */
function rule(g, said, left, width, y) {
  g.fillStyle = draw.css("--line-2");
  g.fillRect(left, y - 0.5, width - left, 1);
  draw.label(g, said, left - 5, y, { size: 10.5, mono: true, align: "right", color: "--ink-3" });
}

/** Numbers of rows, as many as have room. @param {CanvasRenderingContext2D} g @param {number} count @param {(i: number) => number} x @param {number} y */
function rows(g, count, x, y) {
  const every = Math.max(1, Math.ceil(20 / (count > 1 ? x(1) - x(0) : 20)));
  for (let i = 0; i < count; i += every) draw.label(g, String(i), x(i), y, { size: 10.5, mono: true, align: "center", color: "--ink-3" });
}

/** Whether there is more than one way. @param {World} world */
export const applies = (world) => tapes.alone(world) && readOf(world) !== null;
