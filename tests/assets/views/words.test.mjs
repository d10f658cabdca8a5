import assert from "node:assert/strict";
import test from "node:test";

import { age, axisName, bytes, duration, figure, leaf, number, opName, percent, probability, requestName, severalStacks } from "../../../assets/lib/words.mjs";

test("numbers that JSON cannot say come back", () => {
  assert.deepEqual([number(1.5), number("Infinity"), number("-Infinity"), number("NaN")], [1.5, Infinity, -Infinity, NaN]);
});

test("a figure is short and never hides what it is", () => {
  assert.deepEqual([0.8481, 12.345, 123.4, 4321.5, -0.07, 0].map((v) => figure(v)), ["0.848", "12.35", "123.4", "4322", "−0.070", "0"]);
  assert.deepEqual([3.14e-5, 2e-5, -1e-9, 1234567].map((v) => figure(v)), ["3.1e-5", "2e-5", "−1e-9", "1.2e6"]);
  assert.deepEqual([NaN, Infinity, -Infinity].map((v) => figure(v)), ["NaN", "∞", "−∞"]);
});

test("a share that is not all is not called all, one that is not nothing not nothing", () => {
  assert.deepEqual([0, 0.001, 0.5, 0.848, 0.998, 1].map(percent), ["0%", "<1%", "50%", "85%", "99.8%", "100%"]);
  assert.deepEqual([1, 0.99999, 0.861, 1e-6].map((v) => probability(v)), ["1.000", ">0.999", "0.861", "1e-6"]);
  assert.equal(probability(0.999, 2), ">0.99");
  assert.deepEqual([percent(0.9999), percent(NaN)], [">99.9%", "NaN"]);
});

test("bytes, times, ages, names of requests", () => {
  assert.deepEqual([512, 9216, 3 << 20].map(bytes), ["512 B", "9.0 KiB", "3.0 MiB"]);
  assert.deepEqual([0.416, 5.14, 120.4, 1234].map(duration), ["0.42 ms", "5.1 ms", "120 ms", "1.2 s"]);
  assert.deepEqual([-5, 4200, 180_000, 9_000_000].map(age), ["0 s", "4 s", "3 min", "3 h"]);
  assert.deepEqual([requestName(0), requestName(25), requestName(26)], ["A", "Z", "R26"]);
});

test("operations say their layer from 1, and their stack only where there are several", () => {
  assert.deepEqual([opName("decoder.layer0.self"), opName("decoder.layer1.cross.W_Q"), opName("decoder.embedding"), opName("logits")], ["L1 self", "L2 cross W_Q", "embedding", "logits"]);
  assert.deepEqual([opName("encoder.layer0.self", true), opName("decoder.embedding", true), opName("encoder.backwards.layer0", true)], ["enc L1 self", "dec embedding", "enc L1 backwards state"]);
  assert.ok(severalStacks(["encoder.layer0.self", "decoder.layer0.self", "logits"]));
  assert.ok(!severalStacks(["decoder.layer0.self", "decoder.layer1.ffn", "encoder"]));
  assert.equal(leaf("decoder.layer0.self.weights"), "weights");
});

test("an axis is named, a primed one as the key side", () => {
  assert.deepEqual([axisName("b"), axisName("t'"), axisName("d0")], ["request", "key: target row", "d0"]);
});
