import assert from "node:assert/strict";
import test from "node:test";

import { requestOf, taskOf } from "../../../assets/compare/asked.mjs";

const stream = { id: "stream", name: "Stream", source: false, restates: { task: "one", before: [], after: ["→"] } };
const text = { id: "text", name: "Text", source: true, restates: { task: "one", before: ["translate", ":"], after: [] } };
const one = { id: "one", name: "One", source: true, restates: null };

test("a model that learned the same sentences in other words can share them", () => {
  const tasks = [one, stream, text];
  assert.deepEqual(["one", "stream", "text", "other"].map((id) => taskOf({ tasks: [id] }, "one", tasks)), ["one", "stream", "text", null]);
  assert.equal(taskOf({ tasks: ["one"] }, "text", tasks), null);
});

test("each is given the sentence as its own task has it", () => {
  const input = { source: ["the", "cat"], target: ["le"] };
  assert.deepEqual(requestOf(one, "one", input), input);
  assert.deepEqual(requestOf(stream, "one", input), { target: ["the", "cat", "→", "le"] });
  assert.deepEqual(requestOf(text, "one", input), { source: ["translate", ":", "the", "cat"], target: ["le"] });
  assert.deepEqual(requestOf(stream, "stream", { source: null, target: ["the", "→"] }), { target: ["the", "→"] });
});
