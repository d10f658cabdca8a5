// @ts-check
/** Why prefill is one step and decode many: what is known before a call can be computed in that call; what must first be chosen cannot.
 * Numbers: the shipped decoder-only model on a prompt of seven words. Source: 000 0x0B.4 and 0x0B.5 (rows known at the start of a call). */

import { counted, msg, parts } from "../../lib/language.mjs";
import { bytes, duration, probability } from "../../lib/words.mjs";
import { call, labelled, leadNow, one, ruled, start } from "../asked.mjs";
import { b, d, exact, measured, mono, q } from "../said.mjs";

/** @typedef {import("../see.mjs").See} See */

const PROMPT = "the report was convincing . the committee".split(" ");
const RELATION = "target_self";
const OWN = { architecture: "decoder_only", task: "language_model", requests: [{ target: PROMPT }] };
const [READING, WRITING] = [{ ...OWN, phase: "prefill" }, { ...OWN, phase: "decode", policy: { execution: "full_prefix" } }];
const LOOK = { relation: RELATION, layer: 1, head: 0 };
const MIDDLE = 3;
const LAST = PROMPT.length;
const ROWS = PROMPT.length + 1; // <bos> stands before them
/** A row each, one after another, each with all before it. */
const TRIANGLE = (ROWS * (ROWS + 1)) / 2;
const [FIRST, MORE] = [[1, ROWS, TRIANGLE].map(String), [1, ROWS, ROWS + 1].map(String)];

/** @param {See} see */
const cached = (see) => see.scenario.architecture === "decoder_only" && see.scenario.policy?.execution === "cached" && see.tokens("t").slice(1, 8).join() === PROMPT.join();
/** @param {See} see */
const unread = (see) => see.scenario.architecture === "decoder_only" && see.phase === "prefill" && see.step === 0;
/** @param {See} see */
const wasRead = (see) => cached(see) && see.phase === "prefill" && see.step === 1;
/** @param {See} see @param {number} step */
const decoded = (see, step) => cached(see) && see.phase === "decode" && see.step === step && see.stage === "";
/** @param {See} see */
const anew = (see) => see.scenario.architecture === "decoder_only" && see.scenario.policy?.execution === "full_prefix" && see.phase === "decode" && see.stage === "";

/** Rows and time of the newest call. @param {See} see */
function callNow(see) {
  const ran = call(see);
  return ran ? `${counted(ran.rows, "{0} row", "{0} rows")}, ${duration(ran.ms)}` : msg`no call yet`;
}

/** @param {See} see @param {number} row */
const mayNow = (see, row) => msg`${see.reads(RELATION, 1, row).open} of ${see.rows("t").length} rows`;
/** @param {See} see @param {number} row */
const locked = (see, row) => see.world.look.lock?.row === row && wasRead(see);
/** The row that was computed last. @param {See} see */
const newest = (see) => see.rows("t").findLast((row) => row.state === "new");
/** @param {See} see */
const mine = (see) => (see.phase === "decode" && newest(see)?.origin === "chosen" ? /** @type {any} */ (newest(see)).token : "");

/** @type {import("../types").Lesson} */
export const prefill = {
  id: "prefill",
  title: () => msg`Why prefill is one step and decode many`,
  about: () => msg`What is known can run together; what must be chosen first cannot.`,
  begin: start(READING, 0, "step", LOOK),
  steps: [
    {
      title: () => msg`Known, and not computed`,
      text: () => [parts`The prompt has ${PROMPT.length} words, and ${q("<bos>")} stands in front: ${ROWS} rows. All of them are known, and none is computed: no call of the model has been made. The next step is the prefill.`],
      at: { says: () => msg`prefill, before the first call`, here: unread, start: start(READING, 0, "step", LOOK) },
      predict: {
        asks: () => parts`how many rows does the first call of the model compute?`,
        options: () => labelled(FIRST, [msg`${1}: the last one`, msg`${ROWS}: all of them`, msg`${TRIANGLE}: each, and all before it again`]),
        measured: (see) => (wasRead(see) && call(see) ? one(FIRST, String(call(see)?.rows), call(see)?.rows) : null),
        shows: (value) => String(value),
        reveal: "step",
        verdict: (see, said) => ruled(said === String(call(see)?.rows), said, parts`All ${see.tokens().length} rows ran in one call, in ${mono(duration(call(see)?.ms ?? NaN))}${measured}. The prompt is known as a whole, so no row waits for another to be chosen.`),
      },
      checks: [{ says: () => parts`the prompt is read`, done: wasRead, now: callNow, mark: "m" }],
    },
    {
      title: () => msg`Why they can run together`,
      text: () => [
        parts`A row reads itself and the rows before it, never a later one. Whatever it reads here was known before the call began.`,
        parts`Click a cell in the line of row ${MIDDLE}, ${q(PROMPT[MIDDLE - 1])}, in the map; then one in the line of row ${LAST}, ${q(PROMPT[LAST - 1])}.`,
      ],
      at: { says: () => msg`prefill, after the call`, here: wasRead, start: start(READING, 1, "step", LOOK) },
      ring: (see) => (locked(see, LAST) ? "" : "#slot-map"),
      checks: [
        { says: () => parts`you looked at row ${MIDDLE}; it may read`, done: (see) => locked(see, MIDDLE), now: (see) => mayNow(see, MIDDLE), mark: "e", once: true },
        { says: () => parts`you looked at row ${LAST}; it may read`, done: (see) => locked(see, LAST), now: (see) => mayNow(see, LAST), mark: "e", once: true },
      ],
      verdict: (see) => parts`Each of the ${ROWS} rows could name a next word. Only row ${see.deciding()} is asked: the words after the others stand in the prompt already. It says ${d(see.lead()?.token ?? "")}, ${mono(probability(see.lead()?.probability ?? NaN, 2))}${measured}.`,
    },
    {
      title: () => msg`One more word`,
      text: (see) => [parts`${d(see.tokens()[ROWS] ?? see.lead()?.token ?? "")} leads. It is chosen in the next step, and only then is there a row ${ROWS} that holds it. That row has not been computed.`],
      at: { says: () => msg`prefill, after the call`, here: wasRead, start: start(READING, 1, "step", LOOK) },
      predict: {
        asks: () => parts`how many rows does the next call compute?`,
        options: () => labelled(MORE, [msg`${1}: the new one`, msg`${ROWS}: as before`, msg`${ROWS + 1}: all, with the new one`]),
        measured: (see) => (decoded(see, 1) && call(see) ? one(MORE, String(call(see)?.rows), call(see)?.rows) : null),
        shows: (value) => String(value),
        reveal: "step",
        verdict: (see, said) => ruled(said === String(call(see)?.rows), said, parts`${counted(call(see)?.rows ?? 0, "{0} row", "{0} rows")}, in ${mono(duration(call(see)?.ms ?? NaN))}${measured}. It reads the keys and values of the other ${see.tokens().length - 1}, which were kept: ${mono(bytes(see.kept_bytes.now))}${exact} with its own.`),
      },
      checks: [{ says: () => parts`row ${ROWS} is computed`, done: (see) => decoded(see, 1), now: callNow, mark: "m" }],
      note: (see) => ({ lead: see.lead()?.token ?? "", p: see.lead()?.probability ?? NaN }),
    },
    {
      title: () => msg`The word comes first`,
      text: (see) => [
        parts`Why not the next two rows in one call, as in the prefill? Because row ${ROWS + 1} begins with the word that is chosen now, and the row after it with the word that row ${ROWS + 1} decides.`,
        parts`Try it: in ${b(msg`Next token`)} click a word other than ${d(String(see.note("lead") ?? see.lead()?.token ?? "the"))}.`,
      ],
      at: { says: () => msg`decode 1`, here: (see) => decoded(see, 1), start: start(READING, 2, "step", LOOK) },
      ring: (see) => (mine(see) ? "" : "#slot-next"),
      checks: [
        { says: () => parts`row ${ROWS + 1} holds another word, yours`, done: (see) => !!mine(see) && mine(see) !== see.note("lead"), now: (see) => mine(see) || msg`not chosen`, mark: "" },
        { says: () => parts`its row ran after that`, done: (see) => decoded(see, 2) && !!mine(see), now: callNow, mark: "m" },
      ],
      verdict: (see) => parts`Row ${ROWS + 1} holds ${q(mine(see))}, and what it decides, ${d(see.lead()?.token ?? "")}, was computed for this word and no other. ${b(msg`Back`)} leads to where the first word can still be taken.`,
      hint: () => parts`The list of ${b(msg`Next token`)} stands beside the map. A click takes that word in place of the first.`,
    },
    {
      title: () => msg`Without keeping anything`,
      text: () => [parts`The same prompt, at the same place, but now a step may use nothing that an earlier call left: no keys and no values are read from memory.`],
      at: { says: () => msg`decode 0, nothing kept`, here: (see) => anew(see) && see.step === 0, start: start(WRITING, 0, "step", LOOK) },
      predict: {
        asks: () => parts`how many rows must the next call compute?`,
        options: () => labelled(MORE, [msg`${1}: the new one`, msg`${ROWS}: as before`, msg`${ROWS + 1}: all, with the new one`]),
        measured: (see) => (anew(see) && see.step === 1 && call(see) ? one(MORE, String(call(see)?.rows), call(see)?.rows) : null),
        shows: (value) => String(value),
        reveal: "step",
        verdict: (see, said) => ruled(said === String(call(see)?.rows), said, parts`${counted(call(see)?.rows ?? 0, "{0} row", "{0} rows")}: the new row needs keys and values of all rows before it, so they are made again. With each further word it is one row more.`),
      },
      checks: [
        { says: () => parts`decode 1 ran`, done: (see) => anew(see) && see.step === 1, now: callNow, mark: "m" },
        { says: () => parts`the same word leads as with a cache`, done: (see) => anew(see) && see.step === 1 && see.lead()?.token === see.note("lead"), now: leadNow, mark: "m" },
      ],
      verdict: (see) => parts`With the cache ${d(String(see.note("lead") ?? ""))} had ${mono(probability(Number(see.note("p")), 3))}, now it has ${mono(probability(see.p(String(see.note("lead"))), 3))}${measured}. Keeping keys and values saves work; what is decided stays the same.`,
    },
    {
      title: () => msg`What you can now say`,
      text: () => [parts`Say it in a sentence of your own, then compare it with ours.`],
      write: {
        asks: () => parts`Why is prefill one step and decode many?`,
        ours: () => parts`Rows whose words are known can run in one call, because each reads only rows up to itself. A new row begins with a word that the row before must first decide, so each new word costs a call. Keys and values that are kept make it a call of one row.`,
      },
      checks: [],
    },
  ],
};
