// @ts-check
/** What one more token costs: a cache of keys and values grows by a row, a state stays as large as it is and is written over.
 * Numbers: the shipped Mamba and the shipped decoder-only model on the same two words. Source: 000 0x0C.1 (what survives after one new row). */

import { counted, msg, parts } from "../../lib/language.mjs";
import { bytes, percent } from "../../lib/words.mjs";
import { labelled, one, ruled, start, words } from "../asked.mjs";
import { b, exact, formula, measured, mono, q, v } from "../said.mjs";

/** @typedef {import("../see.mjs").See} See @typedef {import("../../lib/types").Known} Known */

const PROMPT = ["the", "committee"];
const OWN = { task: "language_model", phase: "decode", requests: [{ target: PROMPT }] };
const [STATE, CACHE] = [{ ...OWN, architecture: "mamba" }, { ...OWN, architecture: "decoder_only" }];
/** The layer that the numbers speak of is the one that the stage shows. */
const SECOND = { layer: 1 };
const WRITTEN = PROMPT.length; // the newest row of the prompt
const LATER = 8;
/** Which of the lesson's values they are. */
const [STATES, KEPT, WRITES] = [0, 1, 2];

/** @param {See} see @param {string} architecture */
const runs = (see, architecture) => see.scenario.architecture === architecture && see.phase === "decode" && see.tokens().slice(1, 3).join() === PROMPT.join();
/** @param {See} see @param {string} architecture @param {number} step */
const stands = (see, architecture, step) => runs(see, architecture) && see.step === step && see.stage === "";
/** @param {See} see */
const last = (see) => see.tokens().length - 1;

/** Every number of one row of a tape `b t f n`, or null while it is not known. @param {Known | undefined} tape @param {number} row @returns {number[] | null} */
export function rowOf(tape, row) {
  if (!tape || tape.shape.length !== 4 || row < 0 || row >= tape.shape[1]) return null;
  const [, , wide, places] = tape.shape;
  const found = Array.from({ length: wide * places }, (_, n) => tape.at(0, row, Math.floor(n / places), n % places));
  return found.every(Number.isFinite) ? found : null;
}

/** How many of the numbers are others than before, as a share. @param {number[]} before @param {number[]} now */
export const changed = (before, now) => now.filter((v, n) => v !== before[n]).length / now.length;

/** What is left of what one row wrote after later rows multiplied it: the length of it, of its own. @param {number[]} wrote @param {number[][]} kept by later row */
export function left(wrote, kept) {
  const now = kept.reduce((state, line) => state.map((v, n) => v * line[n]), wrote);
  return Math.hypot(...now) / Math.hypot(...wrote);
}

/** The share of the state that the newest token changed. @param {See} see */
function changedNow(see) {
  const [before, now] = [last(see) - 1, last(see)].map((row) => rowOf(see.values(STATES)[0], row));
  return before && now ? changed(before, now) : null;
}

/** What is left of the prompt's last row. @param {See} see */
function leftNow(see) {
  const wrote = rowOf(see.values(WRITES)[0], WRITTEN);
  const later = Array.from({ length: last(see) - WRITTEN }, (_, n) => rowOf(see.values(KEPT)[0], WRITTEN + 1 + n));
  return wrote && later.every((line) => line) ? left(wrote, /** @type {number[][]} */ (later)) : null;
}

const SHARES = ["none", "some", "most", "all"];
/** @param {number} share */
const amount = (share) => (share === 0 ? "none" : share < 0.5 ? "some" : share < 0.99 ? "most" : "all");
const LEFTS = ["whole", "third", "tenth", "gone"];
/** @param {number} share */
const remains = (share) => (share > 0.7 ? "whole" : share > 0.2 ? "third" : share > 0.03 ? "tenth" : "gone");
const ROWS = ["4", "6", "12", "never"];
/** @param {See} see the bytes of the state, as they were noted */
const noted = (see) => (see.note("state") === null ? NaN : Number(see.note("state")));
/** @param {See} see @param {string} architecture */
const keeps = (see, architecture) => (runs(see, architecture) ? bytes(see.kept_bytes.now) : "–");
/** From which row on the cache is larger; 0 while it is not. @param {See} see */
const passed = (see) => (runs(see, "decoder_only") && see.kept_bytes.now > noted(see) ? Math.floor(noted(see) / see.kept_bytes.row) + 1 : 0);

/** @type {import("../types").Lesson} */
export const memory = {
  id: "memory",
  title: () => msg`What one more token costs`,
  about: () => msg`A cache grows by a row; a state is written over.`,
  begin: start(STATE, 0, "step", SECOND),
  wants: () => ["state", "kept", "written"].map((name) => ({ path: `layer1.${name}`, index: { b: 0 }, dtype: /** @type {const} */ ("f32") })),
  steps: [
    {
      title: () => msg`A state of one size`,
      text: (see) => [
        parts`Mamba has read ${words(PROMPT, "q")}. For the next row it keeps ${mono(keeps(see, "mamba"))}${exact}, shown under ${b(msg`What it keeps`)}: a state in each layer, and the newest inputs. The rows themselves are gone.`,
        parts`One more token comes. The state will be as large as before. But its numbers?`,
      ],
      at: { says: () => msg`Mamba, decode 0`, here: (see) => stands(see, "mamba", 0), start: start(STATE, 0, "step", SECOND) },
      predict: {
        asks: () => parts`how many numbers of the second layer’s state does one more token change?`,
        options: () => labelled(SHARES, [msg`none`, msg`less than half`, msg`more than half`, msg`all, or nearly`]),
        measured: (see) => (stands(see, "mamba", 1) && changedNow(see) !== null ? one(SHARES, amount(changedNow(see) ?? 0), changedNow(see) ?? 0) : null),
        shows: percent,
        reveal: "step",
        verdict(see, said) {
          const share = changedNow(see) ?? 0;
          return ruled(said === amount(share), labelOf(said), parts`${percent(share)}${measured} are others than before: each is multiplied by a factor, and something of the new row is added. It is the same ${mono(bytes(see.kept_bytes.now))}${exact}, written over.`);
        },
      },
      checks: [{ says: () => parts`the state after one more token`, done: (see) => runs(see, "mamba") && see.step >= 1, now: (see) => bytes(see.kept_bytes.now), mark: "e" }],
      note: (see) => ({ state: see.kept_bytes.now }),
    },
    {
      title: () => msg`What stays of an old row`,
      text: () => [
        parts`Row ${WRITTEN}, ${q(PROMPT[WRITTEN - 1])}, wrote into this state. Every later row multiplies what stands there. Answer, then press ${b(msg`Step`)} until decode ${LATER}.`,
      ],
      at: { says: () => msg`Mamba, decode 1`, here: (see) => stands(see, "mamba", 1), start: start(STATE, 1, "step", SECOND) },
      ring: (see) => (see.step < LATER ? "#step, #step-phone" : ""),
      predict: {
        asks: () => parts`how much of what row ${WRITTEN} wrote is then left?`,
        options: () => labelled(LEFTS, [msg`nearly all`, msg`about a third`, msg`about a tenth`, msg`nearly nothing`]),
        measured: (see) => (runs(see, "mamba") && see.step >= LATER && leftNow(see) !== null ? one(LEFTS, remains(leftNow(see) ?? 0), leftNow(see) ?? 0) : null),
        shows: percent,
        reveal: "you",
        verdict: (see, said) => ruled(said === remains(leftNow(see) ?? 0), leftLabel(said), parts`${v(percent(leftNow(see) ?? 0))}${measured} of its length, after ${last(see) - WRITTEN} later rows. A state of one size must give up something for what comes; how much is learned, and it depends on the words.`),
      },
      checks: [
        { says: () => parts`decode ${LATER} ran`, done: (see) => runs(see, "mamba") && see.step >= LATER, now: (see) => msg`decode ${see.step}`, mark: "" },
        { says: () => parts`the state is as large as it was`, done: (see) => runs(see, "mamba") && see.step >= LATER && see.kept_bytes.now === noted(see), now: (see) => bytes(see.kept_bytes.now), mark: "e" },
      ],
    },
    {
      title: () => msg`A row for every token`,
      text: (see) => [
        parts`The same words, read by a decoder-only Transformer. For each row it keeps a key and a value in every layer, as they were made: ${mono(keeps(see, "decoder_only"))}${exact} now.`,
        parts`Mamba keeps ${mono(bytes(noted(see)))}. Answer, then press ${b(msg`Step`)} until the cache is larger.`,
      ],
      at: { says: () => msg`decoder-only, decode 0`, here: (see) => stands(see, "decoder_only", 0), start: start(CACHE) },
      ring: (see) => (passed(see) ? "#slot-memory" : "#step, #step-phone"),
      predict: {
        asks: () => parts`with how many rows does the cache first keep more than Mamba?`,
        options: () => labelled(ROWS, [msg`${4} rows`, msg`${6} rows`, msg`${12} rows`, msg`never`]),
        measured: (see) => (passed(see) ? one(ROWS, String(passed(see)), passed(see)) : null),
        shows: (value) => String(value),
        reveal: "you",
        verdict: (see, said) => ruled(said === String(passed(see)), labelled(ROWS, [msg`${4} rows`, msg`${6} rows`, msg`${12} rows`, msg`never`]).find((o) => o.key === said)?.label ?? said, parts`With ${counted(passed(see), "{0} row", "{0} rows")}: each row costs ${mono(bytes(see.kept_bytes.row))}${formula}, whatever it holds.`),
      },
      checks: [{ says: (see) => parts`the cache keeps more than ${bytes(noted(see))}`, done: (see) => passed(see) > 0, now: (see) => bytes(see.kept_bytes.now), mark: "e" }],
      verdict: () => parts`What the cache holds of an old row is what that row made, unchanged; it pays for this with a row a token. A state pays nothing more, and old rows fade in it. Neither is better for every text.`,
    },
    {
      title: () => msg`How far does a memory reach?`,
      text: (see) => [parts`One row costs ${mono(bytes(see.kept_bytes.row))}${formula} here. A larger model keeps more a row, by the same rule: 2 (key and value) × layers × width × bytes of a number.`],
      at: { says: () => msg`decoder-only`, here: (see) => runs(see, "decoder_only"), start: start(CACHE) },
      write: {
        asks: () => parts`How many rows fill 1 MiB here, and how many would fit if the model had twice the layers? Say how you know.`,
        ours: (see) => parts`${Math.floor(2 ** 20 / Math.max(1, see.kept_bytes.row))} rows: 1 MiB divided by ${mono(bytes(see.kept_bytes.row))}${formula}. Twice the layers cost twice as much a row, so ${Math.floor(2 ** 19 / Math.max(1, see.kept_bytes.row))} would fit. For Mamba the question has no answer: its ${mono(bytes(noted(see)))} hold any number of rows.`,
      },
      checks: [],
    },
    {
      title: () => msg`What you can now say`,
      text: () => [parts`Say it in a sentence of your own, then compare it with ours.`],
      write: {
        asks: () => parts`What does one more token cost a cache, and what a state?`,
        ours: () => parts`A cache of keys and values gets one row longer, in every layer, and changes nothing that it holds. A state stays as large as it is; the token changes all of it, and what older rows wrote fades.`,
      },
      checks: [],
    },
  ],
};

/** @param {string} key */
const labelOf = (key) => labelled(SHARES, [msg`none`, msg`less than half`, msg`more than half`, msg`all, or nearly`]).find((o) => o.key === key)?.label ?? "";
/** @param {string} key */
const leftLabel = (key) => labelled(LEFTS, [msg`nearly all`, msg`about a third`, msg`about a tenth`, msg`nearly nothing`]).find((o) => o.key === key)?.label ?? "";
