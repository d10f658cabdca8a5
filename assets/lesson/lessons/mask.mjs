// @ts-check
/** What changes when a source row is hidden: whether a row is needed depends on who would read it, and the unedited prediction beside the edited one says how
 * much; hidden and shown again, nothing is left of it; a cell of the future shows a row what it must predict. Numbers: the shipped encoder-decoder on "the black
 * cat sleeps", layer 2, and a training of the shipped decoder-only model. Source: 000 0x09 (who may read), 0x0B.2 (shift). */

import { msg, parts } from "../../lib/language.mjs";
import { figure, number, probability } from "../../lib/words.mjs";
import { labelled, leadNow, one, ruled, start } from "../asked.mjs";
import { b, d, exact, formula, i, k, measured, mono, q } from "../said.mjs";

/** @typedef {import("../see.mjs").See} See */

const SOURCE = ["the", "black", "cat", "sleeps"];
const CAT = 2;
const SCENARIO = { architecture: "encoder_decoder", requests: [{ source: SOURCE }] };
const LOOK = { relation: "cross", layer: 1, head: 0, scope: /** @type {const} */ ("layer") };
/** @param {number} times */
const at = (times) => start(SCENARIO, times, "step", LOOK);
const TEXT = "the report was not convincing . the black cat sleeps .".split(" ");
const ROW = 7; // it holds the second "the"; <bos> is row 0
const OWN = { architecture: "decoder_only", task: "language_model", phase: "train", training: { batch: "mine" }, requests: [{ target: TEXT }] };
const trains = () => start(OWN, 1, "step", { relation: "target_self", layer: 1, pane: /** @type {const} */ ("map"), scope: /** @type {const} */ ("all") });

/** The model wrote what it writes by itself. @param {See} see @param {string[]} rows */
const stands = (see, rows) => see.phase === "decode" && see.stage === "" && see.tokens("s").join() === SOURCE.join() && see.tokens().join() === ["<bos>", ...rows].join();
/** Source row 2 is hidden from a row in layer 2, and no other source row from any. @param {See} see @param {number} row */
const without = (see, row) => {
  const cells = see.hidden("cross");
  return cells.every((c) => c.key === CAT) && cells.some((c) => c.query === row && c.layers.includes(1)) && see.deciding() === row;
};
/** @param {See} see @param {number} row */
const reads = (see, row) => see.reads("cross", 1, row);
/** @param {See} see @param {number} row */
const readsNow = (see, row) => msg`${reads(see, row).open} of ${reads(see, row).of}`;
/** How far the prediction is from the unedited one. @param {See} see */
const apartNow = (see) => (see.apart() ? msg`KL ${see.apart()} nats` : msg`nothing hidden`);
/** @param {See} see @param {string} name */
const noted = (see, name) => String(see.note(name) ?? "–");

/** Source row 2 was hidden in this step, nothing is now, and row 1 decides. @param {See} see */
const back = (see) => !!see.kept.met?.includes(0) && stands(see, ["le"]) && !see.hidden("cross").length && !!see.lead();
const AGAIN = ["same", "less", "other"];
const again = () => labelled(AGAIN, [msg`exactly what it had`, msg`a little less`, msg`less than another word`]);
/** @param {See} see */
const became = (see) => (see.lead()?.token !== "chat" ? "other" : see.p("chat") === Number(see.note("p")) ? "same" : "less");

/** @param {See} see */
const training = (see) => see.scenario.architecture === "decoder_only" && see.phase === "train" && see.scenario.training?.batch === "mine" && see.trained(0).length > ROW;
/** How many rows may see their own label, as the check of this moment says; null where that cell is not shown. @param {See} see */
function inSight(see) {
  const shown = training(see) && see.uncovered("target_self").some((c) => c.query === ROW && c.key === ROW + 1);
  const check = see.check("labels_hidden");
  return shown && check?.status === "fail" ? parseInt(check.measured, 10) : null;
}
const SIGHT = ["1", "5", "12"];
const sights = () => labelled(SIGHT, [msg`${1}: that row`, msg`${5}: the rows from there on`, msg`${12}: all`]);

/** @param {(see: See) => string[]} words @returns {Pick<import("../types").Question, "options" | "bar" | "reveal">} */
const nextWord = (words) => ({ options: (see) => words(see).map((token) => ({ key: token, label: token, role: "d" })), bar: "d", reveal: "you" });
const AFTER_LE = ["chat", "noir", "livre"];
const AFTER_CHAT = ["noir", "dort", "chat"];

/** @type {import("../types").Lesson} */
export const mask = {
  id: "mask",
  title: () => msg`What a hidden row changes`,
  about: () => msg`It depends on who would have read it, and the unedited prediction says how much.`,
  begin: at(1),
  steps: [
    {
      title: () => msg`Hide source row 2`,
      text: () => [
        parts`${q("le")} is row 1, and ${d("chat")} leads. Source row 2 is ${k("cat")}. What if no target row may read it in layer 2?`,
        parts`Answer. Then turn on ${b(msg`Edit mask`)} and click the name ${k("cat")} above its column: the step runs again without it.`,
      ],
      at: { says: () => msg`decode ${1}`, here: (see) => stands(see, ["le"]), start: at(1) },
      ring: (see) => (without(see, 1) ? "#slot-next" : "#slot-map"),
      predict: {
        ...nextWord(() => AFTER_LE),
        asks: () => parts`without source row 2, what follows ${q("le")}?`,
        measured: (see) => (stands(see, ["le"]) && without(see, 1) ? AFTER_LE.map((token) => see.p(token)) : null),
        verdict: (see, said) => ruled(said === see.lead()?.token, said, parts`${d(see.lead()?.token ?? "")} leads at ${mono(probability(see.lead()?.probability ?? NaN, 2))}${measured}; ${d("chat")} had ${mono(probability(see.unedited("chat"), 2))} and has ${mono(probability(see.p("chat"), 2))}${measured}.`),
      },
      checks: [
        { says: () => parts`source row 2 is hidden, alone`, done: (see) => without(see, 1), now: (see) => readsNow(see, 1), mark: "e" },
        { says: () => parts`beside it stands the unedited prediction`, done: (see) => without(see, 1) && !!see.apart(), now: apartNow, mark: "f" },
      ],
      verdict: (see) => parts`${b(msg`Next token`)} shows both: dashed what these rows and weights say without your mask, filled what they say with it. KL ${mono(see.apart())}${formula} nats is how far apart they are; 0 would be no change.`,
      hint: () => parts`The columns of the map are source rows, in layer 2 (L2). In ${b(msg`Edit mask`)} a click on a column’s name hides all of it.`,
      note: (see) => ({ p: see.unedited("chat"), apart: see.apart() }),
    },
    {
      title: () => msg`Put it back`,
      text: () => [parts`A mask is no part of the weights. Answer, hide source row 2 once more, then put it back: a second click on ${k("cat")}, or ${b(msg`Back`)}.`],
      at: { says: () => msg`decode ${1}`, here: (see) => stands(see, ["le"]), start: at(1) },
      ring: () => "#slot-map",
      predict: {
        asks: () => parts`hidden and put back: what does ${d("chat")} have then?`,
        options: again,
        bar: "d",
        measured: (see) => (back(see) ? one(AGAIN, became(see), see.p("chat")) : null),
        shows: (value) => probability(value, 4),
        reveal: "you",
        verdict: (see, said) => ruled(said === became(see), again().find((o) => o.key === said)?.label ?? "", parts`Before ${mono(probability(Number(see.note("p")), 4))}, now ${mono(probability(see.p("chat"), 4))}${measured}: the same, to the last digit.`),
      },
      checks: [
        { says: () => parts`source row 2 was hidden`, done: (see) => without(see, 1), now: (see) => readsNow(see, 1), mark: "e", once: true },
        { says: () => parts`nothing is hidden, and ${d("chat")} leads as before`, done: (see) => back(see) && became(see) === "same", now: leadNow, mark: "m" },
      ],
      verdict: () => parts`The step ran again, from the same rows with the same weights: nothing was learned from being hidden, and nothing is left of it. So what a mask changes can be tried as often as one likes.`,
      hint: () => parts`In ${b(msg`Edit mask`)} a click on a column’s name hides all of it; a second click shows it again.`,
    },
    {
      title: () => msg`The same row, another reader`,
      text: (see) => [parts`One step on. Row 2 holds ${q("chat")} and decides ${d("noir")}. For row 1 hiding ${k("cat")} made a difference of ${mono(noted(see, "apart"))} nats. Answer, then hide the column of ${k("cat")} here.`],
      at: { says: () => msg`decode ${2}`, here: (see) => stands(see, ["le", "chat"]), start: at(2) },
      ring: (see) => (without(see, 2) ? "#slot-next" : "#slot-map"),
      predict: {
        ...nextWord(() => AFTER_CHAT),
        asks: () => parts`without source row 2, what follows ${q("chat")}?`,
        measured: (see) => (stands(see, ["le", "chat"]) && without(see, 2) ? AFTER_CHAT.map((token) => see.p(token)) : null),
        verdict: (see, said) => ruled(said === see.lead()?.token, said, parts`${d(see.lead()?.token ?? "")}, at ${mono(probability(see.lead()?.probability ?? NaN, 3))}${measured}; unedited ${mono(probability(see.unedited("noir"), 3))}.`),
      },
      checks: [{ says: () => parts`source row 2 is hidden, alone`, done: (see) => without(see, 2), now: apartNow, mark: "f" }],
      verdict: (see) => parts`KL ${mono(see.apart())}${formula} nats here, ${mono(noted(see, "apart"))} for row 1. “Is this row needed?” has no answer by itself: it depends on which row reads, in which layer.`,
    },
    {
      title: () => msg`One row is enough?`,
      text: () => [parts`${b(msg`Challenge.`)} Back at row 1. Let it read a single source row in layer 2, and ${d("chat")} still lead.`],
      at: { says: () => msg`decode ${1}`, here: (see) => stands(see, ["le"]), start: at(1) },
      ring: () => "#slot-map",
      checks: [
        { says: () => parts`row 1 reads one source row in layer 2`, done: (see) => stands(see, ["le"]) && reads(see, 1).open === 1, now: (see) => readsNow(see, 1), mark: "e" },
        { says: () => parts`${d("chat")} leads`, done: (see) => stands(see, ["le"]) && reads(see, 1).open === 1 && see.lead()?.token === "chat", now: leadNow, mark: "m" },
      ],
      hint: () => parts`Hide the three columns whose words are not ${k("cat")}, or drag over three cells in the line of ${q("le")}.`,
      verdict: (see) => parts`${d("chat")} has ${mono(probability(see.p("chat"), 3))}${measured}, unedited ${mono(probability(see.unedited("chat"), 3))}. It does not follow that the other words are not used: layer 1 may read them still, and the encoder may have put something of each into the row of ${k("cat")}.`,
    },
    {
      title: () => msg`A cell of the future`,
      text: () => [
        parts`Another run: a decoder-only model in training, after one update. Its mask is causal, so row ${ROW}, ${q(TEXT[ROW - 1])}, cannot read row ${ROW + 1}, whose word ${d(TEXT[ROW])} it must predict.`,
        parts`Answer. Then ${b(msg`Edit mask`)}, and click the cell of line ${ROW}, column ${ROW + 1}. See what the sentence above the map says.`,
      ],
      at: { says: () => msg`decoder-only, update 1`, here: (see) => training(see) && see.updates === 1 && !see.stage, start: trains() },
      ring: () => "#slot-map",
      predict: {
        asks: () => parts`with that cell shown, how many of the ${TEXT.length + 1} rows see their own label?`,
        options: sights,
        bar: "g",
        measured: (see) => (inSight(see) === null ? null : one(SIGHT, String(inSight(see)), inSight(see) ?? 0)),
        shows: (value) => String(value),
        reveal: "you",
        verdict: (see, said) => ruled(said === String(inSight(see)), sights().find((o) => o.key === said)?.label ?? said, parts`${inSight(see) ?? 0}${exact}. Row ${ROW} may copy what it should predict; its loss can fall with nothing learned, and when the model writes, the row after it does not exist yet.`),
      },
      checks: [
        { says: () => parts`a check fails: ${i(msg`no row sees its own label`)}`, done: (see) => inSight(see) !== null, now: (see) => (inSight(see) === null ? msg`it holds` : (see.check("labels_hidden")?.measured ?? "")), mark: "e", once: true },
      ],
      verdict: (see) => parts`The loss of row ${ROW} is ${mono(figure(number(see.trained(0)[ROW]?.loss), 2))}${measured}. These weights were trained without that cell; further updates may teach them to copy from it. ${b(msg`Back`)} hides it again.`,
      hint: () => parts`Under the loss rows choose ${b(msg`Who may read`)} if the map is not there. The cell stands just right of the diagonal; ${b(msg`all layers`)} is set.`,
    },
    {
      title: () => msg`What you can now say`,
      text: () => [parts`Say it in a sentence of your own, then compare it with ours.`],
      write: {
        asks: () => parts`What changes when a source row is hidden, and how do you know?`,
        ours: () => parts`The rows that would have read it compute without it; what they then decide may change much, or not at all, and the unedited prediction beside it, with the KL, says how much. It is a test of this row, this layer and this step, not a rule about the word. Shown again, all is as it was.`,
      },
      checks: [],
    },
  ],
};
