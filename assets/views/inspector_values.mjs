// @ts-check
/** The values of the chosen tensor by its axes: a strip, a matrix, or a picture for each panel; every value can be asked. */

import * as draw from "../lib/canvas.mjs";
import { h, hide, list, set, text } from "../lib/dom.mjs";
import * as about from "../lib/inspect/inspected.mjs";
import { counted, msg } from "../lib/language.mjs";
import * as read from "../lib/reads.mjs";
import { isCarried } from "../lib/states/carrying.mjs";
import { arranged, layout, panelCount, picture, placed, selector, summary } from "../lib/inspect/tensor.mjs";
import { benchLink, leadsTo, matrixAsBench } from "../lib/inspect/tobench.mjs";
import { axisName, figure, shown } from "../lib/words.mjs";

/** @typedef {import("../lib/types").World} World @typedef {import("../lib/types").Context} Context @typedef {import("../lib/types").Known} Known */
/** @typedef {import("../lib/inspect/tensor.mjs").Layout} Layout @typedef {{panel: number, row: number, column: number}} Place */
/** @typedef {{most: Map<string, {max: number, diverging: boolean}>, at: Place | null, hover: Place | null, path: string, model: string, geometry: ReturnType<typeof draw.cellMap>[]}} State */

const NAME = "inspector_values";
const ROOM = 226; // px for the pictures, whatever they hold
const FOLLOWING = 162; // and while the op cursor leads: then a read and a tensor take turns in one place
const SLOTS = /** @type {const} */ (["rows", "columns", "panels"]);

/** @type {WeakMap<HTMLElement, State>} */
const states = new WeakMap();

/** The tensor that is shown here, with its layout; null while the inspector shows a read.
 * @param {World} world @returns {{tap: any, now: Layout} | null} */
function subject(world) {
  const { path, op } = world.look; // a state that is followed stands on the stage, row by row
  const onStage = path === null && op === null && read.phase(world) !== "train" && isCarried(world);
  const tap = onStage || (about.shownPath(world) === null && read.relation(world)) ? null : about.chosen(world);
  if (!tap) return null;
  const axes = tap.axes.map((/** @type {string} */ axis, /** @type {number} */ i) => ({ axis, size: about.axisSize(world, tap, i) }));
  const { head = 0 } = read.relation(world) ?? {};
  return { tap, now: layout(axes, world.look.layout, { b: read.request(world), h: head, g: head }) };
}
/** @type {import("../lib/types").View} */
export default {
  id: NAME,
  title: "Values",
  slot: "inspector",
  phases: ["train", "prefill", "decode"],

  wants(world) {
    const found = subject(world);
    return found ? [selector(found.tap.path, found.now, about.side(world, found.tap))] : [];
  },

  mount(element, context) {
    const state = /** @type {State} */ ({ most: new Map(), at: null, hover: null, path: "", model: "", geometry: [] });
    states.set(element, state);
    const sides = [["value", msg`value`], ["unedited", msg`unedited`], ["gradient", msg`gradient`]];
    element.append(h("div", { class: "insp value-part" },
      h("div", { class: "hh" }, h("h2", { class: "h" }, msg`Values`), benchLink(), h("div", { class: "seg", role: "group", "aria-label": msg`Side` },
        sides.map(([value, said]) => h("button", { type: "button", "data-value": value, onclick: () => context.look({ side: /** @type {any} */ (value) }) }, said)))),
      h("div", { class: "layout" }, SLOTS.map((slot) => h("label", null, h("span", null, { rows: msg`rows`, columns: msg`columns`, panels: msg`panels` }[slot]), h("select", { "data-slot": slot })))),
      h("div", { class: "rest" }),
      h("div", { class: "pictures", tabindex: 0, role: "img", "data-arrows": true }),
      h("p", { class: "asked mono" }),
      h("dl", { class: "sums" }, [msg`min`, msg`max`, msg`mean`, msg`count`].map((said) => h("div", null, h("dt", null, said), h("dd", { class: "mono" }))), h("div", { class: "bad" }, h("dt", null, "✕"), h("dd", { class: "mono" }))),
      h("div", { class: "scale" }, h("span"), h("i"), h("span"), h("span", { class: "dim" }), h("button", { class: "link", type: "button", title: msg`Fit the scale to what is shown` }, msg`fit`))));
  },

  draw(element, world, context) {
    const found = subject(world);
    set(element, "data-empty", found ? null : "true");
    set(element, "data-following", world.look.path === null || world.look.op !== null ? "true" : null);
    if (!found) return;
    const state = /** @type {State} */ (states.get(element));
    const { tap, now } = found;
    forget(state, world);
    const side = about.side(world, tap);
    const known = world.values(NAME, 0)[0];
    const ready = known?.path === tap.path && known.side === side ? known : null;
    if (state.path !== `${tap.path} ${side}`) Object.assign(state, { path: `${tap.path} ${side}`, at: null, hover: null });
    const [head, controls, rest, pictures, asked, sums, bar] = /** @type {any} */ (element.firstElementChild?.children);
    sideChoice(head.lastElementChild, world, tap, side);
    layoutChoice(controls, world, context, now);
    restChoice(rest, world, context, now);
    const again = () => this.draw(element, world, context)?.();
    const shownPanels = ready ? panelCount(now, ready) : { shown: 0, all: 0 };
    const all = ready ? Array.from({ length: shownPanels.shown }, (_, i) => picture(ready, now, i)) : [];
    leadsTo(head.children[1], all.length > 0, () => matrixAsBench(all[0]));
    const stats = summary(all);
    statistics(sums, stats, now, shownPanels);
    const scale = scaleOf(bar, state, tap, stats, again);
    listen(pictures, state, all, () => ask(asked, world, state, tap, now, all, pictures));
    ask(asked, world, state, tap, now, all, pictures, ready ? "" : msg`not computed at this moment`);
    set(pictures, "aria-label", said(tap, now, stats));
    return () => paint(pictures, world, state, tap, now, all, scale);
  },

  table(world) {
    const found = subject(world);
    const known = world.values(NAME, 0)[0];
    if (!found || !known) return { columns: [], rows: [] };
    const { now } = found;
    const rows = [];
    for (let p = 0; p < panelCount(now, known).all; p++) {
      const m = picture(known, now, p);
      for (let r = 0; r < m.rows; r++) for (let c = 0; c < m.columns; c++) rows.push([p, r, c, m.at(r, c)]);
    }
    return { columns: [now.panels?.axis ?? msg`panel`, now.rows?.axis ?? msg`row`, now.columns?.axis ?? msg`column`, `${known.side} ${known.path}`], rows };
  },
};

/** @param {any} group @param {World} world @param {any} tap @param {string} side */
function sideChoice(group, world, tap, side) {
  const there = about.sides(world, tap);
  const why = { value: "", unedited: msg`no edit changes it`, gradient: msg`in training, after backward` };
  for (const button of group.children) {
    const value = /** @type {"value"} */ (button.dataset.value);
    set(button, "aria-pressed", String(value === side));
    set(button, "disabled", !there.includes(value));
    set(button, "title", there.includes(value) ? null : why[value]);
  }
}

/** @param {any} controls @param {World} world @param {Context} context @param {Layout} now */
function layoutChoice(controls, world, context, now) {
  for (const label of controls.children) {
    const select = label.lastElementChild;
    const slot = /** @type {"rows"} */ (select.dataset.slot);
    list(select, [{ axis: "", size: 0 }, ...now.choice], (a) => a.axis || "-", () => h("option"), (option, a) => {
      set(option, "value", a.axis);
      text(option, a.axis ? axisName(a.axis) : "–");
    });
    const value = now[slot]?.axis ?? "";
    if (select.value !== value) select.value = value;
    set(select, "disabled", now.choice.length < 2);
    select.onchange = () => context.look({ layout: placed(now, slot, select.value, world.look.layout) });
  }
}

/** Where the axes stand that are neither rows, columns nor panels. @param {any} element @param {World} world @param {Context} context @param {Layout} now */
function restChoice(element, world, context, now) {
  set(element, "data-empty", now.rest.length ? null : "true");
  list(element, now.rest, (a) => a.axis, (a) => h("label", null, h("span"), h("input", { type: "number", min: 0, step: 1, "aria-label": axisName(a.axis) }), h("span", { class: "dim" })), (label, a) => {
    const [name, input, of] = label.children;
    text(name, axisName(a.axis));
    text(of, msg`of ${a.size}`);
    set(input, "max", a.size - 1);
    if (document.activeElement !== input) set(input, "value", String(a.at));
    input.onchange = () => {
      const at = Math.max(0, Math.min(a.size - 1, Math.round(Number(input.value)) || 0));
      set(input, "value", String(at));
      context.look({ layout: { ...world.look.layout, index: { ...world.look.layout.index, [a.axis]: at } } });
    };
  });
}

/** @param {any} element @param {ReturnType<typeof summary>} s @param {Layout} now @param {{shown: number, all: number}} panels */
function statistics(element, s, now, panels) {
  [s.min, s.max, s.mean].forEach((value, i) => text(element.children[i].lastElementChild, s.count ? figure(value) : "–"));
  text(element.children[3].lastElementChild, s.count ? s.count.toLocaleString("en") : "–");
  const bad = element.children[4];
  set(bad, "data-empty", s.nan || s.infinite ? null : "true");
  text(bad.lastElementChild, [s.nan ? msg`${s.nan} NaN` : "", s.infinite ? msg`${s.infinite} infinite` : ""].filter(Boolean).join(", "));
  const parts = [
    panels.all > panels.shown ? msg`the first ${panels.shown} of ${panels.all} panels` : "",
    now.bin > 1 ? msg`the largest of each ${now.bin} × ${now.bin}` : "",
    now.cut ? msg`the first ${now.cut} of ${now.rows?.size ?? 0} rows` : "",
    ...now.rest.map((a) => msg`${axisName(a.axis)} ${a.at}`),
  ].filter(Boolean);
  set(element, "title", parts.length ? msg`Of what is shown: ${parts.join(", ")}` : msg`Of the whole tensor`);
}

/** Another model begins with scales of its own. @param {State} state @param {World} world */
function forget(state, world) {
  const { architecture, config, task, weights } = world.opened.scenario;
  const model = JSON.stringify([architecture, config, task, weights]);
  if (model !== state.model) Object.assign(state, { model, most: new Map() });
}

/** The printed scale: fixed for each tensor and side until a person fits it.
 * @param {any} bar @param {State} state @param {any} tap @param {ReturnType<typeof summary>} s @param {() => void} again */
function scaleOf(bar, state, tap, s, again) {
  const size = Math.max(Math.abs(s.min), Math.abs(s.max));
  if (s.count && Number.isFinite(size) && !state.most.has(state.path)) state.most.set(state.path, { max: tap.type === "mask" ? 1 : nice(size), diverging: s.min < 0 });
  const scale = state.most.get(state.path) ?? { max: 1, diverging: false };
  set(bar, "class", `scale${scale.diverging ? " div" : ""}`);
  text(bar.children[0], scale.diverging ? `−${figure(scale.max, 2)}` : "0");
  text(bar.children[2], `${scale.diverging ? "+" : ""}${figure(scale.max, 2)}`);
  text(bar.children[3], size > scale.max ? msg`out of range` : "");
  bar.lastElementChild.onclick = () => {
    state.most.delete(state.path);
    again();
  };
  return scale;
}

/** Rounded up to two figures, so that the print is the scale. @param {number} size */
function nice(size) {
  if (!(size > 0)) return 1;
  const ten = 10 ** (Math.floor(Math.log10(size)) - 1);
  return Number((Math.ceil(size / ten - 1e-9) * ten).toPrecision(2));
}

/** @param {any} pictures @param {World} world @param {State} state @param {any} tap @param {Layout} now @param {ReturnType<typeof picture>[]} all @param {{max: number, diverging: boolean}} scale */
function paint(pictures, world, state, tap, now, all, scale) {
  const [width] = draw.boxOf(pictures);
  const labels = now.panels || now.bin > 1 ? null : tokens(world, now.rows?.axis, all[0]?.rows ?? 0);
  const room = world.look.path !== null ? ROOM : matchMedia("(max-height: 790px)").matches ? FOLLOWING - 31 : FOLLOWING; // as inspector.css
  const named = !!labels && room / labels.length >= 11;
  const left = named ? 62 : 0;
  const box = arranged(width - left, room, all.length, all[0] ?? { rows: 1, columns: 1 }, { caption: now.panels ? 15 : 0, row: named || all[0]?.rows === 1 ? 18 : 12 });
  const columns = `repeat(${box.across}, minmax(0, 1fr))`;
  if (pictures.style.gridTemplateColumns !== columns) pictures.style.gridTemplateColumns = columns;
  list(pictures, all, (_, i) => i, () => h("figure", null, h("figcaption", { class: "note" }), h("canvas", { "aria-hidden": "true" })), (node, _, i) => {
    hide(node.firstElementChild, !now.panels);
    if (now.panels) text(node.firstElementChild, `${axisName(now.panels.axis)} ${countedFrom(now.panels.axis) + i}`);
  });
  state.geometry = all.map((m, i) => {
    const canvas = pictures.children[i].lastElementChild;
    draw.tall(canvas, `${box.tall}px`);
    const mark = state.hover ?? state.at;
    const selected = state.at?.panel === i ? { row: state.at.row, column: state.at.column } : null;
    const hover = mark?.panel === i && mark !== state.at ? { row: mark.row, column: mark.column } : null;
    return draw.cellMap(canvas, {
      rows: m.rows, columns: m.columns, value: m.at, state: (r, c) => (m.unknown(r, c) ? "later" : "ok"), gap: 0.6, scale, left, selected, hover,
      ...(named && labels ? { rowLabels: labels, roles: /** @type {[string, string]} */ ([about.roleOf(now.rows?.axis ?? "", tap.axes) || "p", "k"]) } : {}), values: m.columns < 12, format: (v) => figure(v, 2),
    });
  });
}

/** The tokens of an axis that is rows of an owner. @param {World} world @param {string | undefined} axis @param {number} rows @returns {string[] | null} */
function tokens(world, axis, rows) {
  const owner = axis?.replace("'", "");
  if (owner !== "s" && owner !== "t") return null;
  const all = read.rows(world, owner);
  return Array.from({ length: rows }, (_, i) => (all[i] ? shown(all[i].token) : String(i)));
}

/** The pointer asks a value, the keys walk. @param {any} element @param {State} state @param {ReturnType<typeof picture>[]} all @param {() => void} tell */
function listen(element, state, all, tell) {
  const find = (/** @type {PointerEvent} */ event) => {
    const figures = [...element.children];
    const panel = figures.findIndex((f) => f.contains(event.target));
    if (panel < 0 || !state.geometry[panel]) return null;
    const box = figures[panel].lastElementChild.getBoundingClientRect();
    const found = state.geometry[panel].at(event.clientX - box.left, event.clientY - box.top);
    return found && { panel, ...found };
  };
  element.onpointermove = (/** @type {PointerEvent} */ event) => {
    state.hover = find(event);
    tell();
  };
  element.onpointerleave = () => {
    state.hover = null;
    tell();
  };
  element.onclick = (/** @type {PointerEvent} */ event) => {
    state.at = find(event) ?? state.at;
    tell();
  };
  element.onkeydown = (/** @type {KeyboardEvent} */ event) => {
    const step = /** @type {Record<string, [number, number]>} */ ({ ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] })[event.key];
    if (!step || !all.length) return;
    event.preventDefault();
    event.stopPropagation();
    state.at = walked(state.at, step, all);
    state.hover = null;
    tell();
  };
}

/** One cell further; over an edge of a panel into the next one. Pure.
 * @param {Place | null} at @param {[number, number]} step @param {{rows: number, columns: number}[]} all @returns {Place} */
export function walked(at, [down, right], all) {
  if (!at) return { panel: 0, row: 0, column: 0 };
  const { rows, columns } = all[at.panel] ?? all[0];
  const [row, column] = [at.row + down, at.column + right];
  const panel = column < 0 ? at.panel - 1 : column >= columns ? at.panel + 1 : at.panel;
  if (panel === at.panel) return { panel, row: Math.max(0, Math.min(rows - 1, row)), column };
  if (panel < 0 || panel >= all.length) return at;
  return { panel, row: at.row, column: column < 0 ? columns - 1 : 0 };
}

/** The value under the pointer or the cursor. @param {any} element @param {World} world @param {State} state @param {any} tap @param {Layout} now
 * @param {ReturnType<typeof picture>[]} all @param {any} pictures @param {string} [nothing] */
function ask(element, world, state, tap, now, all, pictures, nothing) {
  const at = state.hover ?? state.at;
  const m = at && all[at.panel];
  const inside = m && at.row < m.rows && at.column < m.columns;
  text(element, nothing || (inside && m.unknown(at.row, at.column) ? msg`not computed at this moment` : inside ? asked(world, tap, now, at, m.at(at.row, at.column)) : msg`Point at a cell, or press the arrow keys.`));
  if (nothing !== undefined) return;
  // only a mark moved: the pictures are painted again, the numbers beside them stand
  const scale = state.most.get(state.path) ?? { max: 1, diverging: false };
  paint(pictures, world, state, tap, now, all, scale);
}

/** @param {World} world @param {any} tap @param {Layout} now @param {Place} at @param {number} value */
function asked(world, tap, now, at, value) {
  const place = (/** @type {import("../lib/inspect/tensor.mjs").Axis | null} */ a, /** @type {number} */ i) => {
    if (!a) return "";
    const token = now.bin > 1 ? null : tokens(world, a.axis, i + 1)?.[i];
    const n = now.bin > 1 && a !== now.panels ? `${i * now.bin}–${Math.min(a.size, (i + 1) * now.bin) - 1}` : String(i);
    const name = a === now.panels || !token ? axisName(a.axis) : a.axis;
    return `${name} ${countedFrom(a.axis) ? i + 1 : n}${token ? ` ${token}` : ""}`;
  };
  const word = tap.type === "ids" ? wordOf(world, tap, value) : "";
  return `${[place(now.panels, at.panel), place(now.rows, at.row), place(now.columns, at.column)].filter(Boolean).join(", ")}: ${figure(value, 4)}${word ? ` ${word}` : ""} ◉`;
}

/** Heads are counted from 1 everywhere on the page, rows and places from 0. @param {string} axis */
const countedFrom = (axis) => (axis === "h" || axis === "g" ? 1 : 0);

/** @param {World} world @param {any} tap @param {number} id */
function wordOf(world, tap, id) {
  const words = world.opened?.vocabulary?.[tap.axes.includes("s") ? "source" : "target"];
  return words?.[id] ? shown(words[id]) : "";
}

/** @param {any} tap @param {Layout} now @param {ReturnType<typeof summary>} s */
function said(tap, now, s) {
  const axes = [now.panels, now.rows, now.columns].filter((a) => a !== null).map((a) => `${axisName(a.axis)} ${a.size}`).join(" × ");
  const bad = s.nan + s.infinite ? `, ${counted(s.nan + s.infinite, "{0} not finite", "{0} not finite")}` : "";
  return s.count ? msg`${about.nameOf(tap)}, ${axes}: from ${figure(s.min)} to ${figure(s.max)}${bad}. Arrow keys walk over the cells.` : msg`${about.nameOf(tap)}: not computed at this moment`;
}
