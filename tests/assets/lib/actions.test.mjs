import assert from "node:assert/strict";
import test from "node:test";

import { Actions } from "../../../assets/lib/run/actions.mjs";
import { exampleOf, variantFor } from "../../../assets/lib/setup/examples.mjs";
import { commands } from "../../../assets/lib/run/commands.mjs";
import { Store } from "../../../assets/lib/run/store.mjs";

const schema = [{ name: "layers", type: "integer", default: 2 }, { name: "d_model", type: "choice", choices: [32, 64], default: 64 }, { name: "tied", type: "boolean", default: true }];
const catalogue = {
  architectures: [{ id: "gpt", config_schema: schema, tasks: ["lm"] }, { id: "ed", config_schema: schema, tasks: ["mt"] }],
  tasks: [
    { id: "lm", name: "lm", presets: [{ name: "open", source: null, target: ["my"] }] },
    { id: "mt", name: "mt", presets: [{ name: "cat", source: ["cat"], target: [] }, { name: "dog", source: ["dog"], target: [] }] },
  ],
};
const scenario = {
  architecture: "ed", task: "mt", phase: "decode", seed: 7, config: { layers: 2, d_model: 64, tied: true },
  training: { learning_rate: 0.001, clip_norm: 1 }, policy: { top_k: null }, requests: [{ source: ["cat"], target: [] }],
};

/** Actions over a run that answers every command with ok, after `move` changed the world. */
function acting({ stages = [], move = () => {} } = {}) {
  const store = new Store();
  const sent = [];
  const run = {
    store,
    look: (change) => store.set({ look: { ...store.world.look, ...change } }),
    commands: commands((command) => {
      sent.push(command);
      move(store, command);
      return Promise.resolve({ ok: true, errors: [] });
    }),
  };
  store.set({
    opened: { scenario, relations: [{ name: "cross", path: "decoder.layer{layer}.cross", layers: 2, heads: 4 }] }, moved: { at: 0, phase: "decode", step: 0, stage: "", requests: [], stages },
    look: { ...store.world.look, relation: "cross" },
  });
  return { actions: new Actions({ run, catalogue, repaint: () => {} }), store, sent };
}

test("step and back by step or stage are one command each", async () => {
  const { actions, sent } = acting();
  await actions.step();
  actions.granularity("stage");
  await actions.step();
  await actions.back();
  assert.deepEqual(sent, [{ kind: "step", unit: "step" }, { kind: "step", unit: "stage" }, { kind: "back" }]);
});

test("Step goes again to what was chosen on the line that is followed, and else decides by the policy", async () => {
  const { actions, store, sent } = acting();
  const moment = (id, parent, step, command) => ({ id, parent, phase: "decode", step, stage: "", label: "dort", command });
  store.world.history = new Map([moment(0, null, 0, "open"), moment(1, 0, 1, "choose"), moment(2, 0, 1, "step")].map((n) => [n.id, n]));
  store.world.line = 1;
  await actions.step();
  assert.deepEqual(sent.pop(), { kind: "go", moment: 1 });
  store.world.line = 2;
  await actions.step();
  assert.deepEqual(sent.pop(), { kind: "step", unit: "step" });
});

test("by op the cursor walks the newest stage without a message, then a stage is stepped", async () => {
  const stages = [{ name: "choose", ms: 0, ops: [] }, { name: "read", ms: 1, ops: ["a", "b"] }, { name: "later", ms: null, ops: ["z"] }];
  const move = (store, { kind }) => kind === "step" && store.set({ moved: { ...store.world.moved, at: 1, stages: [{ name: "read", ms: 1, ops: ["c", "d"] }] } });
  const { actions, store, sent } = acting({ stages, move });
  actions.granularity("op");
  assert.equal(store.world.look.op, "a");
  await actions.step();
  assert.deepEqual([store.world.look.op, sent.length], ["b", 0]);
  await actions.step();
  assert.deepEqual([store.world.look.op, sent], ["c", [{ kind: "step", unit: "stage" }]]);
  await actions.step();
  await actions.back();
  assert.deepEqual([store.world.look.op, sent.length], ["c", 1]);
  await actions.back();
  assert.deepEqual([store.world.look.op, sent.at(-1)], ["d", { kind: "back" }]);
});

test("a field sends its whole group; the same value sends nothing", () => {
  const { actions, sent } = acting();
  actions.field("training.learning_rate", 0.01);
  actions.field("training.learning_rate", 0.001);
  actions.field("seed", 8);
  assert.deepEqual(sent, [
    { kind: "change", fields: { training: { learning_rate: 0.01, clip_norm: 1 } } }, { kind: "change", fields: { seed: 8 } },
  ]);
});

test("before a run is there, what is set is that of the first scenario", () => {
  const { actions, store } = acting();
  store.world.opened = null;
  Object.assign(actions.run, { first: scenario, early: { seed: 9 } });
  assert.deepEqual([actions.scenario.seed, actions.scenario.task], [9, "mt"]);
});

test("the next example is one of the same task, from the last to the first", () => {
  const { actions, sent } = acting();
  actions.nextExample(1);
  actions.nextExample(-1);
  assert.deepEqual(sent.map((c) => c.fields.requests[0].source), [["dog"], ["dog"]]);
});

test("back to the weights before the first update is a move to the first moment, in the same phase", async () => {
  const { actions, store, sent } = acting();
  store.set({ history: new Map([[4, { id: 4, parent: null, phase: "train" }], [5, { id: 5, parent: 4, phase: "decode" }]]) });
  await actions.beforeUpdates();
  assert.deepEqual(sent, [{ kind: "go", moment: 4 }, { kind: "enter", phase: "decode" }]);
});

test("an example of this task changes the requests; one of another task brings its architecture", () => {
  const { actions, sent } = acting();
  assert.equal(actions.presetNow(), "mt/0");
  actions.preset("mt/0");
  actions.preset("mt/1");
  actions.preset("lm/0");
  actions.preset(null);
  actions.preset("gone/3");
  assert.deepEqual(sent, [
    { kind: "change", fields: { requests: [{ source: ["dog"], target: [] }] } },
    { kind: "change", fields: { architecture: "gpt", task: "lm", requests: [{ target: ["my"] }] } },
  ]);
});

test("an example of another task opens with a trained architecture of the same family, before the first that fits", () => {
  const { actions } = acting();
  const shipped = { tasks: ["lm"], checkpoints: [{ task: "lm" }] };
  actions.catalogue = { ...catalogue, architectures: [{ id: "bare", tasks: ["lm"], family: "A", checkpoints: [] }, { id: "far", family: "B", ...shipped }, { id: "near", family: "A", name: "Near", ...shipped }, { ...catalogue.architectures[1], family: "A" }] };
  assert.deepEqual(["lm", "mt"].map((id) => actions.opening(actions.task(id)).id), ["near", "ed"]);
  assert.deepEqual(["lm/0", "mt/0", "none/0"].map((name) => actions.opens(name)), ["Near", "", ""]);
});

test("to train, the mask is no longer edited: its map would cover the loss", () => {
  const { actions, store, sent } = acting();
  actions.run.look({ editing: true });
  actions.phase("prefill");
  assert.equal(store.world.look.editing, true);
  actions.phase("train");
  assert.deepEqual([store.world.look.editing, sent], [false, [{ kind: "enter", phase: "prefill" }, { kind: "enter", phase: "train" }]]);
});

test("layer and head turn within what there is", () => {
  const { actions, store } = acting();
  actions.turn("layer", -1);
  actions.turn("head", 1);
  assert.deepEqual([store.world.look.layer, store.world.look.head], [0, 1]);
  store.set({ look: { ...store.world.look, head: 3 } });
  actions.turn("head", 1);
  assert.equal(store.world.look.head, 3);
});

test("play by step goes to the server with its rate; a rate that is no rate is left out", () => {
  const { actions, store, sent } = acting();
  actions.speed("5");
  actions.speed("none");
  actions.play();
  store.set({ playing: { playing: true, unit: "step", rate: 5 } });
  actions.play();
  assert.deepEqual(sent, [{ kind: "play", unit: "step", rate: 5, stops: [] }, { kind: "pause" }]);
});

test("play by op needs no server, and ends where the run ends", async () => {
  const { actions, store, sent } = acting({ stages: [{ name: "read", ms: 1, ops: ["a", "b"] }] });
  actions.run.commands.step = () => Promise.resolve({ ok: false, errors: [] });
  actions.granularity("op");
  actions.speed(60);
  actions.play();
  assert.equal(store.world.playing.playing, true);
  while (store.world.playing.playing) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual([store.world.look.op, sent], ["b", []]);
});

test("play by op stops where the cursor comes to a stop, and says so", async () => {
  const { actions, store } = acting({ stages: [{ name: "read", ms: 1, ops: ["a", "b", "c"] }] });
  actions.granularity("op");
  actions.speed(60);
  store.set({ look: { ...store.world.look, stops: [{ kind: "op", phase: "decode", scope: "b" }] } });
  actions.play();
  while (store.world.playing.playing) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(store.world.look.op, "b");
  assert.match(store.world.notices.at(-1).message, /Stopped where you asked/);
});

test("a stop is set where the run stands: at the cursor, the stage or the step", () => {
  const { actions, store } = acting({ stages: [{ name: "read", ms: 1, ops: ["a"] }] });
  store.world.moved.step = 4;
  actions.stopHere();
  store.set({ look: { ...store.world.look, op: "a" } });
  actions.stopHere();
  store.set({ moved: { ...store.world.moved, stage: "choose" }, look: { ...store.world.look, op: null } });
  actions.stopHere();
  assert.deepEqual(store.world.look.stops.map((s) => [s.kind, s.step ?? s.scope ?? s.stage]), [["step", 4], ["op", "a"], ["stage", "choose"]]);
  actions.stopHere();
  assert.equal(store.world.look.stops.length, 2);
});

test("stops that are changed while the run plays hold at once; one of another model is not sent", async () => {
  const { actions, store, sent } = acting();
  store.set({ playing: { playing: false, unit: "step", rate: 2 }, opened: { ...store.world.opened, vocabulary: { target: ["a"] } } });
  await actions.play();
  store.set({ playing: { playing: true, unit: "step", rate: 2 } });
  const [good, strange] = [{ kind: "token", token: 0 }, { kind: "token", token: 9 }];
  actions.run.look({ stops: [good, strange] });
  assert.deepEqual(sent.map((c) => c.stops), [[], [good]]);
});

test("where playing ended at an operation the cursor goes there", () => {
  const { actions, store } = acting({ stages: [{ name: "read", ms: 1, ops: ["a", "b"] }] });
  const stop = { kind: "op", phase: "decode", scope: "b" };
  store.set({ playing: { playing: false, unit: "step", rate: 2, stop } });
  assert.equal(store.world.look.op, null, "who joins later is not moved");
  actions.play();
  store.set({ playing: { playing: true, unit: "step", rate: 2, stop: null } });
  store.set({ playing: { playing: false, unit: "step", rate: 2, stop } });
  assert.equal(store.world.look.op, "b");
});

test("entering the phase that one is in sends nothing", () => {
  const { actions, sent } = acting();
  actions.phase("decode");
  actions.phase("train");
  assert.deepEqual(sent, [{ kind: "enter", phase: "train" }]);
});

test("a change of a field keeps the changes that were not answered yet, and a field that goes back is sent too", () => {
  const { actions, store, sent } = acting();
  store.set({ asked: { training: { learning_rate: 0.5, clip_norm: 1 } } });
  actions.field("training.clip_norm", 2);
  actions.field("training.learning_rate", 0.001);
  assert.deepEqual(sent.map((c) => c.fields.training), [{ learning_rate: 0.5, clip_norm: 2 }, { learning_rate: 0.001, clip_norm: 1 }]);
});

test("a variant becomes other only where its weights have not learned the task and others have", () => {
  const architecture = { checkpoints: [{ task: "lm", config: { layers: 2, heads: 1 } }, { task: "lm", config: { layers: 4, heads: 1 } }, { task: "mt", config: { layers: 9, heads: 1 } }] };
  assert.deepEqual(variantFor(architecture, "lm", { layers: 4, heads: 1 }), {});
  assert.deepEqual(variantFor(architecture, "lm", { layers: 9, heads: 1 }), { config: { layers: 2, heads: 1 } });
  assert.deepEqual([variantFor(architecture, "dates", { layers: 9 }), variantFor({}, "lm", {})], [{}, {}]);
});

test("requests are an example when they are its one request, features too", () => {
  const task = { presets: [{ source: ["a"], target: [] }, { features: [[1]], target: ["b"] }] };
  assert.deepEqual([[{ source: ["a"], target: [] }], [{ features: [[1]], target: ["b"], source: null }], [{ source: ["b"], target: [] }]].map((r) => exampleOf(task, r)), [0, 1, -1]);
  assert.equal(exampleOf(task, [{ source: ["a"], target: [] }, {}]), -1, "several are none");
  assert.equal(exampleOf(undefined, []), -1);
});
