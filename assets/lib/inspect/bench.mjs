// @ts-check
/** What the bench holds: its limits, its shape, what is pasted into it, and how a link carries it. Pure. */

import { msg } from "../language.mjs";
import { visible } from "../setup/tokens.mjs";

/** @typedef {import("../../bench/read.mjs").Bench} Bench */

export const MOST = { rows: 32, width: 64 };
export const LARGEST = 1e6;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const START = "#b=";
/** A longer link is not read. */
const LONGEST = 200_000;

/** @param {string} typed @returns {number | null} null: no number that is allowed */
export function number(typed) {
  const given = typed.trim().replace("−", "-");
  const value = NUMBER.test(given) ? Number(given) : NaN;
  return Math.abs(value) <= LARGEST ? value : null;
}

/** Of what is not a number. @param {string} name of the place @param {string} given */
export const refusal = (name, given) => given.trim() === ""
  ? msg`${name} is empty; allowed: a number from −1,000,000 to 1,000,000. The number before it stays in force.`
  : msg`${name} was given ${visible(given.trim().slice(0, 24))}; allowed: a number from −1,000,000 to 1,000,000. The number before it stays in force.`;

/** Another number of rows or numbers in a row: what there was stays, what is new is 0. @param {Bench} b @param {number} rows @param {number} keys @param {number} wide @returns {Bench} */
export function resized(b, rows, keys, wide) {
  const line = (/** @type {number[]} */ l, /** @type {number} */ n) => Array.from({ length: n }, (_, i) => l[i] ?? 0);
  const block = (/** @type {number[][]} */ m, /** @type {number} */ n) => Array.from({ length: rows }, (_, j) => line(m[j] ?? [], n));
  const values = b.kind === "h" ? keys : wide;
  return {
    ...b, q: line(b.q, keys), K: block(b.K, keys), V: block(b.V, values), g: line(b.g, values), typed: line(b.typed, rows),
    names: Array.from({ length: rows }, (_, j) => b.names[j] ?? msg`row ${j}`), hidden: Array.from({ length: rows }, (_, j) => b.hidden[j] ?? false),
  };
}

/** Whether a row has a name beyond its number. Pure. @param {Bench} b @param {number} j */
export const isNamed = (b, j) => !["", msg`row ${j}`, `row ${j}`].includes(b.names[j].trim());

/** Numbers out of a spreadsheet, a Python list, a NumPy print: lines of numbers. Where something else stands among them, or a line is longer
 * than another, there are none, and `why` is a sentence.
 * @param {string} text @returns {{rows: number[][], why: string}} */
export function pasted(text) {
  /** @type {number[][]} */
  const rows = [];
  const lines = text.replace(/\b(?:array|tensor)\(|[()]/g, " ").replace(/\]\s*,?\s*\[/g, "\n").replace(/[[\]]/g, " ").split(/[\n;]/);
  for (const line of lines) {
    const parts = line.trim().split(/[\s,]+/).filter(Boolean);
    const found = parts.map(number);
    const wrong = found.indexOf(null);
    if (wrong >= 0) return { rows: [], why: refusal(msg`The pasted text`, parts[wrong]) };
    if (parts.length) rows.push(/** @type {number[]} */ (found));
  }
  const ragged = rows.findIndex((row) => row.length !== rows[0].length);
  if (ragged >= 0) return { rows: [], why: msg`The pasted text has ${rows[ragged].length} numbers in row ${ragged}; allowed: ${rows[0].length}, as in row 0. Nothing was changed.` };
  return { rows, why: rows.length ? "" : refusal(msg`The pasted text`, text) };
}

/** @param {Bench} b @returns {string} */
export function pack(b) {
  const bytes = new TextEncoder().encode(JSON.stringify({ v: 1, ...b }));
  return START + btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** @param {string} fragment */
export const isBench = (fragment) => fragment.startsWith(START);

/** What a link holds. Throws an Error with a sentence for a person. @param {string} fragment @returns {Bench} */
export function unpack(fragment) {
  let found;
  try {
    if (fragment.length > LONGEST) throw new Error(msg`it is too large`);
    const text = atob(fragment.slice(START.length).replaceAll("-", "+").replaceAll("_", "/"));
    found = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(text, (c) => c.charCodeAt(0))));
  } catch (error) {
    throw new Error(msg`This link cannot be read (${error instanceof Error ? error.message : String(error)}). Copy it again, whole, or start from an example.`);
  }
  const problem = whatIsWrong(found);
  if (problem) throw new Error(msg`This link holds no read: ${problem}. Copy it again, whole, or start from an example.`);
  const { kind, mode, names, q, K, V, typed, hidden, enters, g, from } = found;
  return { kind, mode, names, q, K, V, typed, hidden, ...(enters ? { enters } : {}), g, ...(from ? { from } : {}) };
}

/** What is wrong with plain data that should be a bench; "" if nothing. @param {any} b */
function whatIsWrong(b) {
  const numbers = (/** @type {any} */ l, /** @type {number} */ n) => Array.isArray(l) && l.length === n && l.every((x) => typeof x === "number" && Math.abs(x) <= LARGEST);
  const rows = b?.names?.length, keys = b?.q?.length, wide = b?.g?.length;
  const list = (/** @type {any} */ l, /** @type {(x: any) => boolean} */ good) => Array.isArray(l) && l.length === rows && l.every(good);
  if (!b || b.v !== 1) return "v";
  if (!["kv", "h"].includes(b.kind)) return "kind";
  if (!["dot", "scaled_dot", "supplied"].includes(b.mode)) return "mode";
  if (!(rows >= 1 && rows <= MOST.rows) || !list(b.names, (x) => typeof x === "string" && x.length <= 60)) return "names";
  if (!(keys >= 1 && keys <= MOST.width) || !numbers(b.q, keys)) return "q";
  if (!(wide >= 1 && wide <= MOST.width) || !numbers(b.g, wide) || (b.kind === "h" && wide !== keys)) return "g";
  if (!list(b.K, (x) => numbers(x, keys))) return "K";
  if (!list(b.V, (x) => numbers(x, wide))) return "V";
  if (!numbers(b.typed, rows)) return "typed";
  if (!["additive", "multiply", "renormalise", undefined].includes(b.enters)) return "enters";
  const count = (/** @type {any} */ x) => Number.isInteger(x) && x >= 0;
  const { weights = null, output = null, of = null, unknown = 0, gathered = 0, wide: width = 0 } = b.from ?? {};
  if ((weights && !numbers(weights, rows)) || (output && !numbers(output, wide)) || (of && !(Array.isArray(of) && of.length === 2 && of.every(count))) || ![unknown, gathered, width].every(count)) return "from";
  return list(b.hidden, (x) => typeof x === "boolean") ? "" : "hidden";
}
