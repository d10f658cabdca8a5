import assert from "node:assert/strict";
import test from "node:test";

import { decode } from "../../../assets/lib/run/wire.mjs";
import { frame } from "./frames.mjs";

test("metadata and event come back as they were sent", () => {
  const got = decode(frame("moved", { at: 3, requests: [] }, { session: "abc", epoch: 7, seq: 12 }));
  assert.deepEqual([got.kind, got.session, got.epoch, got.seq, got.event], ["moved", "abc", 7, 12, { at: 3, requests: [] }]);
});

test("fp16: normal, subnormal, infinite and not a number", () => {
  const bits = Uint16Array.from([0x0000, 0x3c00, 0xc000, 0x3555, 0x0001, 0x7bff, 0x7c00, 0xfc00, 0x7e00]);
  const { data } = decode(frame("values", { pieces: [] }, { tensors: { x: ["F16", [9], bits] } })).tensors.get("x");
  assert.deepEqual([...data.slice(0, 3)], [0, 1, -2]);
  assert.ok(Math.abs(data[3] - 1 / 3) < 2e-4);
  assert.equal(data[4], 2 ** -24);
  assert.deepEqual([data[5], data[6], data[7]], [65504, Infinity, -Infinity]);
  assert.ok(Number.isNaN(data[8]));
});

test("u8 is scaled by its piece's low and high, and 0 of a scale from 0 stays exactly 0", () => {
  const event = { pieces: [{ array: { tensor: "x", low: 0, high: 0.5 } }] };
  const { data } = decode(frame("values", event, { tensors: { x: ["U8", [1, 3], Uint8Array.from([0, 255, 51])] } })).tensors.get("x");
  assert.equal(data[0], 0);
  assert.equal(data[1], 0.5);
  assert.ok(Math.abs(data[2] - 0.1) < 1e-7);
});

test("fp32, i32 and bool are taken as they are, also where they do not begin on their own size", () => {
  const got = decode(frame("values", { pieces: [] }, { tensors: {
    flags: ["BOOL", [3], Uint8Array.from([1, 0, 1])], x: ["F32", [2], Float32Array.from([1.5, -2.25])], n: ["I32", [1], Int32Array.from([-7])],
  } }));
  assert.deepEqual([...got.tensors.get("x").data], [1.5, -2.25]);
  assert.deepEqual([...got.tensors.get("n").data], [-7]);
  assert.deepEqual([...got.tensors.get("flags").data], [1, 0, 1]);
});

test("numbers that JSON cannot hold come back as numbers; a word NaN stays a word", () => {
  const { event } = decode(frame("moved", {
    train: { loss: "NaN", norm: "Infinity", parameter_norms: [["W", "-Infinity"], ["V", 2]] }, requests: [{ source: null, target: { token: ["NaN"], id: [3], state: "k", origin: "p", would: { 0: "Infinity" } }, candidates: { id: [1], token: ["Infinity"], probability: ["NaN"] } }],
  }));
  assert.ok(Number.isNaN(event.train.loss));
  assert.equal(event.train.norm, Infinity);
  assert.deepEqual(event.train.parameter_norms, [["W", -Infinity], ["V", 2]]);
  assert.deepEqual(event.requests[0].target, [{ token: "NaN", id: 3, state: "known", origin: "person", would: "Infinity" }]);
  assert.equal(event.requests[0].source, null);
  assert.equal(event.requests[0].candidates[0].token, "Infinity");
  assert.ok(Number.isNaN(event.requests[0].candidates[0].probability));
});

test("a frame cut short or with a tensor of another size is refused", () => {
  const whole = frame("values", { pieces: [] }, { tensors: { x: ["F32", [2], Float32Array.from([1, 2])] } });
  assert.throws(() => decode(whole.slice(0, whole.byteLength - 4)), RangeError);
  assert.throws(() => decode(whole.slice(0, 40)), RangeError);
});

test("16-bit floats are read where an odd number of them lies before", () => {
  const { tensors } = decode(frame("values", { pieces: [] }, { tensors: { a: ["F16", [1], Uint16Array.of(0x3c00)], b: ["F16", [2], Uint16Array.of(0x4000, 0xc000)] } }));
  assert.deepEqual([...tensors.get("b").data], [2, -2]);
});
