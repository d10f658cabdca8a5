import assert from "node:assert/strict";
import test from "node:test";

import score, { sum, tokens, unknownWords } from "../../../assets/views/score.mjs";
import { world } from "./world.mjs";

const result = { tokens: ["le", "zèbre", "<eos>"], ids: [4, 3, 2], log_p: [-0.1, -7.5, "-Infinity"], rank: [1, 12, 3], best: [4, 5, 5], best_log_p: [-0.1, -0.2, -0.3], total: -7.6, unknown: ["zèbre"] };

test("each token has its log p; where another word was more probable, that word is named", () => {
  const found = tokens(result, ["", "", "", "", "le", "chat"]);
  assert.deepEqual(found.map((t) => [t.token, t.logP, t.rank]), [["le", -0.1, 1], ["zèbre", -7.5, 12], ["<eos>", -Infinity, 3]]);
  assert.deepEqual([found[0].best, found[1].best], ["", "11 more probable; most of all chat, log p −0.20"]);
});

test("the sum says that <eos> counts, and unknown words are named", () => {
  assert.match(sum(result), /^p (5\.0?e-4|0\.001) with <eos>$/);
  assert.equal(unknownWords(result.unknown), "Not in the vocabulary, scored as <unk>: zèbre.");
  assert.equal(unknownWords([]), "");
});

test("it takes the place of the next token when it is asked for, and has a table", () => {
  assert.equal(score.applies(world()), false);
  const asked = world({ analysis: { score_text: { result } } }, { decision: "score" });
  assert.equal(score.applies(asked), true);
  assert.deepEqual(score.table(asked).rows[0], ["le", -0.1, 1]);
});
