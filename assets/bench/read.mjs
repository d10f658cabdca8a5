// @ts-check
/** One read in 64-bit numbers: scores, mask, exp, weights, values; and its derivatives. Pure.
 *
 *   s_j = q . k_j (or / sqrt(d_k), or typed)    e_j = exp(s_j - m), m the largest open score    w_j = e_j / sum e
 *   z = sum_j w_j v_j        dw_i / ds_j = w_i (1[i=j] - w_j)        dL / ds_j = w_j (g . v_j - g . z),  g = dL / dz
 *
 * Sources: 000 0x04B-0x04C and 0x08B-0x08C; models/parts/read.py is the server's own, and the page compares the two. */

/** @typedef {"dot" | "scaled_dot" | "supplied"} Mode */

/**
 * @typedef {object} Bench what a person has typed
 * @property {"kv" | "h"} kind keys and values apart, or one memory H that is both
 * @property {Mode} mode
 * @property {string[]} names of the rows
 * @property {number[]} q @property {number[][]} K @property {number[][]} V @property {number[]} typed scores
 * @property {boolean[]} hidden masked rows
 * @property {number[]} g d loss / d z
 */

/**
 * @typedef {object} Read
 * @property {number[]} dots q . k of every row, hidden rows too @property {number[]} scores before the mask
 * @property {number} top the largest open score @property {number[]} exps 0 where hidden @property {number} sum of them
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
  const top = Math.max(...s.filter((_, j) => !b.hidden[j]));
  const exps = s.map((x, j) => (b.hidden[j] ? 0 : Math.exp(x - top)));
  const sum = exps.reduce((a, x) => a + x, 0);
  const weights = exps.map((x) => (sum ? x / sum : 0));
  const z = b.g.map((_, c) => weights.reduce((a, w, j) => a + w * values(b)[j][c], 0));
  return { dots, scores: s, top, exps, sum, weights, z, loss: dot(b.g, z) };
}

/** d weight_i / d score_j. @param {Read} r @returns {number[][]} */
export const jacobian = (r) => r.weights.map((a, i) => r.weights.map((w, j) => a * (Number(i === j) - w)));

/** d loss / d of everything. @param {Bench} b @param {Read} r */
export function derivatives(b, r) {
  const scores = r.weights.map((w, j) => w * (dot(b.g, values(b)[j]) - r.loss));
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
  if (b.hidden[j]) return 0;
  const step = 1e-5 * Math.max(1, Math.abs(r.scores[j]));
  const at = (/** @type {number} */ by) => read(b, r.scores.map((s, i) => (i === j ? s + by : s))).loss;
  return (at(step) - at(-step)) / (2 * step);
}
