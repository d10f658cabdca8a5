import assert from "node:assert/strict";
import test from "node:test";

import { inside, meant, measuredNext, measuredRead, nextPoll, nextRow, OTHER, ownPoll, readPoll, right, words } from "../../../assets/class/polls.mjs";
import { answerOf, wanted } from "../../../assets/class/measuring.mjs";
import { candidate, known, request, row, training, world } from "../views/world.mjs";

const moved = (w, more) => ({ ...w, moved: { ...w.moved, ...more } });
/** The next step was made: row 3 is noir, and decides dort. */
const stepped = (token = "noir") => {
  const target = [row("<bos>"), row("le"), row("chat"), row(token, "new", "model")];
  return moved(world(), { step: 3, requests: [request({ target, decision_row: 3, choice: 5, candidates: [candidate(5, "dort", 0.861), candidate(7, "noir", 0.1)] })] });
};

test("the row that is asked about is the one that the next step computes", () => {
  assert.deepEqual(nextRow(world()), { row: 3, token: "noir" });
  assert.deepEqual(nextRow(moved(world(), { stage: "choose" })), { row: 2, token: "chat" }, "a chosen token is not read yet");
  assert.deepEqual(nextRow(moved(world(), { phase: "prefill", step: 0 })), { row: 2, token: "chat" }, "nothing is read yet");
  assert.match(nextRow(moved(world(), { ended: true })), /^Nothing goes on/);
  assert.match(nextRow(training()), /^In training/);
});

test("who will be read most: the keys of the shown read, and where it is", () => {
  const { asked } = readPoll(world());
  assert.deepEqual(asked.options, [{ text: "the", key: "0" }, { text: "black", key: "1" }, { text: "cat", key: "2" }]);
  assert.equal(asked.question, "Which source word will row 3 noir read most?");
  assert.equal(inside(asked.about), "L2 H1, cross");
  const own = readPoll(world({}, { relation: "target_self", layer: 0, head: 1 })).asked;
  assert.deepEqual(own.options.map((o) => o.text), ["<bos>", "le", "chat", "noir"], "a row may read itself");
  assert.equal(own.question, "Which row will row 3 noir read most?");
});

test("words that stand twice have their rows, and what cannot be asked says why", () => {
  const twice = moved(world(), { requests: [request({ source: [row("the"), row("cat"), row("the")] })] });
  assert.deepEqual(readPoll(twice).asked.options.map((o) => o.text), ["the (0)", "cat", "the (2)"]);
  const long = moved(world(), { requests: [request({ source: Array.from({ length: 13 }, () => row("a")) })] });
  assert.match(readPoll(long).why, /13 rows to read; a question has at most 12/);
  assert.match(readPoll(moved(world(), { requests: [request({ source: [row("a")] })] })).why, /one row/);
  assert.match(readPoll(world({}, { relation: "source_self" })).why, /read already/);
});

test("which token comes next: words that it may be, in an order that tells nothing, and another one", () => {
  const w = world();
  w.opened = { ...w.opened, gold: [{ target: ["le", "chat", "noir", "sommeille"], links: [] }] };
  const { asked } = nextPoll(w);
  assert.deepEqual(asked.options.map((o) => o.key), ["dort", "sommeille", OTHER], "not the word that is written already");
  assert.equal(words(asked), "Which token comes after row 3 noir?");
});

test("the answer is what the run recorded for that row, and none before", () => {
  const { asked } = readPoll(world());
  const weights = [[0, 0, 0], [0, 0, 0], [0, 0, 0], [0.1, 0.2, 0.7]];
  const at = (r, k) => weights[r]?.[k] ?? NaN;
  assert.equal(measuredRead(world(), asked.about, 3, at), null);
  assert.deepEqual(measuredRead(stepped(), asked.about, 3, at), { option: 2, measured: "0.700" });
  assert.equal(measuredRead(stepped("brun"), asked.about, 3, at), null, "another word was chosen: it is another question");
  assert.equal(measuredRead(stepped(), asked.about, 3, () => NaN), null, "its values are not here yet");
});

test("the token that came, with its probability, is an option or another one", () => {
  const about = nextPoll(world()).asked.about;
  assert.deepEqual(measuredNext(stepped(), about, [{ text: "dort", key: "dort" }, { text: "mange", key: "mange" }]), { option: 0, measured: "0.861" });
  assert.deepEqual(measuredNext(stepped(), about, [{ text: "mange", key: "mange" }, { text: "another one", key: OTHER }]), { option: 1, measured: "dort 0.861" });
  assert.equal(measuredNext(world(), about, []), null);
});

test("a question about a read watches that read, wherever the page looks", () => {
  const poll = { ...readPoll(world()).asked, answer: null, measured: "" };
  assert.deepEqual(wanted(world({}, { layer: 0 }), poll), [{ path: "decoder.layer1.cross.weights", index: { b: 0, h: 0 }, dtype: "f32" }]);
  assert.deepEqual(wanted(world(), null), []);
  const values = () => [known("decoder.layer1.cross.weights", "b h t s", [[[[0, 0, 0], [0, 0, 0], [0, 0, 0], [0.3, 0.6, 0.1]]]])];
  assert.deepEqual(answerOf({ ...stepped(), values }, poll), { option: 1, measured: "0.600" });
  assert.equal(answerOf(stepped(), { ...poll, about: null }), null);
});

test("a question of one's own is taken as it is typed, or it says what is wrong", () => {
  assert.deepEqual(ownPoll(" Why? ", "a\n\n b \n").asked, { question: "Why?", options: [{ text: "a", key: null }, { text: "b", key: null }] });
  assert.match(ownPoll("", "a\nb").why, /Type the question/);
  assert.match(ownPoll("x".repeat(201), "a\nb").why, /201 characters/);
  assert.match(ownPoll("Why?", "a").why, /There are 1 answers.*2 to 12/);
  assert.match(ownPoll("Why?", `${"y".repeat(61)}\nb`).why, /61 characters/);
  assert.match(ownPoll("Why?", "a\na").why, /the same/);
});

test("how many said what was measured", () => {
  assert.equal(right({ counts: [1, 9, 5], answer: 2 }), 5);
  assert.equal(right({ counts: null, answer: null }), 0);
});

test("a question is about one model and its input: the same row of another run answers nothing", () => {
  const about = nextPoll(world()).asked.about;
  const options = [{ text: "dort", key: "dort" }];
  assert.ok(meant(world(), about) && meant(world(), null), "a question of one's own is about no run");
  const other = stepped();
  other.opened = { ...other.opened, scenario: { ...other.opened.scenario, requests: [{ source: ["the", "old", "cat"] }] } };
  assert.equal(meant(other, about), false);
  assert.equal(measuredNext(other, about, options), null);
});
