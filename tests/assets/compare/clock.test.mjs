import assert from "node:assert/strict";
import test from "node:test";

import { Clock } from "../../../assets/compare/clock.mjs";
import { whyNot } from "../../../assets/compare/said.mjs";

/** A column that takes texts of at most so many tokens. */
function column(most) {
  const run = { texts: [["the"]], problem: "", world: { moved: null }, commands: {
    change: async ({ requests }) => {
      if (requests[0].source.length <= most) return { ok: !!run.texts.push(requests[0].source), errors: [] };
      return { ok: false, errors: [{ field: "requests.0.source", message: `requests.0.source has 3 tokens; allowed: at most ${most} tokens.` }] };
    },
    undo: async () => ({ ok: !!run.texts.pop(), errors: [] }),
  } };
  return run;
}

test("all models read another input, or where one refuses it none does, and the page says why by the name of its field", async () => {
  const columns = [column(9), column(2), column(9)];
  const page = { now: { source: ["the"], phase: "decode" }, columns, refused: "", playing: 0, busy: false, owed: false };
  const clock = new Clock(page, { paint: () => {}, rested: () => {} });
  const reads = (source) => clock.reads({ ...page.now, source }, () => [{ source: page.now.source }]);
  await reads(["the", "cat"]);
  assert.deepEqual([page.now.source, page.refused, columns.map((c) => c.texts.length)], [["the", "cat"], "", [2, 2, 2]]);
  await reads(["the", "black", "cat"]);
  assert.deepEqual([page.now.source, page.refused], [["the", "cat"], "The source has 3 tokens; allowed: at most 2 tokens."]);
  assert.deepEqual(columns.map((c) => c.texts.at(-1)), [["the", "cat"], ["the", "cat"], ["the", "cat"]]);
});

test("a word of the prompt that is refused is told as the prompt", () => {
  assert.equal(whyNot({ message: "requests.0.target.4 was given 'x'; allowed: at most 500 characters" }), "The prompt was given 'x'; allowed: at most 500 characters");
});
