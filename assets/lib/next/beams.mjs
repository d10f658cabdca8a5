// @ts-check
/** The tree of a beam search: where its hypotheses lie, which of them goes on, and what is said of each. Pure. */

import { msg } from "../language.mjs";
import * as read from "../reads.mjs";
import { figure, number, requestName, shown } from "../words.mjs";

/** @typedef {import("../types").World} World */
/** One hypothesis after a step. row: of the step, those that are kept first; on: it lies on the way to the one that is looked at; alive: something of the
 * newest step goes on from it; stays: it had ended before.
 * @typedef {{step: number, row: number, token: string, parent: number, kept: boolean, stays: boolean, logP: number, score: number, on: boolean, alive: boolean}} Twig */
/** @typedef {{twigs: Twig[][], rows: number, winner: number | null, width: number}} Tree */

/** Whether a beam decides. @param {World} world */
export const searches = (world) => world.opened?.scenario?.policy?.kind === "beam" && read.phase(world) === "decode";

/** Whether its tree stands where the map stands otherwise. @param {World} world */
export const treeShown = (world) => searches(world) && world.look.tree;

/** The tokens with which the next step keeps a hypothesis; null: no beam decides. @param {World} world @param {number} row @returns {number[] | null} */
export const ahead = (world, row) => (searches(world) ? (world.moved?.beams?.ahead[row] ?? []) : null);

/** @param {World} world @param {number} dropped how many of a step's dropped ones are shown @returns {Tree | null} */
export function tree(world, dropped) {
  const beams = world.moved?.beams;
  if (!beams) return null;
  const words = world.opened.vocabulary.target;
  const twigs = beams.steps.map((/** @type {any} */ s, /** @type {number} */ step) =>
    s.tokens.slice(0, s.kept + dropped).map((/** @type {number} */ token, /** @type {number} */ row) => ({
      step, row, token: token < 0 ? "" : (words[token] ?? String(token)), parent: s.parents[row], kept: row < s.kept, stays: token < 0,
      logP: number(s.log_p[row]), score: number(s.scores[row]), on: false, alive: false,
    })));
  mark(twigs, read.request(world));
  return { twigs, rows: beams.width + dropped, winner: beams.winner, width: beams.width };
}

/** @param {Twig[][]} twigs @param {number} looked row of the newest step that is looked at */
function mark(twigs, looked) {
  const last = twigs.length - 1;
  if (last < 0) return;
  twigs[last].forEach((t) => (t.alive = t.kept));
  for (let step = last; step > 0; step--) for (const t of twigs[step]) if (t.alive) twigs[step - 1][t.parent].alive = true;
  for (let step = last, row = looked; step >= 0; step--) {
    const twig = twigs[step][row];
    if (!twig) return;
    twig.on = true;
    row = twig.parent;
  }
}

/** The words of a kept hypothesis. @param {Tree} of @param {number} row of the newest step */
export function text(of, row) {
  const words = [];
  for (let step = of.twigs.length - 1; step >= 0; step--) {
    const twig = of.twigs[step][row];
    if (twig.token) words.unshift(shown(twig.token));
    row = twig.parent;
  }
  return words.join(" ");
}

/** The score as a formula, with its α. @param {number} alpha */
export const formula = (alpha) => (alpha ? msg`score = log P / ((5 + |Y|) / 6)^${alpha}; |Y| counts <eos> (Wu et al. 2016)` : msg`score = log P: no length penalty (α 0)`);

/** Under the list: what Step does with the hypothesis that is looked at. @param {World} world @param {any} view */
export function outcome(world, view) {
  const beams = world.moved?.beams;
  const row = read.request(world);
  if (!beams) return "";
  if (beams.winner !== null) return row === beams.winner ? msg`It has the best score: the answer of the beam.` : msg`Hypothesis ${requestName(beams.winner)} has a better score.`;
  if (view?.finished) return msg`This hypothesis has ended and keeps its place.`;
  const next = beams.ahead[row] ?? [];
  const words = next.map((/** @type {number} */ id) => shown(world.opened.vocabulary.target[id] ?? "")).join(", ");
  return next.length ? msg`Step keeps it with ${words}.` : msg`Step drops it: continuations of others are more probable.`;
}



/** @param {number} value */
export const nats = (value) => figure(value, 2);
