// @ts-check
/** The run in the address: "#s=" and packed JSON (app/session/link.py). */

import { msg } from "../language.mjs";

const START = "#s=";
/** What this page reads: "v" of the content (app/session/telling.py). */
const VERSION = 1;
/** A longer content is not read. */
const LARGEST = 1 << 20;

/** @param {string} fragment */
export const isLink = (fragment) => fragment.startsWith(START);

/** What a link holds: {v, scenario, log, view}. Throws an Error with a sentence for a person when it cannot be read.
 * @param {string} fragment @returns {Promise<{scenario: any, log?: any[], view?: any}>} */
export async function unpack(fragment) {
  let content;
  try {
    const text = atob(fragment.slice(START.length).replaceAll("-", "+").replaceAll("_", "/"));
    const raw = await inflate(Uint8Array.from(text, (c) => c.charCodeAt(0)));
    content = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(raw));
    if (!content || typeof content !== "object" || !content.scenario) throw new Error("no scenario");
  } catch {
    throw new Error(msg`This link cannot be read: it is cut or damaged. Copy it again, whole, or start from an example.`);
  }
  const version = [content.v, content.scenario.version].find((v) => v !== undefined && v !== VERSION) ?? VERSION;
  if (version !== VERSION) throw new Error(msg`This link comes from a newer Lookback: it has version ${String(version).slice(0, 20)}, this page reads version ${VERSION}. Open it where it was made, or start from an example.`);
  return content;
}

/** @param {Uint8Array<ArrayBuffer>} bytes */
async function inflate(bytes) {
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate")).getReader();
  /** @type {Uint8Array[]} */
  const parts = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > LARGEST) throw new Error(msg`it is too large`);
    parts.push(value);
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
