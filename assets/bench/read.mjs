// @ts-check
/** One read in 64-bit numbers: scores, mask, exp, weights, values; and its derivatives. Pure.
 *
 *   s_j = q . k_j (or / sqrt(d_k), or typed)    e_j = exp(s_j - m), m the largest open score    w_j = e_j / sum e
 *   z = sum_j w_j v_j        dw_i / ds_j = w_i (1[i=j] - w_j)        dL / ds_j = w_j (g . v_j - g . z),  g = dL / dz
 *
 * Where the mask is multiplied after the softmax (R_j = 1, or 0 where row j is masked) all rows are in the sum:
 *
 *   p_j = e_j / sum over all e    w_j = p_j R_j    dw_i / ds_j = R_i p_i (1[i=j] - p_j)    dL / ds_j = p_j (R_j g . v_j - g . z)
 *
 * and divided by what is left of them (renormalise) the weights and derivatives are the first ones again.
 *
 * Sources: 000 0x04B-0x04C and 0x08B-0x08C; models/parts/read.py is the server's own, and the page compares the two. */

/** @typedef {"dot" | "scaled_dot" | "supplied"} Mode */
/** @typedef {"additive" | "multiply" | "renormalise"} Enters where the mask enters */
/** @typedef {{weights?: number[], output?: number[], gathered?: number, wide?: number, of?: [number, number], unknown?: number}} From a run: weights and output
 * that it recorded; how many of its keys are not here, since the last rows stand for several; how wide a value was, where the bench holds less; of a
 * tensor its rows and columns, and how many of its numbers were not computed */

/**
 * @typedef {object} Bench what a person has typed
 * @property {"kv" | "h"} kind keys and values apart, or one memory H that is both
 * @property {Mode} mode
 * @property {string[]} names of the rows
 * @property {number[]} q @property {number[][]} K @property {number[][]} V @property {number[]} typed scores
 * @property {boolean[]} hidden masked rows @property {Enters} [enters] additive if left out
 * @property {number[]} g d loss / d z
 * @property {From} [from] what it was in a run, until a number is changed
 */

/**
 * @typedef {object} Read
 * @property {number[]} dots q . k of every row, hidden rows too @property {number[]} scores before the mask
 * @property {number} top the largest score of the sum @property {number[]} exps 0 where hidden before the softmax @property {number} sum of them
 * @property {number[]} shares exp / sum @property {number} left the sum of the shares that are not hidden
 * @property {number[]} weights all 0 where every row is hidden @property {number[]} z @property {number} loss g . z
 */

/** @param {number[]} a @param {number[]} b */
export const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);

/** What the weights are of. @param {Bench} b */
export const values = (b) => (b.kind === "h" ? b.K : b.V);

/** What q . k is divided by. @param {Bench} b */
export const divisor = (b) => (b.mode === "scaled_dot" ? Math.sqrt(b.q.length) : 1);

/** @param {Bench} b @param {number[]} [scores] others than what q and K give @returns {Read} */
export function read(b, scores) {
  const dots = b.K.map((k) => dot(b.q, k));
  const s = scores ?? (b.mode === "supplied" ? b.typed : dots.map((x) => x / divisor(b)));
  const summed = s.map((_, j) => late(b) || !b.hidden[j]);
  const top = Math.max(...s.filter((_, j) => summed[j]));
  const exps = s.map((x, j) => (summed[j] ? Math.exp(x - top) : 0));
  const sum = exps.reduce((a, x) => a + x, 0);
  const shares = exps.map((x) => (sum ? x / sum : 0));
  const seen = shares.map((p, j) => (b.hidden[j] ? 0 : p)), left = seen.reduce((a, p) => a + p, 0);
  const weights = b.enters === "renormalise" ? seen.map((p) => (left ? p / left : 0)) : seen;
  const z = b.g.map((_, c) => weights.reduce((a, w, j) => a + w * values(b)[j][c], 0));
  return { dots, scores: s, top, exps, sum, shares, left, weights, z, loss: dot(b.g, z) };
}

/** Whether hidden rows are in the sum of the softmax. @param {Bench} b */
export const late = (b) => b.enters === "multiply" || b.enters === "renormalise";

/** What the weights move with, as they are a softmax of it: of the open rows, or of all. @param {Bench} b @param {Read} r */
const moving = (b, r) => (b.enters === "multiply" ? r.shares : r.weights);

/** d weight_i / d score_j. @param {Bench} b @param {Read} r @returns {number[][]} */
export const jacobian = (b, r) => r.weights.map((a, i) => moving(b, r).map((p, j) => a * (Number(i === j) - p)));

/** d loss / d of everything. @param {Bench} b @param {Read} r */
export function derivatives(b, r) {
  const scores = moving(b, r).map((p, j) => p * ((b.hidden[j] ? 0 : dot(b.g, values(b)[j])) - r.loss));
  const part = b.mode === "supplied" ? 0 : 1 / divisor(b);
  return {
    scores,
    values: r.weights.map((w) => b.g.map((x) => w * x)),
    q: b.q.map((_, c) => part * scores.reduce((a, s, j) => a + s * b.K[j][c], 0)),
    keys: scores.map((s) => b.q.map((x) => part * s * x)),
  };
}

/** d loss / d score_j by two reads either side of it. @param {Bench} b @param {Read} r @param {number} j */
export function byDifference(b, r, j) {
  if (b.hidden[j] && b.enters !== "multiply") return 0;
  const step = 1e-5 * Math.max(1, Math.abs(r.scores[j]));
  const at = (/** @type {number} */ by) => read(b, r.scores.map((s, i) => (i === j ? s + by : s))).loss;
  return (at(step) - at(-step)) / (2 * step);
}
