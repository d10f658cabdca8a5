// @ts-check
/** The prompt that is looked at, as it is cut: its rows, the characters that they make, the merges that made them. Pure. */

import { given } from "../deck/blocks.mjs";
import * as read from "../reads.mjs";
import { charactersOf, cutterOf } from "./together.mjs";
import { SPECIALS } from "./tokens.mjs";

/** @typedef {import("../types").World} World @typedef {import("./tokens.mjs").Token} Token */
/** A piece as it stands: what the model is given, and what was typed where that is unknown. @typedef {{token: string, id: number, special: boolean, unknown: string | null, fresh?: boolean}} Piece */

/** Whether the pieces are what there is to see: nothing is read yet. @param {World} world */
export const cutShown = (world) => !!world.opened?.task?.tokenizer && read.phase(world) === "prefill" && !world.moved?.step;

/** The rows that were typed, <bos> left out. @param {World} world @returns {Piece[]} */
function typed(world) {
  const rows = (read.requestView(world)?.target ?? []).filter((/** @type {any} */ r) => r.state !== "padded" && given(r)).slice(1);
  return rows.map((/** @type {any} */ r) => ({ token: r.token, id: r.id, special: r.origin === "special", unknown: r.text }));
}

/** What is typed, as tokens: an unknown word as it was typed. @param {Piece[]} pieces @returns {Token[]} */
const tokens = (pieces) => pieces.map((p) => (p.special ? { special: p.token } : (p.unknown ?? p.token)));

/** Characters among the target rows that several pieces make: where they begin and end. @param {World} world @param {any[]} rows */
export function several(world, rows) {
  const cut = cutterOf(world.opened);
  if (cut?.kind !== "byte" && cut?.kind !== "bpe") return [];
  return charactersOf(rows.map((r) => (r.origin === "special" || r.id < SPECIALS.length ? { special: r.token } : r.token)), cut).filter((c) => c.to - c.from > 1);
}

/** All of it. With byte pairs the pieces are those after the merge that is looked at.
 * @param {World} world @returns {{pieces: Piece[], characters: import("./pieces.mjs").Character[], steps: import("./pieces.mjs").Step[], at: number, text: string}} */
export function cutting(world) {
  const [cut, all] = [cutterOf(world.opened), typed(world)];
  const strings = /** @type {string[]} */ (tokens(all).filter((t) => typeof t === "string"));
  const steps = cut?.kind === "bpe" && strings.length === all.length ? cut.steps(strings) : [];
  const at = Math.min(world.look.merge ?? Infinity, steps.length);
  const pieces = at < steps.length ? before(world, steps, at, cut?.again(strings) ?? []) : all;
  return { pieces, characters: charactersOf(tokens(pieces), cut), steps, at, text: cut?.text(strings) ?? "" };
}

/** The pieces after so many of the merges; before the first they are bytes.
 * @param {World} world @param {import("./pieces.mjs").Step[]} steps @param {number} at @param {string[]} whole @returns {Piece[]} */
function before(world, steps, at, whole) {
  const { target, specials } = world.opened.vocabulary;
  const ids = new Map(target.map((/** @type {string} */ word, /** @type {number} */ i) => [word, i]));
  const now = at ? steps[at - 1].pieces : (cutterOf(world.opened)?.bytes(whole) ?? []);
  const made = at ? steps[at - 1].piece : null;
  return now.map((token) => ({ token, id: Math.max(specials.target.length, ids.get(token) ?? 0), special: false, unknown: null, fresh: token === made }));
}
