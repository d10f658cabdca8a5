// @ts-check
/** Labels over time, as CTC has them: a distribution for each frame, the best path through them, and what is left when repetitions and
 * blanks are dropped. Pure. */

/** softmax of one row of scores; a number that is not known makes all unknown. @param {number[]} scores @returns {number[]} */
export function softmax(scores) {
  const most = Math.max(...scores);
  const all = scores.map((z) => Math.exp(z - most));
  const sum = all.reduce((a, b) => a + b, 0);
  return all.map((v) => v / sum);
}

/** The most probable label of each frame. @param {number[][]} chances @returns {number[]} */
export const bestPath = (chances) => chances.map((row) => row.reduce((best, v, i) => (v > row[best] ? i : best), 0));

/** What a path says, each label with the frames that it holds. Label 0 is blank.
 * @param {number[]} path @returns {{label: number, from: number, to: number}[]} from and to: first and last frame */
export function spoken(path) {
  /** @type {{label: number, from: number, to: number}[]} */
  const said = [];
  path.forEach((label, t) => {
    if (label && t && path[t - 1] === label) said[said.length - 1].to = t;
    else if (label) said.push({ label, from: t, to: t });
  });
  return said;
}

/** A path in short: "∅×7 c×7 ∅". @param {number[]} path @param {string[]} names @returns {string} */
export function runs(path, names) {
  const parts = /** @type {[number, number][]} */ ([]);
  for (const label of path) {
    if (parts.length && parts[parts.length - 1][0] === label) parts[parts.length - 1][1]++;
    else parts.push([label, 1]);
  }
  return parts.map(([label, n]) => `${label ? names[label] : "∅"}${n > 1 ? `×${n}` : ""}`).join(" ");
}
