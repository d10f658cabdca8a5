import assert from "node:assert/strict";
import test from "node:test";

import { cellText, geometry, luminance, place, rgb } from "../../../assets/lib/canvas.mjs";
import { cutAt, forgetCut, noteCut } from "../../../assets/lib/draw/whole.mjs";

test("cells share the room that is left, and a point finds its cell", () => {
  const geo = geometry(120, 90, { rows: 2, columns: 4, left: 20, top: 10 });
  assert.deepEqual([geo.cellWidth, geo.cellHeight], [25, 40]);
  assert.deepEqual(geo.at(20, 10), { row: 0, column: 0 });
  assert.deepEqual(geo.at(119, 89), { row: 1, column: 3 });
  assert.equal(geo.at(19, 50), null);
  assert.deepEqual(geo.box(1, 2), { x: 70, y: 50, w: 25, h: 40 });
});

test("no cell is larger than it may be, and no room means no cells", () => {
  const geo = geometry(1000, 1000, { rows: 2, columns: 2, maxCell: 40 });
  assert.deepEqual([geo.cellWidth, geo.cellHeight], [60, 40]);
  assert.equal(geometry(10, 10, { rows: 2, columns: 2, left: 20 }).cellWidth, 0);
});

test("linear, diverging and logarithmic scales", () => {
  assert.equal(place(0.25), 0.25);
  assert.deepEqual([place(0, { diverging: true }), place(-9, { max: 2, diverging: true }), place(1, { max: 2, diverging: true })], [0.5, 0, 0.75]);
  assert.deepEqual([place(0.02, { max: 2, diverging: true, root: true }), place(-2, { max: 2, diverging: true, root: true })], [0.55, 0]);
  assert.deepEqual([place(1, { decades: 3 }), place(0.001, { decades: 3 }), place(0, { decades: 3 })], [1, 0, 0]);
  assert.ok(Math.abs(place(0.1, { decades: 2 }) - 0.5) < 1e-12);
});

test("a cell's number keeps its sign and loses its leading zero", () => {
  assert.deepEqual([0.853, 1, -0.07, 0].map(cellText), [".85", "1.0", "−.07", ".00"]);
  assert.equal(cellText(-1.5), "−1.50");
});

test("luminance tells light from dark", () => {
  assert.equal(luminance(rgb("#FFFFFF")).toFixed(3), "1.000");
  assert.equal(luminance(rgb("#000000")), 0);
  assert.ok(luminance(rgb("#50C6AD")) > 0.3 && luminance(rgb("#414082")) < 0.3);
});

test("a word that had no room is found whole where it stands, until the canvas is cleared", () => {
  const canvas = /** @type {any} */ ({});
  const g = /** @type {any} */ ({ canvas, getTransform: () => ({ a: 2, d: 2, e: -20, f: 0 }) });
  noteCut(g, "proposition", 30, 4, 40, 20);
  assert.equal(cutAt(canvas, 25, 10), "proposition"); // moved left by 10 px of the page
  assert.equal(cutAt(canvas, 65, 10), "");
  forgetCut(canvas);
  assert.equal(cutAt(canvas, 25, 10), "");
});
