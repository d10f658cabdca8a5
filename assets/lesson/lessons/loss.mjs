// @ts-check
/** Which rows count in the loss: input and label are one row apart; rows of the prefix and of the padding are computed, and count for nothing.
 * Numbers: the shipped model that reads source and target in one stream, on a pair with a word that it does not expect. Source: 000 0x0B.2 and 0x0B.3
 * (shift, read mask, loss rows). */

import { counted, msg, parts } from "../../lib/language.mjs";
import { figure, number, percent, requestName, shown } from "../../lib/words.mjs";
import { labelled, one, ruled, start } from "../asked.mjs";
import { b, d, exact, g, i, measured, mono, q } from "../said.mjs";

/** @typedef {import("../see.mjs").See} See */

const ARROW = "→";
const [PAIR, SHORT] = ["the black cat sleeps → le chat blanc dort", "thank you → merci"].map((text) => text.split(" "));
const UNEXPECTED = "blanc";
const AFTER_ARROW = PAIR[PAIR.indexOf(ARROW) + 1];
const SCENARIO = { architecture: "unified", task: "one_stream", phase: "train", training: { batch: "mine" }, requests: [{ target: PAIR }, { target: SHORT }] };
const STAGES = ["batch", "forward", "loss", "backward", "clip"];
/** @param {number} stages of the first update */
const begins = (stages) => start(SCENARIO, stages, "stage", { relation: "target_self", pane: /** @type {const} */ ("gradient") });

/** @param {See} see */
const ours = (see) => see.scenario.architecture === "unified" && see.phase === "train" && see.scenario.training?.batch === "mine";
/** Whether this stage of the first update has run, and how far it may have gone since. @param {See} see @param {string} stage */
const ran = (see, stage) => ours(see) && (see.updates > 0 || STAGES.indexOf(see.stage) >= STAGES.indexOf(stage));
/** It stands after this stage of the first update. @param {See} see @param {string} stage */
const standsAfter = (see, stage) => ours(see) && see.updates === 0 && see.stage === stage;

/** The rows of both sequences. @param {See} see @returns {any[]} */
const all = (see) => [see.trained(0), see.trained(1)].flat();
/** @param {See} see */
const counting = (see) => all(see).filter((row) => row.counts).length;
/** Rows of the first sequence that count, in the order of its words. @param {See} see @returns {any[]} */
const told = (see) => see.trained(0).filter((row) => row.counts);
const LABELS = [...PAIR.slice(PAIR.indexOf(ARROW) + 1), "<eos>"];

/** Rows that are asked about: which sequence, which row. A word of the source, the unexpected word, the last word, a row of padding. */
const ASKED = [[0, 0], [0, PAIR.indexOf(UNEXPECTED)], [0, PAIR.length], [1, PAIR.length]];
/** @param {number[]} place */
const place = ([sequence, row]) => `${requestName(sequence)} ${row}`;
/** @param {See} see @param {number[]} at @returns {any} */
const rowAt = (see, [sequence, row]) => see.trained(sequence)[row] ?? null;

/** @param {See} see */
const lossNow = (see) => (Number.isFinite(see.loss) ? msg`${figure(see.loss)} nats a row` : msg`not computed`);
/** The losses of this batch, update after update. @param {See} see @returns {number[]} */
const losses = (see) => (ours(see) ? see.world.curve.loss : []);
/** What is left of the first loss at the second reading of the same batch, NaN before. @param {See} see */
const left = (see) => (losses(see).length > 1 ? losses(see)[1] / losses(see)[0] : NaN);
/** Below a hundredth of the first. @param {See} see */
const fits = (see) => losses(see).length > 1 && /** @type {number} */ (losses(see).at(-1)) < losses(see)[0] / 100;
const FALLS = ["higher", "same", "half", "less"];
/** @param {number} share */
const fall = (share) => (share > 1 ? "higher" : share > 0.9 ? "same" : share > 0.5 ? "half" : "less");

/** @type {import("../types").Lesson} */
export const loss = {
  id: "loss",
  title: () => msg`Which rows count in the loss`,
  about: () => msg`Every row is computed; only some have a label that counts.`,
  begin: begins(0),
  steps: [
    {
      title: () => msg`One row apart`,
      text: () => [
        parts`Two pairs are to be learned, each as one stream: the English words, ${q(ARROW)}, the French words. From them the next stage makes rows: what each is given, its input, and what it must predict, its label.`,
        parts`In the first pair stands ${q(UNEXPECTED)} where the English says ${i("black")}. That is on purpose.`,
      ],
      at: { says: () => msg`before the first batch`, here: (see) => ours(see) && see.updates === 0 && !see.stage && !see.trained(0).length, start: begins(0) },
      predict: {
        asks: () => parts`one row is given ${q(ARROW)}. What is its label?`,
        options: () => [ARROW, AFTER_ARROW, "sleeps", "<eos>"].map((token) => ({ key: token, label: shown(token), role: "d" })),
        bar: "d",
        measured(see) {
          const row = ran(see, "batch") ? see.trained(0).find((r) => r.input === ARROW) : null;
          return row ? one([ARROW, AFTER_ARROW, "sleeps", "<eos>"], row.label) : null;
        },
        shows: () => msg`label`,
        reveal: "stage",
        verdict: (see, said) => ruled(said === AFTER_ARROW, said, parts`${d(AFTER_ARROW)}: the label of a row is the input of the row after it. So each row must say what only the row after it is given, and the last label is ${d("<eos>")}.`),
      },
      checks: [{ says: () => parts`the batch is there`, done: (see) => ran(see, "batch"), now: (see) => (all(see).length ? counted(all(see).length, "{0} row", "{0} rows") : msg`not drawn`), mark: "e" }],
    },
    {
      title: () => msg`Which rows count`,
      text: (see) => [
        parts`Each row of the batch is one column: input, label, and at the bottom whether it counts. The English words are given, so nothing is learned from predicting them: their rows do not count.`,
        parts`The second pair is shorter. Choose sequence ${b(requestName(1))} below the rows to see what fills it up. Rows of both that count: ${counting(see)} of ${all(see).length}${exact}.`,
      ],
      at: { says: () => msg`after the stage Batch`, here: (see) => standsAfter(see, "batch"), start: begins(1) },
      ring: (see) => (see.world.look.request === 1 ? "" : ".batch-line .seqs"),
      checks: [{ says: () => parts`you looked at sequence ${mono(requestName(1))}`, done: (see) => see.world.look.request === 1 && ran(see, "batch"), now: (see) => requestName(see.world.look.request), mark: "", once: true }],
      verdict: (see) => parts`In ${mono(requestName(1))} ${see.trained(1).filter((r) => !r.key_valid).length} rows are padding: no row reads them. The row of ${q("<eos>")} is real, but what follows it is padding, so it has no label that counts.`,
    },
    {
      title: () => msg`Which row loses most?`,
      text: () => [parts`The loss of a row is −log p of its label. Now the rows are computed, all in one call, and then their losses.`],
      at: { says: () => msg`after the stage Batch`, here: (see) => standsAfter(see, "batch"), start: begins(1) },
      predict: {
        asks: () => parts`at which label does sequence ${mono(requestName(0))} lose most, of those that count?`,
        options: () => LABELS.map((token) => ({ key: token, label: shown(token), role: "d" })),
        bar: "d",
        measured: (see) => (ran(see, "loss") && see.updates === 0 && told(see).length ? LABELS.map((token) => number(told(see).find((r) => r.label === token)?.loss)) : null),
        shows: (value) => figure(value, 2),
        reveal: "stage",
        verdict: (see, said) => ruled(said === UNEXPECTED, said, parts`At ${d(UNEXPECTED)}: ${mono(figure(number(told(see).find((r) => r.label === UNEXPECTED)?.loss), 2))} nats${measured}. The other words cost nearly nothing; this one was not expected. The loss of the batch is the mean over the rows that count: ${mono(figure(see.loss))}${exact}.`),
      },
      checks: [{ says: () => parts`the loss is computed`, done: (see) => ran(see, "loss"), now: lossNow, mark: "m" }],
    },
    {
      title: () => msg`What sends a gradient?`,
      text: (see) => [
        parts`Rows that do not count have a number as well: row 0, ${q("<bos>")}, was to say ${d(PAIR[0])} and would lose ${mono(figure(number(rowAt(see, ASKED[0])?.loss), 2))} nats${measured}, far more than the mean. The backward pass has not run.`,
      ],
      at: { says: () => msg`after the stage Loss`, here: (see) => standsAfter(see, "loss"), start: begins(3) },
      predict: {
        asks: () => parts`which of these rows gets the largest gradient at its logits?`,
        options: (see) => ASKED.map((at) => ({ key: place(at), label: `${place(at)} ${shown(rowAt(see, at)?.input ?? "")} → ${shown(rowAt(see, at)?.label ?? "")}` })),
        bar: "g",
        measured: (see) => (ran(see, "backward") && see.updates === 0 ? ASKED.map((at) => number(rowAt(see, at)?.gradient)) : null),
        shows: (value) => figure(value, 4),
        reveal: "stage",
        verdict: (see, said) => ruled(said === place(ASKED[1]), said, parts`The row that must say ${d(UNEXPECTED)}: ${g(figure(number(rowAt(see, ASKED[1])?.gradient)))}${measured}. Row 0 and the padding get exactly ${g(figure(number(rowAt(see, ASKED[0])?.gradient)))}${measured}: what does not count cannot change a weight by its own label, however wrong it is.`),
      },
      checks: [{ says: () => parts`the gradient is there`, done: (see) => ran(see, "backward"), now: (see) => (ran(see, "backward") ? msg`at ${all(see).filter((r) => number(r.gradient) > 0).length} of ${all(see).length} rows` : msg`not computed`), mark: "m" }],
    },
    {
      title: () => msg`One update`,
      text: () => [
        parts`The update changes the weights a little against that gradient. Then the same two pairs are read again.`,
        parts`${b(msg`Challenge.`)} Answer, then set the step size to ${b(msg`update`)} and press ${b(msg`Step`)} until the loss is below a hundredth of the first.`,
      ],
      at: { says: () => msg`after the stage Backward`, here: (see) => standsAfter(see, "backward"), start: begins(4) },
      ring: (see) => (fits(see) ? "" : "#step, #step-phone"),
      predict: {
        asks: () => parts`after one update, what is the loss of the same batch?`,
        options: () => labelled(FALLS, [msg`higher`, msg`nearly the same`, msg`more than half`, msg`less than half`]),
        measured: (see) => (Number.isFinite(left(see)) ? one(FALLS, fall(left(see)), left(see)) : null),
        shows: (value) => percent(value),
        reveal: "you",
        verdict: (see, said) => ruled(said === fall(left(see)), labelled(FALLS, [msg`higher`, msg`nearly the same`, msg`more than half`, msg`less than half`]).find((o) => o.key === said)?.label ?? "", parts`From ${mono(figure(losses(see)[0]))} to ${mono(figure(losses(see)[1]))}${measured}, ${percent(left(see))} of it.`),
      },
      checks: [
        { says: () => parts`the same batch was read again`, done: (see) => losses(see).length > 1, now: (see) => counted(see.updates, "{0} update", "{0} updates"), mark: "m" },
        { says: () => parts`below a hundredth of the first loss`, done: fits, now: (see) => (losses(see).length ? `${figure(/** @type {number} */ (losses(see).at(-1)), 4)} / ${figure(losses(see)[0], 2)}` : msg`not computed`), mark: "m" },
      ],
      verdict: () => parts`These rows fit now. It says nothing of other sentences: the loss of a batch tells how well its own rows are predicted.`,
      hint: () => parts`The step size stands beside ${b(msg`Play`)}: update, stage, op. With ${b(msg`update`)} each ${b(msg`Step`)} reads the batch once and changes the weights once.`,
    },
    {
      title: () => msg`What you can now say`,
      text: () => [parts`Say it in a sentence of your own, then compare it with ours.`],
      write: {
        asks: () => parts`Which rows count in the loss, and what of the others?`,
        ours: () => parts`Each row predicts the input of the row after it. Rows whose label is given by the prompt, or is padding, are computed like all others, but they are left out of the mean: their gradient at the logits is 0, and they move no weight by their labels.`,
      },
      checks: [],
    },
  ],
};
