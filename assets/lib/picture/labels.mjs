// @ts-check
/** Labels over time, as CTC has them: a distribution for each frame, the best path through them, and what is left when repetitions and
 * blanks are dropped. Pure. */

/** The most probable label of each frame. @param {number[][]} chances @returns {number[]} */
export const bestPath = (chances) => chances.map((row) => row.reduce((best, v, i) => (v > row[best] ? i : best), 0));

/** @typedef {{label: number, from: number, to: number}} Run from and to: first and last frame */

/** A path with its repeats merged: each label or blank with the frames that it holds. @param {number[]} path @returns {Run[]} */
export function held(path) {
  /** @type {Run[]} */
  const found = [];
  path.forEach((label, t) => {
    if (t && path[t - 1] === label) found[found.length - 1].to = t;
    else found.push({ label, from: t, to: t });
  });
  return found;
}

/** What a path says: its runs without blanks. Label 0 is blank. @param {number[]} path @returns {Run[]} */
export const spoken = (path) => held(path).filter((run) => run.label);

/** A label's name. @param {number} label @param {string[]} names */
export const named = (label, names) => (label ? names[label] : "∅");

/** A path in short: "∅×7 c×7 ∅". @param {number[]} path @param {string[]} names @returns {string} */
export const runs = (path, names) => held(path).map(({ label, from, to }) => `${named(label, names)}${to > from ? `×${to - from + 1}` : ""}`).join(" ");
