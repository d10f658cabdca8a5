// @ts-check
/** What the tokenizer did, in one sentence. Pure. */

import { counted, msg, parts } from "../language.mjs";
import { cutting } from "../setup/cut.mjs";
import { cutterOf } from "../setup/together.mjs";
import { number } from "../words.mjs";
import { part, token, told } from "./states.mjs";

/** @typedef {import("../types").World} World @typedef {import("./states.mjs").Part} Part */

/** @param {World} world @returns {Part[]} */
export function cut(world) {
  const { pieces, characters, steps, at, text } = cutting(world);
  if (!pieces.length) return [part(msg`Pieces: there is no text. The model begins with <bos> alone.`)];
  if (at < steps.length) return merge(steps, at);
  const written = part(counted([...text].length, "{0} character", "{0} characters"), "d");
  const all = part(counted(pieces.length, "{0} piece", "{0} pieces"), "q");
  const unknown = [...new Set(pieces.flatMap((p) => p.unknown ?? []))];
  if (unknown.length) return told(parts`Pieces: ${all}; ${token(unknown[0], "d")} is not in the vocabulary and becomes <unk>${unknown.length > 1 ? msg`, like ${unknown.length - 1} more` : ""}.`);
  const long = characters.find((c) => c.to - c.from > 1 && c.whole);
  if (cutterOf(world.opened)?.kind === "bpe") return told(parts`Pieces: ${written} became ${all} by ${part(counted(steps.length, "{0} merge", "{0} merges"), "p")}. Step reads their ids.`);
  if (long) return told(parts`Pieces: ${written} are ${all}; ${token(long.text, "d")} alone takes ${String(long.to - long.from)}. Step reads their ids.`);
  return told(parts`Pieces: ${written} became ${all}. Step reads their ids.`);
}

/** @param {import("../setup/pieces.mjs").Step[]} steps @param {number} at @returns {Part[]} */
function merge(steps, at) {
  if (!at) return told(parts`Before the first merge every piece is a byte. ${String(steps.length)} merges follow.`);
  const { left, right, piece, seen, times, number: rank } = steps[at - 1];
  const joined = counted(times, "once", "{0} times");
  return told(parts`Merge ${String(at)} of ${String(steps.length)}: ${token(left, "q")} and ${token(right, "q")} become ${token(piece, "d")}, here ${joined}. It was learned as number ${String(rank)}: they were neighbours ${number(seen).toLocaleString("en")} times.`);
}
