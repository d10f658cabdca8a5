// @ts-check
/** How evenly a row reads: the entropy of its weights, and the number of rows that it reads in effect. Pure. */

/** @typedef {{bits: number, rows: number, sum: number}} Evenness */

/** H = −Σ p log₂ p in bits, of the shares p = w / Σw (weights that sum to 1 are their own), and 2^H: one row alone 1, n rows alike n.
 * Null where nothing is known or read, or a weight is below 0: those are no shares.
 * @param {number[]} weights NaN: not known, counts as none @returns {Evenness | null} sum: Σw */
export function evenness(weights) {
  const known = weights.filter((w) => !Number.isNaN(w)), sum = known.reduce((a, w) => a + w, 0);
  if (!(sum > 0) || !Number.isFinite(sum) || known.some((w) => w < 0)) return null;
  const bits = known.reduce((a, w) => (w > 0 ? a - (w / sum) * Math.log2(w / sum) : a), 0);
  return { bits, rows: 2 ** bits, sum };
}

/** Whether the weights sum to 1, so that they are the shares themselves. @param {Evenness} of */
export const whole = ({ sum }) => Math.abs(sum - 1) < 1e-3;
