import assert from "node:assert/strict";
import test from "node:test";

import { coldWords } from "../../../assets/lib/page/cold.mjs";
import { fit } from "../../../assets/lib/page/printing.mjs";

test("after a second the wait is told: as long as last time, else what has passed", () => {
  assert.equal(coldWords(400, 3000), "Starting the model. The set-up can be edited meanwhile.");
  assert.match(coldWords(1200, 3100), /About 2 s more, as last time\.$/);
  assert.match(coldWords(5200, 3100), /5 s so far\.$/);
  assert.match(coldWords(2000, null), /2 s so far\.$/);
});

test("a stage is printed as large as one page lets it be", () => {
  assert.equal(fit(2000, 700, 1000, 700), 0.5);
  assert.equal(fit(1000, 1400, 1000, 700), 0.5);
  assert.equal(fit(300, 200, 1000, 700), 1.4);
});
