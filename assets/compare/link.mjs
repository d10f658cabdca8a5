// @ts-check
/** A comparison in the address. Pure. */

import { msg } from "../lib/language.mjs";
import { taskOf } from "./asked.mjs";

const START = "#c=";
export const FEWEST = 2;
export const MOST = 4;

/** configs: of each model the fields that differ from its defaults; weights: what training begins with; training: how it differs from the defaults.
 * @typedef {{task: string, models: string[], configs: Record<string, any>[], weights: "trained" | "random", source: any[] | null, target: any[], seed: number, lead: "own" | "first", phase: "train" | "prefill" | "decode", training?: Record<string, any>}} Comparison */

/** @param {Comparison} c */
export function pack(c) {
  const bytes = new TextEncoder().encode(JSON.stringify({ v: 1, ...c }));
  return START + btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** @param {string} fragment */
export const isComparison = (fragment) => fragment.startsWith(START);

/** What a link holds. Throws an Error with a sentence for a person.
 * @param {string} fragment @param {{architectures: any[], tasks: any[]}} catalogue @returns {Comparison} */
export function unpack(fragment, catalogue) {
  let c;
  try {
    const text = atob(fragment.slice(START.length, START.length + 100_000).replaceAll("-", "+").replaceAll("_", "/"));
    c = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(text, (x) => x.charCodeAt(0))));
  } catch (error) {
    throw new Error(msg`This link cannot be read (${error instanceof Error ? error.message : String(error)}). Copy it again, whole, or start from an example.`);
  }
  const wrong = whatIsWrong(c, catalogue);
  if (wrong) throw new Error(msg`This link holds no comparison: ${wrong}. Copy it again, whole, or start from an example.`);
  return { task: c.task, models: c.models, configs: c.configs ?? c.models.map(() => ({})), weights: c.weights === "random" ? "random" : "trained", source: c.source ?? null, target: c.target ?? [], seed: c.seed ?? 7, lead: c.lead === "first" ? "first" : "own", phase: c.phase === "train" || c.phase === "prefill" ? c.phase : "decode", ...(c.training ? { training: c.training } : {}) };
}

/** @param {any} c @param {{architectures: any[], tasks: any[]}} catalogue */
function whatIsWrong(c, { architectures, tasks }) {
  if (!c || c.v !== 1) return "v";
  if (!tasks.some((t) => t.id === c.task)) return msg`task ${String(c.task).slice(0, 40)}`;
  if (!Array.isArray(c.models) || c.models.length < FEWEST || c.models.length > MOST) return msg`${FEWEST} to ${MOST} models are allowed`;
  for (const id of c.models) {
    const found = architectures.find((a) => a.id === id);
    if (!found) return msg`architecture ${String(id).slice(0, 40)}`;
    const why = apart(found, c.task, tasks);
    if (why) return why;
  }
  const fields = (/** @type {any} */ f) => f !== null && typeof f === "object" && !Array.isArray(f);
  if (c.configs !== undefined && !(Array.isArray(c.configs) && c.configs.length === c.models.length && c.configs.every(fields))) return "configs";
  if (c.training !== undefined && !fields(c.training)) return "training";
  const words = (/** @type {any} */ l) => l === null || l === undefined || (Array.isArray(l) && l.every((t) => typeof t === "string" || typeof t?.special === "string"));
  return words(c.source) && words(c.target) ? "" : "source, target";
}

/** Why this model cannot share the input of a task; "" if it can.
 * @param {any} architecture @param {string} task @param {any[]} tasks */
export function apart(architecture, task, tasks) {
  if (!architecture.phases.includes("decode")) return msg`${architecture.name} does not write: it has no decode phase`;
  if (taskOf(architecture, task, tasks)) return "";
  const names = architecture.tasks.map((/** @type {string} */ id) => tasks.find((t) => t.id === id)?.name ?? id).join(", ");
  return msg`${architecture.name} cannot share this input: it learns ${names}`;
}
