// @ts-check
/** Files in and out: naming and saving them, and reading a scenario file with one clear sentence for each thing that it may not be. */

import { h } from "../dom.mjs";
import { msg } from "../language.mjs";

/** @typedef {import("../types").World} World */

/** A larger file is not read, bytes (app/server/http.py). */
export const LARGEST = 1 << 20;
/** The newest form of a scenario file that this page reads. */
const VERSION = 1;

/** "lookback-decode-3", with what else names it. @param {World} world @param {string} [what] */
export function fileName(world, what = "") {
  const { moved } = world;
  const step = moved ? `${moved.phase}-${moved.phase === "train" ? (moved.train?.update ?? moved.step) : moved.step}` : "";
  return ["lookback", what, step].filter(Boolean).join("-");
}

/** Let the browser save something. @param {string} name @param {Blob | string} content a blob, or an address of this server */
export function save(name, content) {
  const address = typeof content === "string" ? content : URL.createObjectURL(content);
  const link = h("a", { href: address, download: name, hidden: true });
  document.body.append(link);
  link.click();
  link.remove();
  if (typeof content !== "string") setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** @param {string} name @param {any} content */
export const saveJson = (name, content) => save(name, new Blob([`${JSON.stringify(content, null, 1)}\n`], { type: "application/json" }));

/** What a scenario file holds. Throws an Error with a sentence that names the file, what is wrong and what is allowed.
 * @param {string} name @param {Uint8Array} bytes @param {number} [size] of the whole file, where `bytes` are only its beginning
 * @returns {{scenario: any, log: any[], view: any, size: number}} */
export function readScenario(name, bytes, size = bytes.length) {
  const wrong = (/** @type {string} */ why) => new Error(msg`“${shorten(name)}” is no scenario file of Lookback: ${why} Nothing was changed.`);
  const begin = new TextDecoder().decode(bytes.subarray(0, 64));
  if (isRecording(bytes)) throw wrong(msg`it is a recording.`);
  if (/^\s*<(!doctype|html)/i.test(begin)) throw wrong(msg`it is a web page (a replay opens by itself).`);
  if (!size) throw wrong(msg`it is empty.`);
  if (size > LARGEST) throw wrong(msg`it has ${size.toLocaleString("en")} bytes; allowed: ${LARGEST.toLocaleString("en")}.`);
  const content = parsed(textOf(bytes, wrong), wrong);
  if (!content || typeof content !== "object" || Array.isArray(content)) throw wrong(msg`its JSON is no object.`);
  const scenario = "scenario" in content ? content.scenario : "architecture" in content ? content : null;
  if (!scenario || typeof scenario !== "object") throw wrong(msg`its JSON holds no scenario.`);
  const version = Math.max(Number(content.v ?? VERSION), Number(scenario.version ?? VERSION));
  if (version > VERSION) throw wrong(msg`a newer one made it (form ${version}; allowed: ${VERSION}).`);
  return { scenario, log: content.scenario && content.log !== undefined ? content.log : [], view: content.view ?? {}, size };
}

/** @param {Uint8Array} bytes @param {(why: string) => Error} wrong */
function textOf(bytes, wrong) {
  try {
    if (bytes[0] === 0xff || bytes[0] === 0xfe || bytes.includes(0)) throw new RangeError("UTF-16 or binary");
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw wrong(msg`it is not text in UTF-8.`);
  }
}

/** @param {string} text @param {(why: string) => Error} wrong */
function parsed(text, wrong) {
  try {
    return JSON.parse(text);
  } catch {
    throw wrong(/^\s*[{[]/.test(text) && !/[}\]]\s*$/.test(text) ? msg`it ends too early, as if it were cut.` : msg`it is not JSON.`);
  }
}

/** The safetensors layout: a length, then the header's brace. @param {Uint8Array} bytes */
function isRecording(bytes) {
  if (bytes.length < 9 || bytes[8] !== 0x7b) return false;
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(4, true) === 0;
}

/** @param {string} name */
const shorten = (name) => (name.length > 40 ? `${name.slice(0, 37)}…` : name);
