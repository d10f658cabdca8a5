import assert from "node:assert/strict";
import test from "node:test";

import { reasons } from "../../../assets/lib/deck/reasons.mjs";
import { world } from "../views/world.mjs";

test("a button that cannot be pressed says why", () => {
  const ended = (more = {}, task = { objective: "next_token" }) => {
    const w = world();
    return reasons({ ...w, opened: { ...w.opened, task }, moved: { ...w.moved, ended: true, ...more } }).step;
  };
  assert.deepEqual(reasons(world()), { step: "", back: "", pause: "" });
  assert.match(ended(), /^Every request has ended/);
  assert.match(ended({}, { objective: "class" }), /nothing is written/, "where nothing is written no token can be chosen");
  assert.match(ended({ unreadable: "logits" }), /no distribution/);
  assert.match(ended({ phase: "train" }), /not finite/);
  assert.match(reasons({ ...world(), role: "reader" }).back, /^Read only/);
  assert.match(reasons({ ...world(), connection: "offline" }).pause, /^Not connected/);
});
