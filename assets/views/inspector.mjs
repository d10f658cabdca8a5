// @ts-check
/** What one tensor is (its contract) and holds (its values); for a read, its arithmetic step by step. */

import { arithmetic, matrix, statistics } from "../lib/arithmetic.mjs";
import * as draw from "../lib/canvas.mjs";
import { h, list, set, text } from "../lib/dom.mjs";
import * as read from "../lib/reads.mjs";
import { axisName, figure, leaf, number, plural, shown } from "../lib/words.mjs";

/** @typedef {import("../lib/types").World} World @typedef {import("../lib/types").Context} Context */

/** @type {Record<string, string>} */
const MEANING = {
  ids: "which vocabulary entry a row is", hidden: "a vector for each row", scores: "how well query and key fit, before the mask",
  mask: "who may read whom", weights: "share of each key’s value in a row; a row sums to 1", coefficients: "how much of each key; they need not sum to 1",
  logits: "one score for each vocabulary entry", probabilities: "one share for each vocabulary entry", loss: "nats, for each row",
  state: "kept for later calls", decision: "what was chosen", parameter: "learned; the same for every row",
};

/** The path that is shown instead of the read: the chosen one, or what the operation under the cursor gives.
 * @param {World} world @returns {string | null} */
function shownPath(world) {
  const { path, op } = world.look;
  return path || !op || read.readAt(world.opened?.relations ?? [], op) ? path : read.lastTap(world, op);
}

/** The tap that is shown: that path, or the weights of the read.
 * @param {World} world @returns {any | null} a TapInfo */
export function chosen(world) {
  const taps = world.schema?.taps ?? [];
  const at = read.relation(world);
  const path = shownPath(world) ?? (at ? read.tapsOf(world, at.info, at.layer).weights : "");
  return taps.find((/** @type {any} */ t) => t.path === path) ?? null;
}

/** The contract as pairs of words. Pure.
 * @param {any} tap @param {Record<string, number>} sizes @param {any} [train] a TrainView, for a parameter's gradient */
export function contract(tap, sizes, train) {
  if (!tap) return [];
  const parameter = tap.type === "parameter";
  const shape = tap.axes.length ? tap.axes.map((/** @type {string} */ a) => sizes[a] ?? "?") : tap.shape;
  const axes = tap.axes.map((/** @type {string} */ a) => `${a} ${axisName(a)}`).join(" × ");
  const norm = parameter ? train?.parameter_norms?.find((/** @type {any} */ [name]) => `parameter.${name}` === tap.path)?.[1] : train?.activation_norms?.find((/** @type {any} */ [path]) => path === tap.path)?.[1];
  return [
    ["Axes", axes || (parameter ? "out × in, or one axis" : "none")],
    ["Shape", `[${shape.join(", ")}] ${tap.dtype}`],
    ["Row owner", tap.owner],
    ["Type", `${tap.type}: ${MEANING[tap.type] ?? ""}`],
    ["Lifetime", tap.lifetime],
    ["Edit", tap.editable ? "can be edited at this tap" : parameter ? "changes by updates" : "has its own command"],
    ...(norm === undefined ? [] : [["‖gradient‖", figure(number(norm), 4)]]),
  ];
}

/** Taps whose path holds every word of a query. Pure.
 * @param {any[]} taps @param {string} query */
export function search(taps, query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return taps.filter((t) => words.every((w) => `${t.path} ${t.type}`.toLowerCase().includes(w)));
}

/** @type {WeakMap<HTMLElement, {most: number, query: string}>} */
const states = new WeakMap();

/** @type {import("../lib/types").View} */
export default {
  id: "inspector",
  title: "Inspector",
  slot: "inspector",
  phases: ["train", "prefill", "decode"],

  wants(world) {
    const at = read.relation(world);
    const index = { b: read.request(world), h: at?.head ?? 0 };
    const taps = at ? read.tapsOf(world, at.info, at.layer) : null;
    const path = shownPath(world);
    const more = path === null ? [taps?.value, taps?.output] : path.startsWith("parameter.") ? [] : [path];
    const found = more.flatMap((one) => (one ? [{ path: one, index, dtype: /** @type {const} */ ("f32") }] : []));
    const gradient = path && found.length && read.phase(world) === "train" ? [{ ...found[0], side: /** @type {const} */ ("gradient") }] : [];
    return [...read.readSelectors(world), ...found, ...gradient];
  },

  mount(element, context) {
    states.set(element, { most: 0, query: "" });
    element.append(
      h("div", { class: "lock" }, h("span"), h("button", { type: "button", onclick: () => context.look({ lock: null, path: null }) }, "Unlock ", h("kbd", null, "Esc"))),
      h("div", { class: "insp contract-part" }, h("h2", { class: "tname" }), h("p", { class: "note mono path" }), h("dl", { class: "contract" })),
      h("div", { class: "insp read-part" }, h("p", { class: "formula" }, "A = softmax(S + M)"),
        h("div", { class: "hh" }, h("h2", { class: "h" }, "This read"), h("span", { class: "note" })),
        h("table", { class: "arith" }, h("thead", null, h("tr", null, ["key", "score", "+ mask", "exp", "weight"].map((t) => h("th", { scope: "col" }, t)))), h("tbody"), h("tfoot", null,
          h("tr", { class: "off" }, h("td", { colspan: 3 }), h("td"), h("td")), h("tr", null, h("td", { colspan: 3, class: "dim" }, "sum"), h("td"), h("td")))),
        h("p", { class: "note exp-note" }), h("div", { class: "vecs" }), h("div", { class: "scale div" }, h("span"), h("i"), h("span"), h("span", { class: "dim" }), h("button", { class: "link", type: "button", title: "Fit the scale to what is shown" }, "fit"))),
      h("div", { class: "insp value-part" }, h("div", { class: "grids" })),
      h("details", { class: "insp taps" }, h("summary", null, h("h2", { class: "h" }, "All tensors"), h("span", { class: "sub" })),
        h("input", { type: "search", class: "search", placeholder: "search, e.g. layer0 cross", "aria-label": "Search tensors" }), h("ul", { class: "tap-list", "aria-label": "Tensors" })),
    );
  },

  draw(element, world, context) {
    const [lock, contractPart, readPart, valuePart, taps] = /** @type {any} */ (element.children);
    const state = /** @type {{most: number, query: string}} */ (states.get(element));
    const tap = chosen(world);
    lockBar(lock, world, tap);
    text(contractPart.children[0], tap ? leaf(tap.path) : "–");
    text(contractPart.children[1], tap?.path ?? "no tensor is known yet");
    pairs(contractPart.children[2], contract(tap, world.moved?.sizes ?? {}, world.moved?.train));
    const path = shownPath(world);
    readPart.hidden = path !== null;
    valuePart.hidden = path === null;
    const again = () => this.draw(element, world, context)?.();
    tapList(taps, world, context, state, again);
    return path === null ? readArithmetic(readPart, world, state, again) : grids(valuePart.firstElementChild, world, tap);
  },
};

/** @param {any} element @param {World} world @param {any} tap */
function lockBar(element, world, tap) {
  const { lock, path } = world.look;
  set(element, "data-locked", String(!!(lock || path)));
  text(element.firstElementChild, path ? `Locked on ${leaf(tap?.path ?? path)}` : lock ? `Locked on row ${lock.row} × row ${lock.key}` : "Following the newest read");
}

/** @param {HTMLElement} element @param {string[][]} all */
function pairs(element, all) {
  list(element, all.flatMap(([name, value]) => [{ name, tag: "dt", said: name }, { name, tag: "dd", said: value }]), (p) => `${p.tag} ${p.name}`, (p) => h(p.tag), (node, p) => text(node, p.said));
}

/** @param {any} part @param {World} world @param {{most: number}} state @param {() => void} again @returns {void | (() => void)} */
function readArithmetic(part, world, state, again) {
  const [formula, head, table, note, vecs, scale] = part.children;
  const found = arithmetic(world, read.readCells(world, "inspector", 1), read.readCells(world, "inspector", 0));
  const at = read.relation(world);
  for (const one of [formula, table, note, vecs, scale]) one.hidden = !found;
  const query = found && at ? read.rows(world, at.info.query)[found.row] : null;
  text(head.lastElementChild, query && found ? `query ${shown(query.token)}, row ${found.row}` : "nothing is computed yet");
  if (!found || !at) return;
  const [, body, foot] = table.children;
  list(body, found.lines, (_, i) => i, () => h("tr", null, h("td"), h("td"), h("td"), h("td"), h("td")), (tr, l) => {
    set(tr, "class", l.on ? "sel" : l.state === "open" ? null : "off");
    const mask = l.state === "open" ? "0" : "−∞";
    [`${l.key} ${l.token}`, figure(l.score, 2), mask, l.state === "open" ? figure(l.exp, 3) : "0", figure(l.weight)].forEach((said, i) => text(tr.children[i], said));
    set(tr, "title", { open: null, padded: "padded", user: "masked by you", model: "masked by the program" }[l.state]);
  });
  foot.firstElementChild.hidden = !found.others.count;
  text(foot.firstElementChild.children[0], plural(found.others.count, "other key"));
  text(foot.firstElementChild.children[1], figure(found.others.exp));
  text(foot.firstElementChild.children[2], figure(found.others.weight));
  text(foot.lastElementChild.children[1], figure(found.sum.exp));
  text(foot.lastElementChild.children[2], figure(found.sum.weight));
  text(note, `exp of (score − ${figure(found.top, 2)}); weight = exp / sum`);
  return mixture(vecs, scale, world, found, state, again);
}

/** Weights times values, and the recorded sum.
 * @param {HTMLElement} vecs @param {any} scale @param {World} world @param {NonNullable<ReturnType<typeof arithmetic>>} found @param {{most: number}} state @param {() => void} again */
function mixture(vecs, scale, world, found, state, again) {
  const at = read.relation(world);
  const [value, output] = [world.values("inspector", 2)[0], world.values("inspector", 3)[0]];
  const [b, head] = [read.request(world), at?.head ?? 0];
  const vector = (/** @type {any} */ known, /** @type {number} */ row) => {
    const m = matrix(known, b, head);
    return Array.from({ length: m.columns }, (_, i) => m.at(row, i));
  };
  const top = [...found.lines].filter((l) => l.state === "open").sort((x, y) => y.weight - x.weight).slice(0, 5);
  const parts = !value || !output ? [] : [
    ...top.map((l) => ({ said: `${figure(l.weight)} × ${l.token}`, values: vector(value, l.key), sum: false })),
    { said: found.lines.filter((l) => l.state === "open").length + found.others.count > top.length ? "+ … = output" : "= output", values: vector(output, found.row), sum: true },
  ];
  state.most ||= sizeOf(parts.flatMap((p) => p.values));
  list(vecs, parts, (p, i) => (p.sum ? "sum" : i), (p) => h("div", { class: `vec${p.sum ? " sum" : ""}` }, h("span", { class: "mono" }), h("canvas", { role: "img" })));
  parts.forEach((p, i) => {
    const row = /** @type {any} */ (vecs.children[i]);
    text(row.firstElementChild, p.said);
    const s = statistics(p.values);
    set(row.lastElementChild, "aria-label", `${plural(p.values.length, "number")} from ${figure(s.min, 2)} to ${figure(s.max, 2)}`);
  });
  scale.hidden = !parts.length;
  text(scale.children[0], `−${figure(state.most, 1)}`);
  text(scale.children[2], `+${figure(state.most, 1)}`);
  text(scale.children[3], plural(parts[0]?.values.length ?? 0, "dim"));
  scale.lastElementChild.onclick = () => {
    state.most = 0;
    again();
  };
  return () => parts.forEach((p, i) => draw.vector(/** @type {any} */ (vecs.children[i].lastElementChild), p.values, { max: state.most || 1, diverging: true }));
}

/** The largest size among numbers, rounded up to a tenth; 0 where there is none.
 * @param {number[]} values */
function sizeOf(values) {
  const s = statistics(values);
  return s.count ? Math.max(0.1, Math.ceil(Math.max(-s.min, s.max) * 10) / 10) : 0;
}

/** The values of a chosen tap, and in training its gradient, as pictures by their axes.
 * @param {HTMLElement} element @param {World} world @param {any} tap */
function grids(element, world, tap) {
  const shownSides = [{ name: "value", known: world.values("inspector", 2)[0] }, { name: "gradient", known: world.values("inspector", 3)[0] }].filter((s) => s.known);
  const parameter = tap?.type === "parameter";
  const nothing = !shownSides.length ? [{ name: parameter ? "A parameter: its gradient norm is in the contract." : "Not computed at this moment.", known: null }] : [];
  const all = [...shownSides, ...nothing];
  list(element, all, (s) => s.name, (s) => h("figure", { class: "grid" }, h("figcaption", { class: "note" }), s.known ? h("canvas", { role: "img" }) : null));
  const pictures = all.map((s, i) => {
    if (s.known) return grid(element.children[i], world, s.name, s.known);
    text(/** @type {any} */ (element.children[i].firstElementChild), s.name);
    return () => {};
  });
  return () => pictures.forEach((paint) => paint());
}

/** @param {any} element @param {World} world @param {string} name @param {import("../lib/types").Known} known */
function grid(element, world, name, known) {
  const m = matrix(known, read.request(world), read.relation(world)?.head ?? 0);
  const all = [];
  for (let r = 0; r < m.rows; r++) for (let c = 0; c < m.columns; c++) all.push(m.at(r, c));
  const s = statistics(all);
  const most = Math.max(Math.abs(s.min), Math.abs(s.max)) || 1;
  const bad = s.bad ? `; ${s.bad} not finite ✕` : "";
  text(element.firstElementChild, `${name}, ${m.rowAxis ? `${axisName(m.rowAxis)} ${m.rows} × ` : ""}${m.columnAxis ? axisName(m.columnAxis) : "number"} ${m.columns}: min ${figure(s.min)}, max ${figure(s.max)}, mean ${figure(s.mean)}${bad}`);
  const canvas = element.lastElementChild;
  draw.tall(canvas, `${Math.max(14, Math.min(220, m.rows * Math.max(4, Math.min(14, 220 / m.rows))))}px`);
  set(canvas, "aria-label", element.firstElementChild.textContent);
  const focus = read.focus(world);
  const owned = m.rowAxis && read.relation(world)?.info.query === m.rowAxis.replace("'", "");
  return () => {
    draw.cellMap(canvas, { rows: m.rows, columns: m.columns, value: (r, c) => m.at(r, c), gap: 0.5, scale: { max: most, diverging: s.min < 0 }, left: owned ? 8 : 0 });
    if (owned && focus.row >= 0 && focus.row < m.rows) marker(canvas, focus.row, m.rows);
  };
}

/** A pointer to the current row, left of the picture.
 * @param {HTMLCanvasElement} canvas @param {number} row @param {number} rows */
function marker(canvas, row, rows) {
  const g = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const y = ((row + 0.5) / rows) * canvas.clientHeight;
  g.fillStyle = draw.css("--ink");
  g.beginPath();
  g.moveTo(0, y - 4);
  g.lineTo(6, y);
  g.lineTo(0, y + 4);
  g.fill();
}

/** @param {any} element @param {World} world @param {Context} context @param {{query: string}} state @param {() => void} again */
function tapList(element, world, context, state, again) {
  const all = world.schema?.taps ?? [];
  const [summary, input, ul] = element.children;
  element.ontoggle = again;
  input.oninput = () => {
    state.query = input.value;
    again();
  };
  const found = search(all, state.query);
  text(summary.lastElementChild, state.query ? `${found.length} of ${all.length}` : String(all.length));
  if (!element.open) return;
  list(ul, found, (t) => t.path, () => h("li", null, h("button", { type: "button", class: "tap" }, h("span", { class: "mono" }), h("span", { class: "dim" }))), (li, t) => {
    const button = li.firstElementChild;
    set(button, "aria-pressed", String(t.path === world.look.path));
    text(button.children[0], t.path);
    text(button.children[1], t.type);
    button.onclick = () => context.look({ path: t.path });
  });
}
