// @ts-check
/** Where the gradient goes: its norm by parameter with what the update moved, by position and depth, and the signed gradient of the
 * selected head's scores. The list shares its place with the map of who may read. */

import { writes } from "../lib/answers.mjs";
import { small, tickText } from "../lib/training/curves.mjs";
import { h, hide, list, set, text } from "../lib/dom.mjs";
import { clipping, depths, extremes, groups, normSoFar, powers, reached, share, vanishes, widened } from "../lib/training/gradients.mjs";
import { msg } from "../lib/language.mjs";
import { numbered } from "../lib/map/maps.mjs";
import { choice, panel, printScale, show } from "../lib/draw/panels.mjs";
import * as read from "../lib/reads.mjs";
import { loops } from "../lib/training/backwards.mjs";
import { alone } from "../lib/states/tapes.mjs";
import { figure, relationName, rowWords, shown } from "../lib/words.mjs";

/** @typedef {import("../lib/types").World} World @typedef {import("../lib/types").Context} Context @typedef {import("../lib/training/gradients.mjs").Powers} Powers */
/** @typedef {import("../lib/training/gradients.mjs").Group} Group @typedef {import("../lib/training/gradients.mjs").Parameter} Parameter @typedef {import("../lib/draw/panels.mjs").Panel} Panel */

/** What a person set here, and scales: fixed from the first values until they are fitted; null: by the next values.
 * @typedef {{log: boolean, folded: Set<string>, owner: "s" | "t", bars: Powers | null, largest: number, score: number, position: Powers | null, panels: Record<string, {element: HTMLElement, panel: Panel}>, run: string}} Own */
/** @type {WeakMap<HTMLElement, Own>} */
const owns = new WeakMap();

/** @type {import("../lib/types").View} */
export default {
  id: "training",
  title: "Where the gradient goes",
  slot: "training",
  phases: ["train"],

  wants(world) {
    const at = read.relation(world);
    const index = { b: read.request(world) };
    const taps = world.schema?.taps ?? [];
    const positions = [...depths(taps), ...depths(taps, "s")].map((d) => ({ path: d.path, side: /** @type {const} */ ("gradient"), index, dtype: /** @type {const} */ ("f32"), reduce: /** @type {const} */ ("norm") }));
    if (!at) return positions;
    return [{ path: read.tapsOf(world, at.info, at.layer).scores, side: "gradient", index: { ...index, h: at.head }, dtype: "f32" }, ...positions];
  },

  mount(element) {
    const score = panel("score", msg`∂L/∂score`, "div", h("span", { class: "sp" }), h("select", { class: "pick", "aria-label": msg`Which head` }));
    const position = panel("position", msg`By position`, "log", h("span", { class: "sub" }, "‖∂L/∂h‖"), h("span", { class: "sp" }), choice("owner", msg`Rows of`, [["t", msg`target`], ["s", msg`source`]]));
    owns.set(element, { log: true, folded: new Set(), owner: "t", bars: null, largest: 0, score: 0, position: null, panels: { score, position }, run: "" });
    element.append(
      h("div", { class: "grad grad-list" },
        h("div", { class: "ph" }, h("h2", { class: "h nowrap list-title" }, msg`Gradient norm by parameter`), choice("pane", msg`What stands below`, [["gradient", msg`By parameter`], ["map", msg`Who may read`], ["time", msg`Through time`]]), h("span", { class: "sp" }), choice("log", msg`Scale`, [["lin", msg`lin`], ["log", msg`log`]])),
        h("div", { class: "norm norm-head", "aria-hidden": "true" }, h("span"), h("span"), h("span", { title: msg`L2 norm of the gradient` }, "‖∂L/∂W‖"), h("span", { title: msg`how much the update moved it: the norm of its change over its own norm` }, "‖ΔW‖/‖W‖")),
        h("ul", { class: "norms", tabindex: 0, "aria-label": msg`Gradient norm by parameter, from the output back to the input` }),
        h("div", { class: "norm norm-foot" }, h("button", { class: "link", type: "button" }), h("span", { class: "mono ends" }, h("span"), h("span")), h("button", { class: "link", type: "button", title: msg`Fit the scale to what is shown` }, msg`fit`)),
        h("dl", { class: "clip" }, h("dt"), h("dd", { class: "mono c-g" }), h("dt", null, msg`clip factor`), h("dd", { class: "mono" }), h("dd", { class: "note" })),
        h("p", { class: "note clip-set" })),
      h("div", { class: "grad-maps" }, score.element, position.element),
    );
  },

  draw(element, world, context) {
    const own = /** @type {Own} */ (owns.get(element));
    const again = () => this.draw(element, world, context)?.();
    const pane = world.look.editing || (world.look.pane === "time" && !loops(world)) ? "map" : world.look.pane;
    set(element, "data-pane", pane === "time" ? "map" : pane);
    forget(own, world);
    choices(element, own, world, context, pane, again);
    const all = groups(world);
    parameters(element.firstElementChild, own, all, world, context, again);
    summary(element.firstElementChild, all, world);
    return () => {
      scoreMap(own, world, context);
      positionMap(own, world, context);
    };
  },

  table(world) {
    const rows = groups(world).flatMap((g) => g.parameters.map((p) => [p.path, p.value, p.moved]));
    return { columns: [msg`parameter`, msg`gradient norm`, msg`moved (share of its norm)`], rows };
  },
};

/** Another run, or the same from its start, begins with scales of its own.
 * @param {Own} own @param {World} world */
function forget(own, world) {
  const run = world.moved?.train ? (world.schema?.taps?.length ?? 0) + (world.opened?.scenario?.seed ?? "") : "";
  if (run === own.run) return;
  Object.assign(own, { run, bars: null, largest: 0, score: 0, position: null });
}

/** @param {HTMLElement} element @param {Own} own @param {World} world @param {Context} context @param {string} pane @param {() => void} again */
function choices(element, own, world, context, pane, again) {
  /** @type {any} */ (element.querySelector('[data-choice="pane"] [data-value="time"]')).hidden = !loops(world);
  const source = depths(world.schema?.taps ?? [], "s").length > 0;
  text(/** @type {any} */ (element.querySelector('[data-choice="pane"] [data-value="map"]')), alone(world) ? msg`States` : msg`Who may read`);
  if (!source) own.owner = "t";
  if (!writes(world)) own.owner = "s";
  const now = /** @type {Record<string, string>} */ ({ pane, log: own.log ? "log" : "lin", owner: own.owner });
  for (const group of /** @type {any} */ (element.querySelectorAll("[data-choice]"))) {
    const name = group.dataset.choice;
    if (name === "owner") {
      hide(group, !source || !writes(world));
      hide(group.parentElement.children[1], !group.hidden); // there is no room for both
    }
    for (const button of group.children) {
      const { value } = button.dataset;
      set(button, "aria-pressed", String(now[name] === value));
      button.onclick = () => {
        if (name === "pane") return context.look(/** @type {any} */ ({ pane: value, editing: false }));
        if (name === "log") own.log = value === "log";
        else own.owner = value;
        again();
      };
    }
  }
}

/** @param {any} left @param {Own} own @param {Group[]} all @param {World} world @param {Context} context @param {() => void} again */
function parameters(left, own, all, world, context, again) {
  const values = all.flatMap((g) => (g.value === null ? [] : [g.value, ...g.parameters.map((p) => p.value ?? 0)]));
  own.bars = powers(values, own.bars);
  own.largest = widened(own.largest, values);
  const long = (/** @type {number | null} */ v) => (v === null ? 0 : own.log ? (own.bars ? share(v, own.bars) : 0) : own.largest ? Math.min(1, v / own.largest) : 0);
  const items = all.flatMap((g) => (g.parameters.length < 2 ? [] : [{ group: g, parameter: /** @type {Parameter | null} */ (null) }]).concat(own.folded.has(g.key) && g.parameters.length > 1 ? [] : g.parameters.map((p) => ({ group: g, parameter: p }))));
  const frontier = items.findIndex((i) => (i.parameter ?? i.group).value === null);
  const [, , ul, foot] = left.children;
  list(ul, items, (i) => i.parameter?.path ?? `group ${i.group.key}`, () => h("li", null, h("button", { type: "button", class: "norm" }, h("span"), h("span", { class: "bar" }, h("i")), h("b", { class: "mono" }), h("span", { class: "mono moved" }))), (li, item, i) => {
    set(li, "class", [item.parameter ? (item.group.parameters.length < 2 ? "alone" : "") : "group", frontier > 0 && i === frontier ? "frontier" : ""].join(" ").trim() || null);
    line(li.firstElementChild, item, long, own, world, context, again);
  });
  bring(ul, frontier, world.look.op ?? "");
  const folds = all.every((g) => own.folded.has(g.key));
  text(foot.firstElementChild, folds ? msg`open all` : msg`fold all`);
  foot.firstElementChild.onclick = () => {
    own.folded = new Set(folds ? [] : all.map((g) => g.key));
    again();
  };
  const ends = own.log ? (own.bars ? [tickText(10 ** own.bars.low), tickText(10 ** own.bars.high)] : ["", ""]) : ["0", own.largest ? tickText(own.largest) : ""];
  ends.forEach((said, i) => text(foot.children[1].children[i], said));
  foot.lastElementChild.onclick = () => {
    Object.assign(own, { bars: null, largest: 0 });
    again();
  };
}

/** With every step of the op cursor the list shows how far the gradient came.
 * @param {any} ul @param {number} frontier @param {string} op */
function bring(ul, frontier, op) {
  if (ul.dataset.op === op) return;
  ul.dataset.op = op;
  if (!op || frontier < 0) return;
  queueMicrotask(() => { // when all is drawn: it asks where things lie
    const [top, room] = [ul.children[frontier].offsetTop, ul.clientHeight];
    if (top < ul.scrollTop + 40 || top > ul.scrollTop + room - 40) ul.scrollTop = top - room + 60;
  });
}

/** One line of the list: a group, or a parameter of it.
 * @param {any} button @param {{group: Group, parameter: Parameter | null}} item @param {(value: number | null) => number} long @param {Own} own @param {World} world @param {Context} context @param {() => void} again */
function line(button, { group, parameter }, long, own, world, context, again) {
  const [name, bar, value, moved] = button.children;
  const it = parameter ?? group;
  const known = it.value !== null;
  set(button, "class", `norm${known ? (Number.isFinite(it.value) ? "" : " bad") : " todo"}`);
  set(button, "aria-pressed", parameter ? String(world.look.path === `parameter.${parameter.path}`) : null);
  set(button, "aria-expanded", parameter ? null : String(!own.folded.has(group.key)));
  const nothing = parameter && vanishes(parameter, group);
  set(button, "title", nothing ? msg`${parameter.path}: ${small(/** @type {number} */ (parameter.value))}, which is 0 up to rounding: a bias of K adds the same to all scores of a row, and softmax does not see that` : parameter ? parameter.path : msg`${group.name}: all its parameters together`);
  button.onclick = () => {
    if (parameter) return context.look({ path: `parameter.${parameter.path}` });
    if (!own.folded.delete(group.key)) own.folded.add(group.key);
    again();
  };
  text(name, parameter && group.parameters.length < 2 && group.name !== it.name ? `${group.name} ${it.name}` : it.name);
  const scale = `scaleX(${known ? long(it.value).toFixed(4) : 0})`;
  if (bar.firstElementChild.style.transform !== scale) bar.firstElementChild.style.transform = scale;
  text(value, nothing ? "≈ 0" : known ? small(/** @type {number} */ (it.value)) : "–");
  text(moved, it.moved === null ? "–" : Number.isNaN(it.moved) ? msg`from 0` : `${figure(it.moved * 100, 2)}%`);
}

/** @param {any} left @param {Group[]} all @param {World} world */
function summary(left, all, world) {
  const training = world.opened?.scenario?.training ?? {};
  const clip = clipping(world.moved?.train, training.clip_norm, normSoFar(all));
  const [name, norm, , factor, said] = left.children[4].children;
  [[name, clip.name], [norm, clip.norm], [factor, clip.factor], [said, clip.said]].forEach(([place, words]) => text(place, words));
  const limit = training.clip_norm === null ? msg`no clipping` : msg`clip norm ${training.clip_norm ?? ""}`;
  const optimizer = training.optimizer === "sgd" ? "SGD" : "AdamW";
  text(left.lastElementChild, `${optimizer}, ${msg`learning rate ${training.learning_rate ?? ""}`}, ${limit}`);
}

/** Rows of one owner without what is only padding: one padded row stands for all of them.
 * @param {World} world @param {"s" | "t"} owner */
function real(world, owner) {
  const all = read.rows(world, owner);
  const end = read.lastKnown(all) + 1;
  return { rows: all.slice(0, Math.min(all.length, end + 1)), padded: all.length - end };
}

/** @param {{rows: read.Row[], padded: number}} of */
const names = ({ rows, padded }) => numbered(rows.map((r) => shown(r.token)), 0, rows.length).map((name, i) => (rows[i].state === "padded" && padded > 1 ? `${shown(rows[i].token)} ×${padded}` : name));

/** @param {Own} own @param {World} world @param {Context} context */
function scoreMap(own, world, context) {
  const at = read.relation(world);
  const { element, panel: p } = own.panels.score;
  hide(element, !at); // nothing is read by scores
  if (!at) return;
  pick(/** @type {any} */ (element.querySelector("select")), world, at, context);
  const [queries, keys] = [real(world, at.info.query), real(world, at.info.key)];
  const mask = read.visibility(at.info, at.layer, read.rows(world, at.info.key));
  const [known] = world.values("training", 0);
  const open = !!known && reached(world, read.scope(at.info, at.layer));
  const cells = read.cells(known, read.request(world), at.head);
  const state = (/** @type {number} */ r, /** @type {number} */ k) => (queries.rows[r].state === "padded" || keys.rows[k].state === "padded" ? "padded" : !mask.allows(r, k) ? (mask.own(r, k) === false ? "user" : "model") : open ? "ok" : "later");
  const value = (/** @type {number} */ r, /** @type {number} */ k) => (state(r, k) === "ok" ? cells(r, k) : NaN);
  const top = open ? extremes(queries.rows.length, keys.rows.length, value) : null;
  own.score = widened(own.score, top?.largest ? [top.largest.value] : []);
  const nothing = top && !top.largest && top.zeros ? msg`0 in every cell` : ""; // of a head that is multiplied by 0
  const { row, key, locked } = read.focus(world);
  const chosen = locked && key !== null ? { row, column: key } : null;
  const said = (/** @type {{row: number, column: number} | null} */ cell) => nothing && !cell && !chosen ? /** @type {[string, string]} */ ([nothing, ""]) : scoreWords(cell ?? chosen ?? (top?.largest ?? null), !cell && !chosen, queries.rows, keys.rows, state, value);
  p.picture = {
    rows: queries.rows.length, columns: keys.rows.length, value, state, scale: { max: own.score || 1, diverging: true, root: true }, rowLabels: names(queries), roles: ["q", "k"], left: 70, selected: chosen, said,
    described: top?.largest ? msg`Gradient of the scores: largest size ${small(Math.abs(top.largest.value))}` : nothing ? msg`Gradient of the scores: 0 in every cell` : msg`Gradient of the scores: after backward`,
    chosen: (cell) => context.look({ lock: { row: cell.row, key: cell.column } }),
  };
  show(p);
  set(/** @type {any} */ (element.children[2].lastElementChild), "data-faint", !!top?.largest && Math.abs(top.largest.value) < own.score / 25);
  printScale(element, own.score ? `−${tickText(own.score)}` : "", own.score ? `+${tickText(own.score)}` : "", p.bins || msg`signed √`, () => {
    own.score = 0;
    scoreMap(own, world, context);
  });
}

/** @param {{row: number, column: number} | null} cell @param {boolean} most @param {read.Row[]} queries @param {read.Row[]} keys @param {(r: number, k: number) => string} state @param {(r: number, k: number) => number} value @returns {[string, string]} */
function scoreWords(cell, most, queries, keys, state, value) {
  if (!cell || !queries[cell.row] || !keys[cell.column]) return [msg`after backward`, ""];
  const what = /** @type {Record<string, string>} */ ({ later: msg`not computed yet`, model: msg`masked by the program: 0`, user: msg`masked by you: 0`, padded: msg`padding` })[state(cell.row, cell.column)] ?? small(value(cell.row, cell.column));
  return [most ? msg`largest: ${what}` : what, msg`query ${rowWords(cell.row, shown(queries[cell.row].token))}, key ${rowWords(cell.column, shown(keys[cell.column].token))}`];
}

/** Which head is shown, as one list of all.
 * @param {HTMLSelectElement} select @param {World} world @param {{info: any, layer: number, head: number}} at @param {Context} context */
function pick(select, world, at, context) {
  const all = (world.opened?.relations ?? []).flatMap((/** @type {any} */ r) => Array.from({ length: r.layers * r.heads }, (_, i) => ({ name: r.name, layer: Math.floor(i / r.heads), head: i % r.heads })));
  const key = (/** @type {any} */ o) => `${o.name} ${o.layer} ${o.head}`;
  const several = (world.opened?.relations.length ?? 0) > 1;
  list(select, all, key, (o) => h("option", { value: key(o) }, `L${o.layer + 1} H${o.head + 1}${several ? ` ${relationName(o.name)}` : ""}`));
  const now = key({ name: at.info.name, layer: at.layer, head: at.head });
  if (select.value !== now) select.value = now;
  select.onchange = () => {
    const chosen = all.find((/** @type {any} */ o) => key(o) === select.value);
    if (chosen) context.look({ relation: chosen.name, layer: chosen.layer, head: chosen.head, path: null, op: null });
  };
}

/** @param {Own} own @param {World} world @param {Context} context */
function positionMap(own, world, context) {
  const { element, panel: p } = own.panels.position;
  const taps = world.schema?.taps ?? [];
  const first = (read.relation(world) ? 1 : 0) + (own.owner === "s" ? depths(taps).length : 0);
  const all = depths(taps, own.owner);
  const of = real(world, own.owner);
  const b = read.request(world);
  const found = all.map((_, i) => world.values("training", i + first)[0]);
  const open = all.map((d) => reached(world, d.scope));
  const state = (/** @type {number} */ d, /** @type {number} */ t) => (of.rows[t].state === "padded" ? "padded" : open[d] && found[d] ? "ok" : "later");
  const value = (/** @type {number} */ d, /** @type {number} */ t) => (state(d, t) === "ok" ? found[d].at(Math.min(b, found[d].shape[0] - 1), t) : NaN);
  const ends = extremes(all.length, of.rows.length, value);
  own.position = powers(all.flatMap((_, d) => of.rows.map((_, t) => value(d, t))), own.position);
  const scale = own.position ?? { low: -4, high: 0 };
  const focus = read.focus(world);
  const own_row = focus.locked && read.relation(world)?.info.query === own.owner;
  const depth = all.findIndex((d) => d.path === world.look.path);
  p.picture = {
    rows: all.length, columns: of.rows.length, value, state, scale: { max: 10 ** scale.high, decades: scale.high - scale.low }, rowLabels: all.map((d) => d.name), roles: ["p", own.owner === "t" ? "q" : "k"], left: 88,
    selected: own_row && depth >= 0 && of.rows[focus.row] ? { row: depth, column: focus.row } : null,
    said: (cell) => positionWords(cell, all, of.rows, state, value, ends),
    described: ends.largest ? positionWords(null, all, of.rows, state, value, ends).join("; ") : msg`Gradient norm by position and depth: after backward`,
    chosen: (cell) => {
      const at = read.relation(world);
      const lock = at && at.info.query === own.owner && of.rows[cell.column].state !== "padded" ? { lock: { row: cell.column, key: at.info.key === at.info.query ? cell.column : 0 } } : {};
      context.look({ path: all[cell.row].path, ...lock });
    },
  };
  show(p);
  printScale(element, own.position ? `≤ ${tickText(10 ** scale.low)}` : "", own.position ? tickText(10 ** scale.high) : "", p.bins || msg`log`, () => {
    own.position = null;
    positionMap(own, world, context);
  });
}

/** @param {{row: number, column: number} | null} cell @param {{name: string}[]} all @param {read.Row[]} rows @param {(d: number, t: number) => string} state @param {(d: number, t: number) => number} value @param {ReturnType<typeof extremes>} ends @returns {[string, string]} */
function positionWords(cell, all, rows, state, value, ends) {
  const place = (/** @type {{row: number, column: number}} */ c) => msg`${all[c.row].name}, row ${rowWords(c.column, shown(rows[c.column].token))}`;
  if (cell) {
    const what = state(cell.row, cell.column);
    return [what === "ok" ? small(value(cell.row, cell.column)) : what === "padded" ? msg`padding` : msg`not computed yet`, place(cell)];
  }
  if (!ends.largest || !ends.smallest) return [msg`after backward`, ""];
  return [msg`largest ${small(ends.largest.value)}: ${place(ends.largest)}`, msg`smallest ${small(ends.smallest.value)}: ${place(ends.smallest)}`];
}
