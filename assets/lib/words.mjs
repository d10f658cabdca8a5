// @ts-check
/** How numbers, tokens, requests and tap paths are written. Pure; every view says them the same way. */

import { msg } from "./language.mjs";

export { visible as shown } from "./setup/tokens.mjs";

/** A number of an event: not-a-number and infinities travel as text.
 * @param {any} value @returns {number} */
export function number(value) {
  if (typeof value === "number") return value;
  return value === "Infinity" ? Infinity : value === "-Infinity" ? -Infinity : NaN;
}

/** A measured value, short: "0.848", "12.3", "3.1e-5", "−0.07", "0", "NaN", "∞".
 * @param {number} value @param {number} [digits] after the point */
export function figure(value, digits = 3) {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size < 0.5 * 10 ** -digits || size >= 100000) return minus(value.toExponential(1).replace(".0e", "e").replace("e+", "e"));
  return minus(value.toFixed(size >= 1000 ? 0 : size >= 100 ? Math.min(1, digits) : size >= 10 ? Math.min(2, digits) : digits));
}

/** @param {string} text */
const minus = (text) => text.replace(/^-/, "−");

/** A figure in about four characters: the zero before the point goes, and what would be 0 with three digits says so. Pure. @param {number} v */
export function compact(v) {
  if (v === 0 || !Number.isFinite(v)) return figure(v);
  const size = Math.abs(v);
  const said = size < 0.0005 ? "0" : size < 0.01 ? v.toFixed(3) : size < 1 || (v > 0 && size < 10) ? v.toFixed(2) : size < 10 ? v.toFixed(1) : size < 1000 ? v.toFixed(0) : figure(v, 1);
  return said === "0" ? "≈0" : said.replace("-", "−").replace(/^(−?)0\./, "$1.");
}

/** A probability, that never says 1 or 0 for what is not: "0.861", ">0.999", "3.1e-5".
 * @param {number} value @param {number} [digits] */
export function probability(value, digits = 3) {
  const almost = 1 - 0.5 * 10 ** -digits;
  return value < 1 && value >= almost ? `>${(1 - 10 ** -digits).toFixed(digits)}` : figure(value, digits);
}

/** A share as a percentage, without ever calling a part nothing or everything: "85%", "<1%", "99.8%", ">99.9%", "0%".
 * @param {number} share */
export function percent(share) {
  if (!Number.isFinite(share)) return "NaN";
  const rounded = Math.round(share * 100);
  if (rounded === 0 && share > 0) return "<1%";
  if (rounded === 100 && share < 1 - 1e-6) return share < 0.9995 ? `${(share * 100).toFixed(1)}%` : ">99.9%";
  return `${rounded}%`;
}

/** A text on one line: of a word that is longer than a line holds, its beginning and an ellipsis. What closes it (a quotation mark, a full
 * stop) stays. @param {string} text */
export const brief = (text) => text.replace(/(\S{32})(?:\S{7,}[^\s”»"').,;:]|\S{8,})/gu, "$1…");

/** @param {string} value with a letter in front */
export const capital = (value) => value[0].toUpperCase() + value.slice(1);

/** Bytes in binary units: "512 B", "9.0 KiB".
 * @param {number} count */
export function bytes(count) {
  if (count < 1024) return `${count} B`;
  const power = Math.min(3, Math.floor(Math.log2(count) / 10));
  return `${(count / 1024 ** power).toFixed(1)} ${["B", "KiB", "MiB", "GiB"][power]}`;
}

/** A measured time: "0.42 ms", "5.1 ms", "120 ms", "1.2 s".
 * @param {number} value in ms */
export function duration(value) {
  if (value >= 1000) return `${(value / 1000).toFixed(1)} s`;
  return `${value.toFixed(value >= 100 ? 0 : value >= 1 ? 1 : 2)} ms`;
}

/** An age in words that a person would use: "4 s", "3 min", "2 h".
 * @param {number} ms */
export function age(ms) {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}

/** A row by its number and its token; a row of features that has no other name than its number says that once.
 * @param {number} row @param {string} token */
export const rowWords = (row, token) => (token === String(row) ? token : `${row} ${token}`.trim());

/** Requests and sequences are named by letters: A, B, ... Z, then R26, ...
 * @param {number} index */
export const requestName = (index) => (index < 26 ? String.fromCharCode(65 + index) : `R${index}`);

/** A tap scope as a chip says it: "decoder.layer0.self" is "L1 self", "encoder.layer1.ffn" beside a decoder "enc L2 ffn".
 * @param {string} path @param {boolean} [stack] name the stack that the layer belongs to */
export function opName(path, stack = false) {
  const parts = path.split(".");
  const at = parts.findIndex((p) => /^layer\d+$/.test(p));
  if (at < 0) return parts.length < 2 ? path : stack ? `${parts[0].slice(0, 3)} ${parts.slice(1).join(" ")}` : parts.slice(1).join(" ");
  const layer = `L${Number(parts[at].slice(5)) + 1}`;
  const before = stack && at > 0 ? `${parts[0].slice(0, 3)} ` : "";
  return [before + layer, ...parts.slice(1, at), ...(at === parts.length - 1 ? ["state"] : parts.slice(at + 1))].join(" "); // alone, a layer is what a loop carries
}

/** Whether these paths belong to more than one stack (encoder and decoder), so that their names must say which.
 * @param {string[]} paths */
export const severalStacks = (paths) => new Set(paths.filter((p) => p.includes(".layer")).map((p) => p.slice(0, p.indexOf(".layer")))).size > 1;

/** The last part of a path: what a tap is called inside its scope.
 * @param {string} path */
export const leaf = (path) => path.slice(path.lastIndexOf(".") + 1);
/** The scope that a path lies in, "" at the top. @param {string} path */
export const above = (path) => path.slice(0, Math.max(0, path.lastIndexOf(".")));

/** What an axis letter means; a prime is the key side of the same rows.
 * @param {string} axis */
export function axisName(axis) {
  /** @type {Record<string, string>} */
  const names = {
    b: msg`request`, s: msg`source row`, t: msg`target row`, h: msg`head`, g: msg`key-value head`, v: msg`vocabulary entry`, n: msg`state`, d: msg`model width`,
    f: msg`feed-forward width`, out: msg`output`, in: msg`input`, entry: msg`entry`, width: msg`width`, e: msg`head width`, a: msg`alignment width`,
    y: msg`image row`, x: msg`image column`, c: msg`channel`, one: msg`single number`, r: msg`hop`, i: msg`tile of keys`, j: msg`tile of source keys`,
  };
  const prime = axis.endsWith("'");
  const name = names[prime ? axis.slice(0, -1) : axis] ?? axis;
  return prime ? msg`key: ${name}` : name;
}

/** A relation as a button says it. @param {string} name "source_self" @returns {string} */
export function relationName(name) {
  const known = /** @type {Record<string, string>} */ ({ source_self: msg`source self`, target_self: msg`target self`, cross: msg`cross`, hops: msg`hops`, memory: msg`memory` });
  return known[name] ?? name.replaceAll("_", " ");
}
