// @ts-check
/** Who may read, how much is read: the visibility editor and the weights in one map, with every layer and head beside it. */

import { h, hide, list, set, text } from "../lib/dom.mjs";
import { counted, msg } from "../lib/language.mjs";
import { drawGold, gold, goldCell } from "../lib/map/gold.mjs";
import { drawMaskbar, maskbar, maskPanel } from "../lib/map/maskbar.mjs";
import { arrived, edited, fillTable, mapTable, readout } from "../lib/map/maps.mjs";
import { drawMinis, squareSizes } from "../lib/map/minis.mjs";
import { isLarge, pair } from "../lib/map/modes.mjs";
import { Overview } from "../lib/draw/overview.mjs";
import { edits } from "../lib/map/masks.mjs";
import { Pane } from "../lib/map/pane.mjs";
import { treeShown } from "../lib/next/beams.mjs";
import { timeShown } from "../lib/training/backwards.mjs";
import * as read from "../lib/reads.mjs";
import { windowed } from "../lib/read/windows.mjs";
import { drawScale, largest, scalebar, scaleOf, weightScale } from "../lib/draw/scalebar.mjs";
import { besideReads, inMapsPlace } from "../lib/states/tapes.mjs";
import { relationName, requestName } from "../lib/words.mjs";

/** @typedef {import("../lib/types").World} World @typedef {import("../lib/types").Context} Context @typedef {import("../lib/map/pane.mjs").Showing} Showing */
/** @typedef {import("../lib/map/modes.mjs").Mode} Mode */
/** What the view keeps beside the world; nothing of it is part of the run.
 * @typedef {object} Stage
 * @property {Pane} map @property {Pane} other @property {Overview} overview @property {import("../lib/draw/scalebar.mjs").Fitted} fitted
 * @property {any[]} seen what the last draw was made from @property {World["hover"]} hover what was pointed at then
 * @property {Mode} mode @property {import("../lib/map/modes.mjs").Kept} kept @property {boolean} heads the small multiples are shown where something else would be @property {any} table timer of the hidden table
 * @property {{at: number, text: string}} word what happened to the lock at a moment @property {(part: string) => any} part of the page
 */

/** @type {WeakMap<HTMLElement, Stage>} */
const stages = new WeakMap();

/** @type {import("../lib/types").View} */
export default {
  id: "map",
  title: "Who may read, how much is read",
  slot: "map",
  phases: ["train", "prefill", "decode"],
  applies: (world) => world.opened?.relations.length !== 0 && !treeShown(world) && !timeShown(world) && !inMapsPlace(world),

  wants(world) {
    const at = read.relation(world);
    if (!at) return [];
    const all = read.tapsOf(world, at.info, at.layer).weights.replace(read.scope(at.info, at.layer), at.info.path.replace("{layer}", "*"));
    const bin = squareSizes(world).sent;
    const [weights, scores] = read.readSelectors(world);
    const { span, ...whole } = scores;
    const partner = pair(world)?.find((r) => r !== read.request(world));
    const beside = partner === undefined ? [] : [weights, scores].map((s) => ({ ...s, index: { ...s.index, b: partner } }));
    return [weights, span && world.look.show === "scores" ? whole : scores, { path: all, index: { b: read.request(world) }, dtype: "u8", ...(bin > 1 ? { bin } : {}) }, ...beside];
  },

  mount(element, context) {
    const [map, other] = ["map-pan", "other-pan"].map((name) => new Pane(name, () => tell(stage), context));
    const overview = new Overview(map);
    const part = (/** @type {string} */ name) => /** @type {any} */ (element).querySelector(`[data-part="${name}"]`);
    /** @type {Stage} */
    const stage = { map, other, overview, fitted: { weights: 1, scores: 0 }, mode: "plain", kept: { of: "", large: false }, seen: [], hover: null, heads: false, table: 0, word: { at: -1, text: "" }, part };
    stages.set(element, stage);
    build(element, stage);
    map.panned = (window) => {
      overview.paint(window);
      caption(stage, window);
    };
    map.speak = other.speak = () => context.say([...part("readout").children].map((/** @type {any} */ e) => e.textContent).join(". "));
  },

  draw(element, world, context) {
    const stage = /** @type {Stage} */ (stages.get(element));
    if (lit(stage, world)) return () => [stage.map, stage.other].forEach((pane) => !pane.element.hidden && pane.paint());
    const mode = (stage.mode = modeOf(world, stage));
    set(element, "data-mode", mode);
    set(element, "data-editing", edits(world) ? "" : null);
    unlock(stage, world, context);
    controls(element, stage, world, context);
    const panes = sights(stage, world, mode);
    const beside = drawSide(stage, world, context, mode, () => again(element));
    drawScale(stage.part("scale"), world, stage.fitted, () => Math.max(...panes.map(([pane, number]) => largest(pane.world, number.shown))), () => again(element));
    for (const [pane, number] of panes) pane.prepare(pane.world, { number, scale: scaleOf(world, stage.fitted), mask: world.look.show === "mask", gold: world.look.gold ? goldCell(gold(pane.world)) : undefined });
    drawGold(stage.part("gold"), world, context, values(world).weight);
    drawMaskbar(stage.part("maskbar"), stage.part("panel"), world, context, () => inSight(stage));
    tell(stage);
    clearTimeout(stage.table);
    stage.table = setTimeout(() => fillTable(stage.part("table"), world, values(world)), 400);
    return () => {
      beside();
      for (const [pane] of panes) pane.paint();
    };
  },

  table: (world) => mapTable(world, values(world)),
};

/** Draw once more, though nothing of the world changed. @param {HTMLElement} element */
const again = (element) => element.dispatchEvent(new Event("box"));

/** Whether nothing changed since the last draw but what is pointed at: then the map is not made anew. @param {Stage} stage @param {World} world */
function lit(stage, world) {
  const values = [0, 1, 2, 3, 4].flatMap((i) => world.values("map", i).map((k) => `${k.path} ${k.version}`)).join();
  const seen = [world.moved, world.opened, world.schema, world.look, world.role, world.held, values];
  const only = world.hover !== stage.hover && seen.every((part, i) => part === stage.seen[i]);
  Object.assign(stage, { seen, hover: world.hover });
  if (only) tell(stage);
  return only;
}

/** The page of the view. @param {HTMLElement} element @param {Stage} stage */
function build(element, { map, other, overview }) {
  const choice = (/** @type {string} */ name, /** @type {string} */ label, /** @type {string[][]} */ options) =>
    h("div", { class: "seg", role: "group", "aria-label": label, "data-look": name }, options.map(([value, said]) => h("button", { type: "button", "data-value": value }, said)));
  const forms = [["later", msg`not computed`], ["model", msg`masked by program`], ["padd", msg`padding`], ["you", msg`masked by you`], ["off", msg`off pattern`], ["set", msg`edited`]];
  element.append(
    h("div", { class: "ph map-head" }, h("h2", { class: "h" }, msg`Who may read`, h("span", { class: "more" }, msg`, how much is read`)), h("span", { class: "sp" }),
      choice("show", msg`What the cells show`, [["weights", msg`weight`], ["scores", msg`score`], ["mask", msg`mask`]]),
      choice("scale", msg`Scale`, [["linear", msg`lin`], ["log", msg`log`]]),
      h("button", { class: "btn sm", type: "button", "data-part": "edit" }, msg`Edit mask`, " ", h("kbd", null, "M"))),
    h("div", { class: "mask-line" }, maskbar(),
      h("span", { class: "zoom", role: "group", "aria-label": msg`Zoom`, "data-part": "zoom" },
        [["−", msg`Smaller`, 0.8], ["0", msg`0: as the map chooses`, 0], ["+", msg`Larger`, 1.25]].map(([sign, said, by]) => h("button", { type: "button", "aria-label": said, title: said, onclick: () => map.zoom(Number(by)) }, sign))),
      h("label", { class: "gold", "data-part": "gold", title: msg`Gold alignment: double outlines mark the source words that the predicted word translates, as the grammar that wrote the sentence knows them. A row agrees if its largest weight lies on one.` }, h("input", { type: "checkbox" }), h("i", { class: "sw gold" }), h("span"), h("span", { class: "short" })),
      h("div", { class: "seg", role: "group", "aria-label": msg`Beside the map`, "data-part": "side" }, h("button", { type: "button" }), h("button", { type: "button" }))),
    maskPanel(),
    h("div", { class: "mapbody" },
      h("div", { class: "mini-col" },
        h("div", { class: "seg tabs", role: "group", "aria-label": msg`Relation`, "data-part": "relations" }),
        h("p", { class: "note", "data-part": "hops", hidden: true }, msg`A hop is a row of weights: one learned vector weighs all source rows, once. A head asks anew from every row, with queries and keys of its own.`),
        h("div", { class: "minis", role: "group", "aria-label": msg`Layers and heads: weights`, "data-part": "minis" }), overview.element, scalebar(),
        h("div", { class: "states", "data-part": "states" }, forms.map(([c, said]) => h("span", { "data-form": c }, h("i", { class: `sw ${c}` }), said)))),
      h("div", { class: "panes" }, map.element, other.element),
      h("p", { class: "readout", id: "map-readout", "data-part": "readout" },
        h("span", null, h("span", { class: "c-q" }, h("span"), h("b", { class: "mono" })), "  ", h("span", { class: "c-k" }, h("span"), h("b", { class: "mono" })), h("span")), h("span", null, h("span", { class: "dim" }), " ", h("span", { class: "mono" })))),
    h("div", { class: "sr", "data-part": "table" }));
  for (const [name, query] of [["maskbar", ".maskbar"], ["panel", ".mask-panel"], ["scale", ".scale"]]) /** @type {any} */ (element.querySelector(query)).dataset.part = name;
  for (const pane of [map, other]) pane.caption.append(h("b"), h("span"));
}

/** @param {World} world @param {Stage} stage @returns {Mode} */
function modeOf(world, stage) {
  if (stage.heads) return "plain";
  return pair(world) ? "pair" : isLarge(world, stage.kept) ? "large" : "plain";
}

/** The numbers that a map shows. @param {World} world @param {number} [first] of its selectors */
function values(world, first = 0) {
  const [weight, score] = [read.readCells(world, "map", first), read.readCells(world, "map", first + 1)];
  const at = read.relation(world);
  return { weight, score, shown: world.look.show === "scores" ? score : weight, came: at ? arrived(world, world.values("map", first)[0], at) : undefined };
}

/** The maps that are shown, each with the world of its request and its numbers.
 * @param {Stage} stage @param {World} world @param {Mode} mode @returns {[Pane, ReturnType<typeof values>][]} */
function sights(stage, world, mode) {
  const both = mode === "pair" ? pair(world) : null;
  hide(stage.other.element, !both);
  stage.map.world = world;
  stage.map.own = true;
  stage.other.own = false;
  hide(stage.map.caption, mode === "plain");
  hide(stage.other.caption, false);
  if (!both) return [[stage.map, values(world)]];
  return both.map((request, i) => {
    const pane = i ? stage.other : stage.map;
    const own = request === read.request(world);
    pane.own = own;
    pane.world = own ? world : Object.create(world, { look: { value: { ...world.look, request, lock: null } } });
    const valid = read.rows(pane.world, "t").filter((row) => row.state !== "padded").length;
    text(pane.caption.children[0], msg`Request ${requestName(request)}`);
    text(pane.caption.children[1], `, ${counted(valid, "{0} valid row", "{0} valid rows")}`);
    return /** @type {[Pane, ReturnType<typeof values>]} */ ([pane, values(pane.world, own ? 0 : 3)]);
  });
}

/** What the lens shows; buttons that zoom, where there is something to zoom. @param {Stage} stage @param {import("../lib/draw/camera.mjs").Window} window */
function caption({ map, part, mode }, window) {
  const cut = !!(window.width || window.height);
  const zoom = part("zoom");
  const hidden = !cut && map.scale === 1 ? "hidden" : "";
  if (zoom.style.visibility !== hidden) zoom.style.visibility = hidden;
  if (mode !== "large") return;
  const span = (/** @type {number} */ from, /** @type {number} */ n) => `${from}–${from + n - 1}`;
  text(map.caption.children[0], window.cell < 1 ? msg`Map` : msg`Lens`);
  text(map.caption.children[1], `, ${span(window.row, window.rows)} × ${span(window.column, window.columns)}`);
}

/** The rows and keys in sight, as a person would type them. @param {Stage} stage */
function inSight({ map }) {
  const { row, rows, column, columns } = map.window();
  return { rows: `${row}–${row + rows - 1}`, keys: `${column}–${column + columns - 1}` };
}

/** A locked cell whose row is gone unlocks, with a word. @param {Stage} stage @param {World} world @param {Context} context */
function unlock(stage, world, context) {
  const at = read.relation(world);
  const { lock } = world.look;
  if (!lock || !at || !world.moved) return;
  const gone = !read.rows(world, at.info.query)[lock.row] ? lock.row : !read.rows(world, at.info.key)[lock.key] ? lock.key : -1;
  if (gone < 0) return;
  stage.word = { at: world.moved.at, text: msg`Row ${gone} is not there any more: unlocked.` };
  queueMicrotask(() => {
    context.look({ lock: null });
    context.say(stage.word.text);
  });
}

/** @param {any} element @param {Stage} stage @param {World} world @param {Context} context */
function controls(element, stage, world, context) {
  for (const group of element.querySelectorAll("[data-look]")) {
    for (const button of group.children) {
      set(button, "aria-pressed", String(world.look[/** @type {"show"} */ (group.dataset.look)] === button.dataset.value));
      set(button, "disabled", group.dataset.look === "scale" && world.look.show !== "weights");
      button.onclick = () => context.look({ [group.dataset.look]: button.dataset.value });
    }
  }
  const edit = stage.part("edit");
  set(edit, "aria-pressed", String(world.look.editing));
  set(edit, "disabled", world.role !== "writer" || !!world.held);
  set(edit, "title", world.held || null);
  edit.onclick = () => context.look({ editing: !world.look.editing });
  const at = read.relation(world);
  const relations = world.opened?.relations ?? [];
  const all = [...relations, ...(besideReads(world) ? [null] : [])];
  hide(stage.part("relations"), all.length < 2);
  list(stage.part("relations"), all, (/** @type {any} */ r) => r?.name ?? "", () => h("button", { type: "button" }), (button, r) => {
    if (!r) return toStates(button, context);
    text(button, relationName(r.name));
    set(button, "title", r.title);
    set(button, "aria-pressed", String(r.name === at?.info.name));
    button.onclick = () => context.look({ relation: r.name, lock: null, path: null, op: null });
  });
}

/** States that the model carries from row to row stand in the map's place when asked for. @param {any} button @param {Context} context */
function toStates(button, context) {
  text(button, msg`states`);
  set(button, "title", msg`What is carried from row to row, in the place of this map`);
  set(button, "aria-pressed", "false");
  button.onclick = () => context.look({ states: "t", path: null, op: null });
}

/** What stands beside the map: the small multiples, or an overview. @param {Stage} stage @param {World} world @param {Context} context @param {Mode} mode @param {() => void} redraw
 * @returns {() => void} paints the small multiples */
function drawSide(stage, world, context, mode, redraw) {
  const special = !!pair(world) || isLarge(world, stage.kept);
  const side = stage.part("side");
  const editing = edits(world);
  hide(side, !special || editing);
  hide(stage.part("zoom"), editing || mode === "pair");
  const head = `L${(read.relation(world)?.layer ?? 0) + 1} H${(read.relation(world)?.head ?? 0) + 1}`;
  [pair(world) ? msg`side by side` : msg`overview`, msg`heads: ${head}`].forEach((said, i) => {
    text(side.children[i], said);
    set(side.children[i], "aria-pressed", String(stage.heads === !!i));
    side.children[i].onclick = () => {
      stage.heads = !!i;
      redraw();
    };
  });
  const at = read.relation(world), mask = at?.info.masks[at.layer];
  form(stage, "off", !!mask && (windowed(world, at.info, at.layer) || !["full", "causal", "prefix", "source_target"].includes(mask.program) || mask.every > 1));
  form(stage, "set", !!edited(world));
  hide(stage.part("minis"), mode !== "plain");
  hide(stage.part("hops"), read.relation(world)?.info.query !== "r");
  hide(stage.overview.element, mode !== "large");
  stage.overview.forget();
  return mode === "plain" ? drawMinis(stage.part("minis"), world, context, world.values("map", 2), weightScale(world, stage.fitted)) : () => {};
}

/** An entry of the legend that is there where its form is. @param {Stage} stage @param {string} name @param {boolean} there */
function form(stage, name, there) {
  stage.part("states").querySelector(`[data-form=${name}]`).hidden = !there;
}

/** The read-out: the map under the pointer, else the one that is looked at. @param {Stage} stage */
function tell(stage) {
  const { map, other, word, part } = stage;
  const pane = [map, other].find((p) => p.hover && !p.element.hidden) ?? (other.own && !other.element.hidden ? other : map);
  const { sight, world } = pane;
  if (!sight) return;
  const pointed = pane.pointed();
  const said = readout(world, pointed, sight.showing.number, sight.state, sight.marked);
  const [first, second] = part("readout").children;
  const note = !pointed && word.text && word.at === world.moved?.at ? word.text : said.note;
  [said.query, said.key].forEach((value, i) => {
    const word = said.tokens[i] && value.endsWith(said.tokens[i]) ? said.tokens[i] : "";
    text(first.children[i].firstChild, note ? "" : value.slice(0, value.length - word.length));
    text(first.children[i].lastChild, note ? "" : word);
  });
  text(first.children[2], note);
  [said.status, said.figures].forEach((value, i) => text(second.children[i], value));
}
