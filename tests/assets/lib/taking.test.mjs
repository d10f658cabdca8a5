import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import test from "node:test";

import { csv } from "../../../assets/lib/taking/csv.mjs";
import { LARGEST, fileName, readScenario } from "../../../assets/lib/taking/files.mjs";
import { Recorded } from "../../../assets/lib/taking/recorded.mjs";
import { Tape, unpackRun } from "../../../assets/lib/taking/tape.mjs";
import { decode } from "../../../assets/lib/run/wire.mjs";
import { frame, values } from "./frames.mjs";

const bytes = (text) => new TextEncoder().encode(text);

test("CSV: whole numbers, quotes where they are needed, no word that a spreadsheet takes for a formula", () => {
  const rows = [[1, 0.1 + 0.2, "a,b"], [-2.5, NaN, 'say "x"'], [null, true, "=1+1"], [0, Infinity, "-x"], [3, 4, "@a\r\nb"], [5, 6, "+"]];
  assert.equal(csv({ columns: ["row", "weight", "token"], rows }),
    'row,weight,token\r\n1,0.30000000000000004,"a,b"\r\n-2.5,NaN,"say ""x"""\r\n,true,\'=1+1\r\n0,Infinity,\'-x\r\n3,4,"\'@a\r\nb"\r\n5,6,\'+\r\n');
});

test("a file's name says the phase and the step", () => {
  assert.equal(fileName({ moved: { phase: "decode", step: 3, train: null } }, "map"), "lookback-map-decode-3");
  assert.equal(fileName({ moved: { phase: "train", step: 3, train: { update: 7 } } }), "lookback-train-7");
});

test("a scenario file is read, alone or with its log", () => {
  const scenario = { version: 1, architecture: "decoder_only" };
  const log = [{ command: { kind: "step" }, times: 2 }];
  const whole = readScenario("a.json", bytes(JSON.stringify({ v: 1, scenario, log, view: { layer: 1 } })));
  assert.deepEqual([whole.scenario, whole.log, whole.view], [scenario, log, { layer: 1 }]);
  assert.deepEqual(readScenario("b.json", bytes(`\ufeff${JSON.stringify(scenario)}`)).scenario, scenario);
});

const utf16 = Uint8Array.from([0xff, 0xfe, 0x7b, 0, 0x7d, 0]);
const recording = new Uint8Array(frame("pong", {}));
for (const [name, content, said, size] of [
  ["cut", bytes('{"v": 1, "scenario": {"arch'), /ends too early/],
  ["foreign", bytes('{"name": "other", "dependencies": {}}'), /no scenario/],
  ["list", bytes("[1, 2]"), /is no object/],
  ["text", bytes("dear diary"), /not JSON/],
  ["newer", bytes('{"v": 2, "scenario": {}}'), /newer one made it \(form 2/],
  ["newer inside", bytes('{"v": 1, "scenario": {"version": 3}}'), /newer one made it \(form 3/],
  ["empty", bytes(""), /empty/],
  ["huge", bytes("{"), /has 9,000,000 bytes; allowed: 1,048,576/, 9_000_000],
  ["UTF-16", utf16, /not text in UTF-8/],
  ["Latin-1", Uint8Array.from([0x7b, 0x22, 0xe9, 0x22, 0x7d]), /not text in UTF-8/],
  ["recording", recording, /is a recording/],
  ["huge recording", recording, /is a recording/, LARGEST + 9],
  ["page", bytes("<!DOCTYPE html><html>"), /is a web page/],
])
  test(`a file that is ${name} is refused by name, with what is allowed`, () => {
    assert.throws(() => readScenario("my.file", content, size), (error) => said.test(error.message) && /^“my\.file” is no scenario file of Lookback: .* Nothing was changed\.$/.test(error.message));
  });

// ---- a saved run

const piece = (shape, numbers, more) => decode(values(["b", "t", "d"], shape, numbers, more));
const taps = [{ path: "p", axes: ["b", "t", "d"] }];

test("values are merged to each moment, forward and back, and cut, reduced and binned as a selector says", () => {
  const moments = [
    { values: [piece([1, 2, 2], [1, 2, 3, 4], { keyframe: true })] },
    { values: [piece([1, 1, 2], [5, 6], { start: { t: 2 } })] },
    { values: [piece([1, 1, 2], [7, 8], { keyframe: true })] },
  ];
  const recorded = new Recorded(moments, taps);
  const take = (at, selector) => {
    const { pieces, tensors } = recorded.pieces(at, [{ path: "p", ...selector }]);
    return pieces.map((p) => [p.axes.join(""), p.start, tensors.get(p.array.tensor).shape, [...tensors.get(p.array.tensor).data]]);
  };
  assert.deepEqual(take(1, {}), [["btd", {}, [1, 3, 2], [1, 2, 3, 4, 5, 6]]]);
  assert.deepEqual(take(0, {}), [["btd", {}, [1, 2, 2], [1, 2, 3, 4]]]);
  assert.deepEqual(take(2, {}), [["btd", {}, [1, 1, 2], [7, 8]]]);
  assert.deepEqual(take(1, { index: { t: 1 } }), [["btd", { t: 1 }, [1, 1, 2], [3, 4]]]);
  assert.deepEqual(take(1, { span: { t: [1, 9] } }), [["btd", { t: 1 }, [1, 2, 2], [3, 4, 5, 6]]]);
  assert.deepEqual(take(1, { index: { t: 5 } }), []);
  assert.deepEqual(take(1, { bin: 2 }), [["btd", {}, [1, 2, 2], [3, 4, 5, 6]]]);
  assert.deepEqual(take(0, { reduce: "norm" }), [["bt", {}, [1, 2], [Math.fround(Math.sqrt(5)), 5]]]);
  assert.deepEqual(take(0, { side: "gradient" }), []);
  assert.deepEqual(take(0, { path: "q*" }), []);
});

test("where a gradient was recorded as its norm, it answers for the norm and for nothing else", () => {
  const recorded = new Recorded([{ values: [decode(values(["b", "t"], [1, 2], [3, 4], { side: "gradient", keyframe: true }))] }], taps);
  assert.equal(recorded.pieces(0, [{ path: "*", side: "gradient" }]).pieces.length, 0);
  assert.equal(recorded.pieces(0, [{ path: "*", side: "gradient", reduce: "norm" }]).pieces.length, 1);
});

const opened = { scenario: { requests: [{}] }, relations: [], view: {} };
const moved = (at, phase = "decode", more = {}) => decode(frame("moved", { at, phase, step: at, stage: "", nodes: [], ended: false, ...more }));
const whole = [
  decode(frame("shared", { link: "", file: { v: 1 } })), decode(frame("opened", opened)), decode(frame("schema", { taps })),
  decode(frame("history", { nodes: [{ id: 0 }, { id: 1 }, { id: 2 }], at: 1 })), moved(0), piece([1, 1, 2], [1, 2], { keyframe: true }),
  moved(1), piece([1, 1, 2], [3, 4], { start: { t: 1 } }), decode(frame("checked", { at: 1, checks: [] })), moved(2), decode(frame("notice", { code: "ended", message: "x" })),
];

function played() {
  const heard = [];
  const timers = [];
  const around = { later: (act) => timers.push(act), never: () => timers.splice(0) };
  const tape = new Tape({ frames: whole, onFrame: (f) => heard.push(f), onState: () => {}, around });
  const news = () => heard.splice(0).map((f) => (f.kind === "moved" ? `moved ${f.event.at}` : f.kind));
  return { tape, heard, timers, news };
}

test("a tape begins where the run stood and goes forward, back and anywhere", async () => {
  const { tape, news } = played();
  tape.connect();
  assert.deepEqual(news(), ["welcome", "schema", "history", "opened", "moved 1", "curve", "checked"]);
  assert.equal((await tape.send({ kind: "watch", selectors: [{ path: "p" }], mark: 4 })).ok, true);
  assert.deepEqual(news(), ["values", "reply"]);
  assert.equal((await tape.send({ kind: "step", unit: "step" })).ok, true);
  assert.deepEqual(news(), ["moved 2", "curve", "values", "notice", "checked", "reply"]);
  assert.match((await tape.send({ kind: "step", unit: "step" })).errors[0].message, /ends here/);
  await tape.send({ kind: "go", moment: 0 });
  assert.deepEqual(news(), ["reply", "moved 0", "curve", "values", "checked", "reply"]);
  assert.match((await tape.send({ kind: "back" })).errors[0].message, /begins/);
  assert.match((await tape.send({ kind: "enter", phase: "train" })).errors[0].message, /no train/);
});

test("what needs a model is refused in words", async () => {
  const { tape } = played();
  tape.connect();
  for (const kind of ["change", "choose", "open", "undo", "reset", "analyse"]) assert.match((await tape.send({ kind })).errors[0].message, /This is a recording/);
});

test("it plays to its end and stops", async () => {
  const { tape, timers, news, heard } = played();
  tape.connect();
  await tape.send({ kind: "go", moment: 0 });
  news();
  await tape.send({ kind: "play", unit: "step", rate: 10 });
  timers.shift()();
  timers.shift()();
  assert.equal(timers.length, 0);
  assert.equal(heard.findLast((f) => f.kind === "playing").event.playing, false);
  assert.equal(tape.at, 2);
});

test("a packed run is read back; one that is cut says so", async () => {
  const raw = [frame("schema", { taps }), frame("history", { nodes: [], at: 0 })].flatMap((f) => [new Uint8Array(Uint32Array.of(f.byteLength).buffer), new Uint8Array(f)]);
  const packed = new Uint8Array(gzipSync(Buffer.concat(raw)));
  assert.deepEqual((await unpackRun(packed)).map((f) => f.kind), ["schema", "history"]);
  await assert.rejects(unpackRun(packed.slice(0, packed.length >> 1)), /ends too early/);
});
