// @ts-check
/** The values of the chosen tensor by its axes: a strip, a matrix, or a picture for each panel; every value can be asked. */

import { h, list, set, text } from "../lib/dom.mjs";
import * as about from "../lib/inspect/inspected.mjs";
import { asked, listen, paint } from "../lib/inspect/pictures.mjs";
import { Scales } from "../lib/inspect/scales.mjs";
import { layout, panelCount, picture, placed, selector, span, summary } from "../lib/inspect/tensor.mjs";
import { benchLink, leadsTo, matrixAsBench } from "../lib/inspect/tobench.mjs";
import { counted, msg } from "../lib/language.mjs";
import * as read from "../lib/reads.mjs";
import { isCarried } from "../lib/states/carrying.mjs";
import { axisName, figure } from "../lib/words.mjs";

/** @typedef {import("../lib/types").World} World @typedef {import("../lib/types").Context} Context @typedef {import("../lib/types").Known} Known */
/** @typedef {import("../lib/inspect/tensor.mjs").Layout} Layout @typedef {import("../lib/inspect/pictures.mjs").Pointing & {scales: Scales, path: string}} State */

const NAME = "inspector_values";
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
    const state = /** @type {State} */ ({ scales: new Scales(), at: null, hover: null, path: "", geometry: [] });
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
    const side = about.side(world, tap);
    const known = world.values(NAME, 0)[0];
    const ready = known?.path === tap.path && known.side === side ? known : null;
    if (state.path !== `${tap.path} ${side}`) Object.assign(state, { path: `${tap.path} ${side}`, at: null, hover: null });
    const [head, controls, rest, pictures, said, sums, bar] = /** @type {any} */ (element.firstElementChild?.children);
    sideChoice(head.lastElementChild, world, tap, side);
    layoutChoice(controls, world, context, now);
    restChoice(rest, world, context, now);
    const again = () => this.draw(element, world, context)?.();
    const shownPanels = ready ? panelCount(now, ready) : { shown: 0, all: 0 };
    const all = ready ? Array.from({ length: shownPanels.shown }, (_, i) => picture(ready, now, i)) : [];
    leadsTo(head.children[1], all.length > 0, () => matrixAsBench(all[0]));
    const stats = summary(all);
    statistics(sums, stats, now, shownPanels);
    const drawn = { world, tap, now, all, scale: scaleOf(bar, state, world, tap, stats, again) };
    listen(pictures, state, all, () => {
      text(said, asked(drawn, state));
      paint(pictures, drawn, state); // only a mark moved: the numbers beside the pictures stand
    });
    text(said, asked(drawn, state));
    set(pictures, "aria-label", described(tap, now, stats));
    return () => paint(pictures, drawn, state);
  },

  table(world) {
    const found = subject(world);
    const known = world.values(NAME, 0)[0];
    if (!found || !known) return { columns: [], rows: [] };
    const { now } = found;
    const rows = [];
    const at = (/** @type {import("../lib/inspect/tensor.mjs").Axis | null} */ axis, /** @type {number} */ i) => (now.bin > 1 ? span(now, axis, i) : i);
    for (let p = 0; p < panelCount(now, known).all; p++) {
      const m = picture(known, now, p);
      for (let r = 0; r < m.rows; r++) for (let c = 0; c < m.columns; c++) rows.push([p, at(now.rows, r), at(now.columns, c), m.at(r, c)]);
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

/** @param {any} bar @param {State} state @param {World} world @param {any} tap @param {ReturnType<typeof summary>} s @param {() => void} again */
function scaleOf(bar, state, world, tap, s, again) {
  const size = Math.max(Math.abs(s.min), Math.abs(s.max));
  const scale = state.scales.of(world, state.path, Number.isFinite(size) ? { max: tap.type === "mask" ? 1 : nice(size), diverging: s.min < 0 } : null);
  set(bar, "class", `scale${scale.diverging ? " div" : ""}`);
  text(bar.children[0], scale.diverging ? `−${figure(scale.max, 2)}` : "0");
  text(bar.children[2], `${scale.diverging ? "+" : ""}${figure(scale.max, 2)}`);
  text(bar.children[3], size > scale.max ? msg`out of range` : "");
  bar.lastElementChild.onclick = () => {
    state.scales.fit(state.path);
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

/** @param {any} tap @param {Layout} now @param {ReturnType<typeof summary>} s */
function described(tap, now, s) {
  const axes = [now.panels, now.rows, now.columns].filter((a) => a !== null).map((a) => `${axisName(a.axis)} ${a.size}`).join(" × ");
  const bad = s.nan + s.infinite ? `, ${counted(s.nan + s.infinite, "{0} not finite", "{0} not finite")}` : "";
  return s.count ? msg`${about.nameOf(tap)}, ${axes}: from ${figure(s.min)} to ${figure(s.max)}${bad}. Arrow keys walk over the cells.` : msg`${about.nameOf(tap)}: not computed at this moment`;
}
