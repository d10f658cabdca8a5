// @ts-check
/** One vector for the whole sentence: what an encoder hands over that ends in one summary, and what one hands over that keeps its rows.
 * Numbers: the shipped recurrent encoder-decoder with a fixed context, and the shipped Bahdanau model. Source: 000 0x02 (an interface, not a theorem about
 * widths), 0x02G (what the claim does not say). */

import { counted, msg, parts } from "../../lib/language.mjs";
import { bytes, percent } from "../../lib/words.mjs";
import { ruled, start, words } from "../asked.mjs";
import { b, d, exact, i, k, measured, mono, q, v } from "../said.mjs";

/** @typedef {import("../see.mjs").See} See */

const LONG = "the black cat sleeps . the committee accepted the proposal . the red book is beautiful .".split(" ");
const SHORT = LONG.slice(0, LONG.indexOf("."));
const [FIXED, READS] = ["fixed_context", "bahdanau"];
/** @param {string} architecture @param {string[]} source @param {string} phase */
const scenario = (architecture, source, phase = "decode") => ({ architecture, task: "translation", phase, requests: [{ source }] });
const CROSS = { relation: "cross", layer: 0, head: 0 };
/** Where the third clause's noun is decided, and source rows that it may be asked of. */
const ROW = 13;
const ASKED = [2, 6, 11, 12, 13, 15];
const WRONG = 3; // after so many steps the fixed context takes a wrong word
const CLAUSES = ["0", "1", "2"];
const CHOICES = 3;

/** @param {See} see @param {string} architecture @param {string[]} source */
const runs = (see, architecture, source) => see.scenario.architecture === architecture && see.tokens("s").join() === source.join();
/** @param {See} see @param {string} architecture @param {number} step */
const stands = (see, architecture, step) => runs(see, architecture, LONG) && see.phase === "decode" && see.step === step && see.stage === "";
/** @param {See} see */
const ended = (see) => !!see.world.moved?.ended;

/** What was written, without <bos> and <eos>. @param {See} see */
const written = (see) => see.tokens().slice(1).filter((token) => token !== "<eos>");
/** @param {See} see @returns {string[]} */
const gold = (see) => see.world.opened?.gold?.[0]?.target ?? [];

/** Clause by clause the share of the right words that stand in their places; a clause ends with its point.
 * @param {string[]} right @param {string[]} said @returns {number[]} */
export function inPlace(right, said) {
  const other = clauses(said);
  return clauses(right).map((clause, n) => clause.filter((token, at) => other[n]?.[at] === token).length / clause.length);
}

/** @param {string[]} tokens @returns {string[][]} */
function clauses(tokens) {
  /** @type {string[][]} */
  const found = [];
  for (const token of tokens) token === "." ? found.push([]) : (found.length ? found : (found.push([]), found))[found.length - 1].push(token);
  return found.filter((clause) => clause.length);
}

/** How many words there are, points aside, and how many stand in their places, each counted from the beginning of its clause. @param {See} see */
const count = (see) => gold(see).filter((token) => token !== ".").length;
/** @param {See} see */
const right = (see) => Math.round(clauses(gold(see)).reduce((sum, clause, n) => sum + clause.length * inPlace(gold(see), written(see))[n], 0));
/** @param {See} see */
const rightNow = (see) => msg`${right(see)} of ${count(see)}`;
/** @param {See} see */
const whole = (see) => ended(see) && written(see).join() === gold(see).join();
/** @param {See} see words that a person chose */
const chosen = (see) => see.rows("t").filter((row) => row.origin === "chosen").length;
/** @param {number[]} shares */
const worst = (shares) => String(shares.indexOf(Math.min(...shares)));
/** A clause of the source, by its first words. @param {string} key */
const clause = (key) => `${clauses(LONG)[Number(key)].slice(0, 3).join(" ")} …`;

/** What crosses from encoder to decoder, bytes. @param {See} see @returns {number} */
const crosses = (see) => (see.world.moved?.kept ?? []).filter((/** @type {any} */ t) => t.path.startsWith("encoder.")).reduce((/** @type {number} */ sum, /** @type {any} */ t) => sum + t.bytes, 0);

/** On held-out sentences, as the weights say: "1 clause 96%, 2 clauses 22%, ...". @param {See} see */
function heldOut(see) {
  const shares = see.world.opened?.weights?.source?.metrics?.exact_by_clauses ?? {};
  return Object.entries(shares).slice(0, 4).map(([count, share]) => `${counted(Number(count), "{0} clause", "{0} clauses")} ${percent(Number(share))}`).join(", ");
}

/** @type {import("../types").Lesson} */
export const bottleneck = {
  id: "bottleneck",
  title: () => msg`One vector for the whole sentence`,
  about: () => msg`A summary is made before anybody asks; rows can be read when somebody does.`,
  begin: start(scenario(FIXED, LONG)),
  reads: [CROSS],
  steps: [
    {
      title: () => msg`All through one vector`,
      text: (see) => [
        parts`The encoder has read ${LONG.length} rows, three clauses. What it hands to the decoder is its last state alone: ${mono(runs(see, FIXED, LONG) ? bytes(crosses(see)) : "–")}${exact}. No source row can be read after that.`,
        parts`Answer, then press ${b(msg`Play`)} and let it write to the end.`,
      ],
      at: { says: () => msg`fixed context, decode 0`, here: (see) => stands(see, FIXED, 0), start: start(scenario(FIXED, LONG)) },
      ring: (see) => (ended(see) ? "" : "#play, #play-phone"),
      predict: {
        asks: () => parts`which clause comes out worst?`,
        options: () => CLAUSES.map((key) => ({ key, label: clause(key), role: "k" })),
        bar: "d",
        measured: (see) => (runs(see, FIXED, LONG) && ended(see) && !chosen(see) ? inPlace(gold(see), written(see)) : null),
        shows: percent,
        reveal: "you",
        verdict(see, said) {
          const shares = inPlace(gold(see), written(see));
          return ruled(said === worst(shares), clause(said), parts`The bars say how many of the right words stand in their places; ${words([clause(worst(shares))], "k")} has ${mono(percent(Math.min(...shares)))}${measured}. Written: ${words(written(see), "d")}`);
        },
      },
      checks: [{ says: () => parts`the translation has ended`, done: (see) => runs(see, FIXED, LONG) && ended(see), now: (see) => counted(written(see).length, "{0} word", "{0} words"), mark: "m" }],
      verdict: (see) => parts`The sentence reads well, and says something else. On held-out sentences these weights are right to the word so often: ${heldOut(see)}${measured}.`,
      note: (see) => ({ right: right(see), bytes: crosses(see) }),
    },
    {
      title: () => msg`What crosses for a short one`,
      text: (see) => [parts`Now only the first clause: ${SHORT.length} rows in place of ${LONG.length}. For the long sentence ${mono(bytes(Number(see.note("bytes") ?? 0)))} crossed. The encoder has not run.`],
      at: { says: () => msg`fixed context, before the prefill`, here: (see) => see.scenario.architecture === FIXED && see.phase === "prefill" && see.step === 0 && see.rows("s").length === SHORT.length, start: start(scenario(FIXED, SHORT, "prefill")) },
      predict: {
        asks: () => parts`how many bytes does the encoder hand over now?`,
        options: (see) => sizes(see).map((size) => ({ key: String(size), label: bytes(size) })),
        measured: (see) => (runs(see, FIXED, SHORT) && (see.step > 0 || see.phase === "decode") ? sizes(see).map((size) => (size === crosses(see) ? size : NaN)) : null),
        shows: bytes,
        reveal: "step",
        verdict: (see, said) => ruled(Number(said) === crosses(see), bytes(Number(said)), parts`${mono(bytes(crosses(see)))}${exact}, for ${SHORT.length} rows as for ${LONG.length}. That is no proof that words are lost: a vector may hold much. But what it holds is settled before the decoder asks anything.`),
      },
      checks: [{ says: () => parts`the encoder has run`, done: (see) => runs(see, FIXED, SHORT) && crosses(see) > 0, now: (see) => (crosses(see) ? bytes(crosses(see)) : msg`not computed`), mark: "e" }],
    },
    {
      title: () => msg`Rows that can be asked`,
      text: (see) => [
        parts`Bahdanau’s decoder gets all ${LONG.length} rows of the encoder, ${mono(runs(see, READS, LONG) ? bytes(crosses(see)) : "–")}${exact} with their keys, and makes a new read of them for each word. It stands before the third clause; ${d("le")} is chosen, and its row has not run.`,
        parts`Answer and reveal; then ${b(msg`Play`)} to the end.`,
      ],
      at: { says: () => msg`Bahdanau, decode ${ROW - 1}`, here: (see) => stands(see, READS, ROW - 1), start: start(scenario(READS, LONG), ROW - 1) },
      ring: (see) => (see.step >= ROW && !ended(see) ? "#play, #play-phone" : ""),
      predict: {
        asks: () => parts`which source word does row ${ROW}, ${q("le")}, read most?`,
        options: () => ASKED.map((row) => ({ key: String(row), label: `${row} ${LONG[row]}`, role: "k" })),
        measured(see) {
          const line = runs(see, READS, LONG) && see.tokens()[ROW] === "le" ? see.weights(CROSS, ROW) : null;
          return line ? ASKED.map((row) => line[row]) : null;
        },
        reveal: "step",
        verdict(see, said) {
          const most = see.most(CROSS, ROW);
          return ruled(said === String(most?.key), LONG[Number(said)], parts`${v(percent(most?.weight ?? NaN))}${measured} come from ${k(most?.token ?? "")}. The row decides the word after ${q("le")}, ${d(see.tokens()[ROW + 1] ?? see.lead()?.token ?? "")}, and asked for it only now.`);
        },
      },
      checks: [
        { says: () => parts`row ${ROW} is computed`, done: (see) => runs(see, READS, LONG) && see.tokens().length > ROW, now: (see) => (see.most(CROSS, ROW) ? `${see.most(CROSS, ROW)?.token} ${percent(see.most(CROSS, ROW)?.weight ?? NaN)}` : msg`not computed`), mark: "m" },
        { says: () => parts`it wrote to the end; words in their places`, done: (see) => runs(see, READS, LONG) && ended(see), now: rightNow, mark: "m" },
      ],
      verdict: (see) => parts`${right(see)} of ${count(see)} words in place; the fixed context had ${Number(see.note("right"))}. Held-out sentences: ${heldOut(see)}${measured}. Four clauses are longer than anything it learned from: rows that can be read are no promise either.`,
    },
    {
      title: () => msg`Put it right`,
      text: (see) => [
        parts`${b(msg`Challenge.`)} Back to the one vector, where it goes wrong: ${d(stands(see, FIXED, WRONG) ? (see.lead()?.token ?? "") : "est")} leads after ${q("noir")}, and ${k("sleeps")} was meant. Make the whole translation right with at most ${CHOICES} words of your choice: click a word in ${b(msg`Next token`)}, else ${b(msg`Step`)}.`,
        parts`It should say: ${i(gold(see).join(" "))}`,
      ],
      at: { says: () => msg`fixed context, decode ${WRONG}`, here: (see) => stands(see, FIXED, WRONG) && !chosen(see), start: start(scenario(FIXED, LONG), WRONG) },
      ring: (see) => (ended(see) ? "" : "#slot-next"),
      checks: [
        { says: () => parts`it has ended, all words in place`, done: (see) => runs(see, FIXED, LONG) && whole(see), now: rightNow, mark: "m" },
        { says: () => parts`at most ${CHOICES} words are yours`, done: (see) => runs(see, FIXED, LONG) && chosen(see) > 0 && chosen(see) <= CHOICES, now: (see) => String(chosen(see)), mark: "e" },
      ],
      hint: (see) => parts`Look before each ${b(msg`Step`)} whether the first word of the list is the next of the right ones. If not, click the right one; it stands further down. Now comes ${d(gold(see)[written(see).length] ?? "<eos>")}.`,
      verdict: () => parts`Each word that you set went into the decoder’s state, and what followed changed with it. The right words were there to be chosen, behind others: how much of a word the vector still holds is a matter of degree.`,
    },
    {
      title: () => msg`What you can now say`,
      text: () => [parts`Say it in a sentence of your own, then compare it with ours.`],
      write: {
        asks: () => parts`Why is one vector for the whole sentence a bottleneck?`,
        ours: () => parts`The encoder must decide what to keep before it knows what will be asked, and the decoder has no way back to a row. The vector need not lose a word; it offers no read of one. With rows kept, each new word makes a read of its own, and pays for it with memory that grows with the source.`,
      },
      checks: [],
    },
  ],
};

/** A size that grows with the rows, the noted one, and one in between. @param {See} see @returns {number[]} */
function sizes(see) {
  const long = Number(see.note("bytes") ?? 0);
  return [Math.round((long * SHORT.length) / LONG.length), long / 2, long].filter((size) => size > 0);
}
