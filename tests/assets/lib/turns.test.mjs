import assert from "node:assert/strict";
import test from "node:test";

import { lanes, turnName } from "../../../assets/lib/deck/turns.mjs";
import { shelves } from "../../../assets/lib/states/kept.mjs";
import { sentence } from "../../../assets/views/sentence.mjs";
import { candidate, node, request, row, world } from "../views/world.mjs";

const bos = row("<bos>", "known", "special");
const wrote = (...tokens) => tokens.map((t) => row(t, "known", "model"));
const A = request({ target: [bos, ...wrote("le", "chat")], joined: null, left: 2, finished: "left", candidates: [], choice: null });
const B = request({ target: [bos, row("un"), ...wrote("chien", "<eos>")], joined: null, left: null, finished: "eos", candidates: [], choice: null });
const C = request({ target: [bos, row("le", "known", "chosen")], joined: 2, left: null, candidates: [candidate(7, "noir", 0.8)] });

function changed() {
  const w = world();
  w.moved = { ...w.moved, step: 3, requests: [A, B, C], kept: [{ path: "decoder.layer0.self.keys", axes: ["b", "h", "t'", "e"], shape: [2, 2, 4, 4], bytes: 256, grows: true, bytes_per_row: 64 }] };
  return w;
}

test("a turn is called by who comes and who goes", () => {
  const names = [{ command: "join", label: "1" }, { command: "leave", label: "0" }].map((n) => turnName(node(5, 4, "decode", 3, n)));
  assert.deepEqual(names, ["B joins", "A leaves"]);
});

test("a lane places each request on its own row and its own steps", () => {
  const { steps, lanes: found } = lanes(changed());
  assert.equal(steps, 3);
  assert.deepEqual(found.map((l) => l.cells.map((c) => `${c.kind} ${c.text}`.trim())), [
    ["reads 1", "token le", "token chat", "left", ""],
    ["reads 2", "token chien", "token <eos>", "holds", "holds"],
    ["", "", "reads 1", "chosen le", "next noir"],
  ]);
  assert.deepEqual(found.map((l) => [l.name, l.here, l.rows, l.bytes]), [["A", false, 0, 0], ["B", true, 4, 128], ["C", true, 2, 128]]);
});

test("what is measured of each request alone stands in its lane while the run stands there", () => {
  const w = changed();
  w.analysis = { batch_equals_alone: { result: { moment: 2, by_request: [null, 1e-7, 2e-7] } } };
  assert.deepEqual(lanes(w).lanes.map((l) => l.off), [null, 1e-7, 2e-7]);
  w.moved = { ...w.moved, at: 1 };
  assert.deepEqual(lanes(w).lanes.map((l) => l.off), [null, null, null]);
});

test("the ledger has those who are here", () => {
  assert.deepEqual(shelves(changed()).map((s) => s.title), ["Request B", "Request C"]);
});

test("a turn is told in one sentence", () => {
  const w = changed();
  const said = (command, label) => {
    w.history.set(2, node(2, 1, "decode", 2, { command, label }));
    return sentence(w, () => NaN, 0).parts.map((p) => p.text).join("");
  };
  assert.equal(said("join", "2"), "C joins after step 2: prefill of 1 row on its own; noir leads at 0.800.");
  assert.equal(said("leave", "0"), "A leaves after step 2: its rows are freed; nothing changes for 2 others.");
});
