// @ts-check
/** Comparisons to begin from, whose set-ups differ in more than the model. Pure. */

import { msg } from "../lib/language.mjs";

/** @typedef {import("./link.mjs").Comparison} Comparison */

/** @param {(task: string) => any} preset a task's first example @returns {{name: string, holds: Partial<Comparison>}[]} */
export const sets = (preset) => [
  {
    name: msg`The same conditioning, other owners and state: encoder–decoder and prefix LM`,
    holds: { task: "translation", source: preset("translation").source, models: ["encoder_decoder", "unified"], configs: [{}, {}] },
  },
  {
    name: msg`T5 beside the prefix LM on one sentence`,
    holds: { task: "translation", source: preset("translation").source, models: ["t5", "unified"], configs: [{}, {}] },
  },
  {
    name: msg`Induction: two layers find where it stood before, one layer cannot`,
    holds: { task: "repeats", source: null, target: preset("repeats").target, models: ["decoder_only", "decoder_only"], configs: [2, 1].map((layers) => ({ layers, position: "rope", d_ff: 64 })) },
  },
  {
    name: msg`Depth with and without shortcuts`,
    holds: {
      task: "characters", source: null, target: preset("characters").target, phase: "train", weights: "random", training: { batch_size: 16, learning_rate: 0.003 },
      models: Array(4).fill("residual"), configs: [6, 24].flatMap((blocks) => ["none", "identity"].map((shortcut) => ({ shortcut, blocks }))),
    },
  },
  {
    name: msg`Where Luong looks: everywhere, around row t, around a guess, by place alone`,
    holds: { task: "translation", source: preset("translation").source, models: Array(4).fill("luong"), configs: [{}, { alignment: "local_m" }, { alignment: "local_p" }, { score: "location" }] },
  },
  {
    name: msg`The same weights as recurrence and as convolution`,
    holds: { task: "language_model", source: null, target: preset("language_model").target, models: ["s4", "s4"], configs: [{}, { schedule: "convolution" }] },
  },
];
