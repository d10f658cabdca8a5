import assert from "node:assert/strict";
import { test } from "node:test";

import { edges, layersByWindow, patterned, reached } from "../../../assets/lib/map/reach.mjs";
import view, { reach } from "../../../assets/views/inspector_edges.mjs";
import { sentence } from "../../../assets/views/sentence.mjs";
import { causal, full, row, world } from "./world.mjs";

const rows = Array.from({ length: 10 }, (_, i) => row(String(i)));
const window_ = { program: "sliding", parameter: 1, cells: [], every: 1, global_rows: [] };
const global = { ...window_, global_rows: [0] };

test("cells of a window beside the full form and its bound; padding counts nowhere", () => {
  assert.deepEqual(edges(window_, rows), { open: 28, full: 100, causal: false, bound: 30 });
  assert.deepEqual(edges(global, rows), { open: 44, full: 100, causal: false, bound: 50 });
  assert.deepEqual(edges({ ...window_, program: "causal_sliding" }, rows), { open: 19, full: 55, causal: true, bound: null });
  assert.equal(edges({ ...window_, global_rows: [0, 10] }, rows).bound, 50, "a global row that is not there widens nothing");
  assert.deepEqual(edges(window_, [...rows.slice(0, 4), row("<pad>", "padded")]), { open: 10, full: 16, causal: false, bound: 12 });
});

test("each layer reaches one window further, and a global row all of it", () => {
  assert.deepEqual(reached([window_, window_, window_], 5, rows).map((s) => s.size), [3, 5, 7]);
  assert.deepEqual(reached([window_, window_], 0, rows).map((s) => [...s].sort()), [[0, 1], [0, 1, 2]]);
  assert.deepEqual(reached([global, global], 5, rows).map((s) => s.size), [4, 10]);
  assert.deepEqual(reached([{ ...window_, every: 2 }], 5, rows).map((s) => [...s].sort()), [[3, 5, 7]]);
  assert.deepEqual([...reached([full, window_], 5, rows)[0]].sort(), [4, 5, 6], "the top layer reads last");
});

test("how many layers of windows lead to a row", () => {
  assert.equal(layersByWindow(window_, 7), 7);
  assert.equal(layersByWindow({ ...window_, parameter: 8, every: 2 }, 142), 9);
  assert.equal(layersByWindow(causal, 7), null);
});

test("only a read of one's own kind through a pattern has them", () => {
  assert.equal(view.applies(world()), false);
  const base = world({}, { relation: "target_self", layer: 0, lock: { row: 2, key: 0 } });
  const masks = [window_, window_].map((m) => ({ ...m, program: "causal_sliding", own: false }));
  const w = { ...base, opened: { ...base.opened, relations: base.opened.relations.map((r) => (r.name === "target_self" ? { ...r, masks } : r)) } };
  assert.equal(patterned(w)?.info.name, "target_self");
  const cross = { ...base, look: { ...base.look, relation: "cross" }, opened: { ...base.opened, relations: base.opened.relations.map((r) => (r.name === "cross" ? { ...r, masks } : r)) } };
  assert.equal(patterned(cross), null);
  assert.deepEqual([reach(w)?.row, reach(w)?.watched, reach(w)?.needs], [2, 0, 2]);
  assert.deepEqual(view.table(w).rows, [[1, 2, 3, 0, false], [2, 3, 3, 0, true]]);
  const said = (v) => sentence(v, () => 0.5).parts.map((p) => p.text).join("");
  assert.match(said(w), /cannot read <bos>: a way there takes 2 layers of this pattern/);
  const one = { ...w, opened: { ...w.opened, relations: w.opened.relations.map((r) => ({ ...r, masks: r.masks.slice(0, 1) })) } };
  assert.match(said(one), /cannot read <bos>: 1 layer of this pattern reaches only rows 1–2/);
});
