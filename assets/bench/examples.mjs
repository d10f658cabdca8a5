// @ts-check
/** Reads to begin from. Those with a source are what the texts print; a test holds them against the printed numbers. */

import { msg } from "../lib/language.mjs";

/** @typedef {import("./read.mjs").Bench} Bench */
/** @typedef {{id: string, name: string, note: string, bench: Bench}} Example */

const H = [[0.8, 0.1, 0], [0.1, 0.9, 0.1], [0, 0.2, 0.8], [0.4, 0.5, 0.6]];
const ALPHA = [[0.8, 0.1, 0.05, 0.05], [0.05, 0.8, 0.1, 0.05], [0.05, 0.05, 0.8, 0.1]];
const row = (/** @type {number} */ n, /** @type {number} */ value = 0) => Array.from({ length: n }, () => value);
const open = (/** @type {number} */ n) => Array.from({ length: n }, () => false);

/** Asked for when it is shown, so that the names are in the language of the page. @returns {Example[]} */
export function examples() {
  const numbered = (/** @type {number} */ n) => Array.from({ length: n }, (_, j) => msg`row ${j}`);
  return [
    {
      id: "cat", name: msg`One read by hand`, note: msg`A masked row weighs exactly 0. Move a key towards q and watch its weight.`,
      bench: {
        kind: "kv", mode: "scaled_dot", names: ["the", "black", "cat", "sleeps"], q: [1.2, 0.4, 1], g: [1, -0.5, 0.3],
        K: [[0.2, -0.4, 0.1], [1.1, 0.6, -0.2], [0.9, -0.3, 0.8], [-0.5, 0.7, 0.4]], V: [[0.1, 0.2, -0.3], [1, -0.4, 0.2], [-0.2, 0.9, 0.6], [0.4, 0.1, -0.8]],
        typed: [0.5, 1.5, 1.2, 0.2], hidden: [false, false, false, true],
      },
    },
    {
      id: "dot_read", name: msg`Dot read`, note: msg`Printed in the text: weights 0.258274, 0.258274, 0.057629, 0.425822; context 1.05229, 0.148355.`,
      bench: { kind: "h", mode: "dot", names: numbered(4), q: [1, 0.5], K: [[1, 0], [0, 2], [-1, 1], [2, -1]], V: [[1, 0], [0, 2], [-1, 1], [2, -1]], typed: row(4), hidden: open(4), g: [1, 0] },
    },
    {
      id: "qkv_read", name: msg`Scores and values`, note: msg`Printed in the text, rounded: weights 0.637, 0.234, 0.129; output 1.15, 1.19.`,
      bench: { kind: "kv", mode: "supplied", names: numbered(3), q: [0], K: [[0], [0], [0]], V: [[2, 0], [0, 4], [-1, 2]], typed: [1.2, 0.2, -0.4], hidden: open(3), g: [1, 0] },
    },
    ...ALPHA.map((alpha, i) => ({
      id: `weighted_read_${i}`, name: msg`Weights that are given, output row ${i}`,
      note: msg`The text gives the weights; their logarithms stand here as scores, because softmax gives them back. Fixed context would be row 3 alone: 0.4, 0.5, 0.6.`,
      bench: /** @type {Bench} */ ({ kind: "h", mode: "supplied", names: numbered(4), q: row(3), K: H, V: H, typed: alpha.map(Math.log), hidden: open(4), g: [1, 0, 0] }),
    })),
  ];
}
