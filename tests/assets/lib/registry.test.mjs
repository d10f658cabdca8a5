import assert from "node:assert/strict";
import test from "node:test";

import { loadViews, Registry } from "../../../assets/lib/page/registry.mjs";
import { Store } from "../../../assets/lib/run/store.mjs";
import { decode } from "../../../assets/lib/run/wire.mjs";
import { frame, values } from "./frames.mjs";
import { fakePage } from "./page.mjs";

const opened = { scenario: { phase: "decode", requests: [{}] }, relations: [] };

function page(...views) {
  const fake = fakePage();
  const store = new Store();
  const watched = [];
  const drawn = [];
  const registry = new Registry({ store, context: {}, watch: (s) => watched.push(s), drawn: (seq) => drawn.push(seq), slot: fake.slot });
  registry.place(views);
  moveTo(store, "decode");
  store.apply(decode(frame("opened", opened)));
  fake.frame();
  return { ...fake, store, watched, drawn, registry };
}

/** All that the server says of a move. */
function moveTo(store, phase) {
  store.apply(decode(frame("moved", { at: 0, phase, nodes: [] })));
  store.apply(decode(frame("checked", { at: 0, checks: [] })));
}

const view = (id, more) => {
  const made = { id, title: id, slot: "map", phases: ["decode"], wants: () => [], draws: 0, mounts: 0, mount: () => made.mounts++, draw: () => made.draws++, ...more };
  return made;
};

test("what the views want is asked for once the run has moved, however late that is heard", () => {
  const fake = fakePage();
  const store = new Store();
  const watched = [];
  const registry = new Registry({ store, context: {}, watch: (s) => watched.push(s), drawn: () => {}, slot: fake.slot });
  registry.place([view("map", { wants: () => [{ path: "a" }] })]);
  store.apply(decode(frame("opened", opened)));
  fake.frame();
  assert.deepEqual(watched, []);
  moveTo(store, "decode");
  fake.frame();
  assert.deepEqual(watched, [[{ path: "a" }]]);
});

test("a view is drawn again only when a part of the world changed that it read", () => {
  const reads = view("reads", { draw: (_, world) => (world.checked, reads.draws++) });
  const { store, frame: next } = page(reads);
  assert.deepEqual([reads.mounts, reads.draws], [1, 1]);
  store.set({ playing: { playing: true } });
  next();
  assert.equal(reads.draws, 1);
  store.set({ checked: { checks: [] } });
  store.set({ checked: { checks: [1] } });
  next();
  assert.equal(reads.draws, 2, "two changes in one frame are one drawing");
});

test("a view is drawn again when the box of one of its canvases changed", () => {
  const map = view("map");
  const { slot, frame: next } = page(map);
  slot("map").find("section").listeners.box();
  next();
  assert.equal(map.draws, 2);
});

test("pictures are painted when every view has changed its part of the page", (t) => {
  const told = t.mock.method(console, "error", () => {});
  const order = [];
  const one = (id) => view(id, { draw: () => (order.push(`draw ${id}`), () => order.push(`paint ${id}`)) });
  const bad = view("bad", { draw: () => () => { throw new Error("no font"); } });
  const { slot } = page(one("a"), bad, one("b"));
  assert.deepEqual(order, ["draw a", "draw b", "paint a", "paint b"]);
  assert.match(slot("map").textContent, /“bad” could not be drawn: Error: no font/);
  assert.equal(told.mock.callCount(), 1);
});

test("the maps of a step are painted in the first frame, all else in the next, also while steps follow each other", () => {
  const order = [];
  const one = (id, slot) => view(id, { slot, draw: (_, world) => (world.moved, order.push(id)) });
  const { store, frame: next } = page(one("inspector", "inspector"), one("says", "sentence"), one("map", "map"));
  const painted = () => (next(), order.splice(0).join(" "));
  painted();
  const busy = Array.from({ length: 3 }, () => (moveTo(store, "decode"), painted()));
  assert.deepEqual(busy, ["map", "inspector says map", "map"], "nothing waits for more than one frame");
  assert.equal(painted(), "inspector says");
});

test("where there is no map, who read whom and what is said of it comes first", () => {
  const order = [];
  const one = (id, slot) => view(id, { slot, draw: (_, world) => (world.moved, order.push(id)) });
  const { store, frame: next } = page(one("inspector", "inspector"), one("says", "sentence"), one("reads", "read"));
  next();
  order.length = 0;
  moveTo(store, "decode");
  next();
  assert.deepEqual(order, ["says", "reads"]);
  next();
  assert.deepEqual(order, ["says", "reads", "inspector"]);
});

test("views of another phase are hidden, neither drawn nor watched", () => {
  const train = view("train", { phases: ["train"], wants: () => [{ path: "gradient" }] });
  const decode_ = view("decode", { wants: () => [{ path: "weights" }] });
  const { store, frame: next, watched, slot } = page(train, decode_);
  assert.deepEqual(watched.at(-1), [{ path: "weights" }]);
  assert.deepEqual([train.draws, slot("map").children.map((c) => c.hidden)], [0, [true, false]]);
  moveTo(store, "train");
  next();
  assert.deepEqual(watched.at(-1), [{ path: "gradient" }]);
  assert.deepEqual([train.draws, slot("map").children.map((c) => c.hidden)], [1, [false, true]]);
});

test("what several views want is watched once, and each finds its own values", () => {
  const seen = {};
  const draw = (id) => (_, world) => (seen[id] = [0, 1].map((i) => world.values(id, i).map((k) => k.path)));
  const a = view("a", { wants: () => [{ path: "w" }, { path: "s" }], draw: draw("a") });
  const b = view("b", { wants: () => [{ path: "s" }], draw: draw("b") });
  const { store, watched, frame: next, drawn } = page(a, b);
  assert.deepEqual(watched, [[{ path: "w" }, { path: "s" }]]);
  store.watches(watched[0].map((s) => JSON.stringify(s)), 1);
  store.apply(decode(values(["t"], [1], [1], { keyframe: true, selector: 1, path: "s", seq: 9 })));
  next();
  assert.deepEqual(seen, { a: [[], ["s"]], b: [["s"], []] });
  assert.deepEqual(drawn, [9], "credit goes back when it is on the page");
});

test("the same wish is not sent twice, a changed one is, and a new connection asks again", () => {
  const head = view("head", { wants: (world) => [{ path: "w", index: { h: world.look.head } }] });
  const { store, watched, frame: next, registry } = page(head);
  store.set({ look: { ...store.world.look, layer: 1 } });
  next();
  assert.equal(watched.length, 1);
  store.set({ look: { ...store.world.look, head: 2 } });
  next();
  assert.deepEqual(watched.at(-1), [{ path: "w", index: { h: 2 } }]);
  registry.rewatch();
  next();
  assert.equal(watched.length, 3);
});

test("an error in one view stays in its place, and can be tried again", (t) => {
  t.mock.method(console, "error", () => {});
  let broken = true;
  const bad = view("bad", { draw: (_, world) => { world.checked; if (broken) throw new Error("no rows"); bad.draws++; } });
  const good = view("good", { slot: "read", draw: (_, world) => (world.checked, good.draws++) });
  const { store, frame: next, slot } = page(bad, good);
  next();
  assert.equal(good.draws, 1);
  assert.match(slot("map").textContent, /“bad” could not be drawn: Error: no rows/);
  broken = false;
  slot("map").find("button").onclick();
  next();
  assert.deepEqual([bad.draws, bad.mounts], [1, 2]);
  store.set({ checked: {} });
  next();
  next();
  assert.deepEqual([bad.draws, good.draws], [2, 2]);
});

test("a view whose wishes fail is shown as failed, the others are watched", (t) => {
  t.mock.method(console, "error", () => {});
  const bad = view("bad", { wants: () => { throw new Error("which head?"); } });
  const { watched, slot } = page(bad, view("good", { wants: () => [{ path: "w" }] }));
  assert.deepEqual(watched.at(-1), [{ path: "w" }]);
  assert.match(slot("map").textContent, /which head/);
});

test("nothing is painted between a new epoch and its values", () => {
  const moved = view("moved", { draw: (_, world) => (world.moved, moved.draws++) });
  const { store, frame: next } = page(moved);
  store.apply(decode(frame("moved", { at: 5, phase: "decode", nodes: [] }, { epoch: 2, seq: 2 })));
  next();
  assert.equal(moved.draws, 1);
  store.settle();
  next();
  assert.equal(moved.draws, 2);
});

test("a file that cannot be loaded, or holds no view, is told and left out", async (t) => {
  const told = t.mock.method(console, "error", () => {});
  const files = { a: { default: view("a") }, b: {}, c: null };
  const views = await loadViews(["a", "b", "c"], (name) => (files[name] ? Promise.resolve(files[name]) : Promise.reject(new Error("404"))));
  assert.deepEqual(views.map((v) => v.id), ["a"]);
  assert.equal(told.mock.callCount(), 2);
});

test("a view that has nothing to show of the opened model leaves its slot to another", () => {
  const relations = (world) => world.opened?.relations.length;
  const map = view("map", { applies: (world) => relations(world) > 0 });
  const states = view("states", { applies: (world) => relations(world) === 0 });
  const { store, slot, frame: next } = page(map, states);
  const shown = () => slot("map").children.filter((c) => !c.hidden).map((c) => c.attributes.id ?? c.id);
  store.apply(decode(frame("opened", { ...store.world.opened, relations: [] })));
  next();
  assert.deepEqual(shown(), ["view-states"]);
  store.apply(decode(frame("opened", { ...store.world.opened, relations: [{}] })));
  next();
  assert.deepEqual(shown(), ["view-map"]);
});
