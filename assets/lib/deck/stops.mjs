// @ts-check
/** Where Play stops (app/session/stops.py): what a stop is called, which are one and the same, and, for play by operation, which the page
 * does alone, whether one is reached. Pure. */

import { msg } from "../language.mjs";
import { quoted } from "../numbers.mjs";
import { stageName } from "./ops.mjs";
import * as read from "../reads.mjs";
import { figure, number, opName, shown } from "../words.mjs";

/** @typedef {import("../types").World} World @typedef {import("../types").PlayStop} PlayStop */

export const MOST = 32;

/** Equal for equal stops. @param {PlayStop} stop */
export const keyOf = (stop) => JSON.stringify(Object.entries(stop).sort());

/** @param {PlayStop[]} stops @param {PlayStop} stop */
export const has = (stops, stop) => stops.some((s) => keyOf(s) === keyOf(stop));

/** With this stop where it was missing, without it where it was there.
 * @param {PlayStop[]} stops @param {PlayStop} stop @returns {PlayStop[]} */
export const toggled = (stops, stop) => (has(stops, stop) ? stops.filter((s) => keyOf(s) !== keyOf(stop)) : [...stops, stop]);

const PHASES = ["train", "prefill", "decode"];

/** Whether some data is a stop. @param {any} s */
export function isStop(s) {
  if (!s || typeof s !== "object") return false;
  const named = (/** @type {any} */ v) => typeof v === "string" && v.length > 0 && v.length <= 200;
  const whole = (/** @type {any} */ v, /** @type {number} */ low) => Number.isInteger(v) && v >= low && v <= 1e6;
  if (s.kind === "token") return whole(s.token, 0);
  if (s.kind === "loss") return (s.side === "below" || s.side === "above") && Number.isFinite(s.value);
  if (!PHASES.includes(s.phase)) return false;
  return s.kind === "step" ? whole(s.step, 1) : s.kind === "stage" ? named(s.stage) : s.kind === "op" && named(s.scope);
}

/** Whether this run can come to it: of another model or task it may be unknown here.
 * @param {World} world @param {PlayStop} stop */
export function fits(world, stop) {
  if (stop.kind === "op") {
    const scope = stop.scope.replace(/(?<=\.tile)\.\d+$/, ""); // one operation of several that share their taps
    return !!world.schema?.taps.some((/** @type {any} */ t) => t.path === scope || t.path.startsWith(`${scope}.`));
  }
  return stop.kind !== "token" || stop.token < (world.opened?.vocabulary?.target?.length ?? 0);
}

/** What it is called. @param {World} world @param {PlayStop} stop @returns {string} */
export function label(world, stop) {
  switch (stop.kind) {
    case "step":
      return stop.phase === "train" ? msg`after update ${stop.step}` : stop.phase === "decode" ? msg`after decode ${stop.step}` : msg`after prefill`;
    case "stage":
      return msg`${phaseName(stop.phase)}: after ${stageName(stop.stage)}`;
    case "op":
      return msg`${phaseName(stop.phase)}: at ${opName(stop.scope, /\blayer\d/.test(stop.scope))}`;
    case "token":
      return msg`where ${shown(world.opened?.vocabulary?.target?.[stop.token] ?? `#${stop.token}`)} is chosen`;
    case "loss":
      return stop.side === "below" ? msg`where the loss falls below ${figure(stop.value)}` : msg`where the loss rises above ${figure(stop.value)}`;
  }
}

/** @param {string} phase */
const phaseName = (phase) => (phase === "train" ? msg`Train` : phase === "prefill" ? msg`Prefill` : msg`Decode`);

/** A stop from what a person typed, or why it is none.
 * @param {World} world @param {string} kind step, token, below or above @param {string} typed @returns {{stop?: PlayStop, problem?: string}} */
export function typedStop(world, kind, typed) {
  const given = typed.trim(), said = quoted(given);
  if (kind === "token") {
    const id = (world.opened?.vocabulary?.target ?? []).indexOf(given);
    return id >= 0 ? { stop: { kind: "token", token: id } } : { problem: msg`“${said}” is not in the target vocabulary; allowed: one of its words.` };
  }
  const value = given === "" ? NaN : Number(given.replace("−", "-"));
  if (kind !== "step") return Number.isFinite(value) ? { stop: { kind: "loss", side: kind === "above" ? "above" : "below", value } } : { problem: msg`“${said}” was given; allowed: a number, for example 0.5.` };
  const phase = /** @type {"train"} */ (read.phase(world) === "prefill" ? "decode" : read.phase(world));
  return Number.isInteger(value) && value >= 1 && value <= 1e6 ? { stop: { kind: "step", phase, step: value } } : { problem: msg`“${said}” was given; allowed: a whole number from 1 to 1,000,000.` };
}

/** The first stop that the way between two moments came to; by operation also the one that the cursor came to.
 * @param {PlayStop[]} stops @param {{moved: any, op: string | null}} before @param {{moved: any, op: string | null}} now @returns {PlayStop | null} */
export function reached(stops, before, now) {
  const went = before.moved?.at !== now.moved.at;
  return stops.find((s) => (s.kind === "op" ? now.op === s.scope && now.moved.phase === s.phase && (went || before.op !== now.op) : went && came(s, before.moved, now.moved))) ?? null;
}

/** @param {PlayStop} stop @param {any} before @param {any} now */
function came(stop, before, now) {
  if (stop.kind === "step") return now.phase === stop.phase && now.step === stop.step && now.stage === "";
  if (stop.kind === "stage") return now.phase === stop.phase && ran(before, now).includes(stop.stage);
  if (stop.kind === "token") return now.requests.some((/** @type {any} */ r, /** @type {number} */ b) => written(r).slice(written(before?.requests[b]).length).includes(stop.token));
  return stop.kind === "loss" && beyond(stop, now) && !beyond(stop, before);
}

/** The stages that ran between the two. @param {any} before @param {any} now @returns {string[]} */
function ran(before, now) {
  const names = now.stages.filter((/** @type {any} */ s) => s.ms !== null).map((/** @type {any} */ s) => s.name);
  return before?.stage && before.phase === now.phase && names.includes(before.stage) ? names.slice(names.indexOf(before.stage) + 1) : names;
}

/** @param {any} request @returns {number[]} */
const written = (request) => (request?.target ?? []).filter((/** @type {any} */ r) => r.origin === "model" || r.origin === "chosen").map((/** @type {any} */ r) => r.id);

/** @param {{side: string, value: number}} stop @param {any} moved */
function beyond(stop, moved) {
  const loss = moved?.train?.loss ?? null;
  return loss !== null && (stop.side === "below" ? number(loss) < stop.value : number(loss) > stop.value);
}
