// @ts-check
/** Every tensor of the model as a tree by its dotted path, with a search over paths, axes and types. */

import { h, list, set, text } from "../dom.mjs";
import { counted, msg } from "../language.mjs";
import { axisName, leaf } from "../words.mjs";

/** @typedef {import("../types").World} World @typedef {import("../types").Context} Context */
/** @typedef {{key: string, name: string, level: number, tap: any | null, count: number, open: boolean}} Line */

/** So many lines are put on the page at once; who looks for more searches. */
const LINES = 300;

/** What a search looks through, made once for each tap. @type {WeakMap<any, string>} */
const texts = new WeakMap();

/** @param {any} tap */
function textOf(tap) {
  let found = texts.get(tap);
  if (found === undefined) texts.set(tap, (found = `${tap.path} ${tap.type} ${tap.axes.join("")} ${tap.axes.map(axisName).join(" ")}`.toLowerCase()));
  return found;
}

/** Taps that hold every word of a query in their path, type or axes; a single letter is an axis or a tap's whole name. Pure.
 * @param {any[]} taps @param {string} query */
export function search(taps, query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return taps.filter((t) => words.every((w) => (/^[a-z]'?$/.test(w) ? t.axes.includes(w) || leaf(t.path) === w : textOf(t).includes(w))));
}

/** The lines of the tree that are in sight. A branch with one child alone stands on its child's line. Pure.
 * @param {any[]} taps in the model's order @param {Set<string>} open branches @param {boolean} all every branch is open (a search)
 * @returns {Line[]} */
export function lines(taps, open, all = false) {
  /** @type {Line[]} */
  const out = [];
  walk(taps.map((tap) => ({ tap, parts: tap.path.split(".") })), "", 0);
  return out;

  /** @param {{tap: any, parts: string[]}[]} items @param {string} prefix @param {number} level */
  function walk(items, prefix, level) {
    for (const [name, inside] of groups(items, level)) {
      const deeper = inside.filter((x) => x.parts.length > level + 1);
      const key = prefix ? `${prefix}.${name}` : name;
      for (const { tap } of inside.filter((x) => x.parts.length === level + 1)) out.push({ key: tap.path, name, level, tap, count: 0, open: false });
      if (!deeper.length) continue;
      const isOpen = all || open.has(key);
      out.push({ key: `${key}.`, name, level, tap: null, count: deeper.length, open: isOpen });
      if (isOpen) walk(deeper, key, level + 1);
    }
  }
}

/** @param {{tap: any, parts: string[]}[]} items @param {number} level */
function groups(items, level) {
  /** @type {Map<string, {tap: any, parts: string[]}[]>} */
  const found = new Map();
  for (const item of items) {
    const name = item.parts[level];
    const group = found.get(name);
    if (group) group.push(item);
    else found.set(name, [item]);
  }
  return found;
}

/** The branches that lead to a path. @param {string} path */
export const waysTo = (path) => path.split(".").slice(0, -1).map((_, i, all) => all.slice(0, i + 1).join("."));

/** @type {WeakMap<HTMLElement, {open: Set<string>, query: string, at: string, world: World | null, shown: string, model: string}>} */
const states = new WeakMap();

/** The panel, closed. @param {Context} context */
export function tree(context) {
  const panel = h("div", { class: "insp taps", id: "tap-tree", hidden: true },
    h("input", { type: "search", class: "search", placeholder: msg`Search: cross weights, t', mask …`, "aria-label": msg`Search tensors by path, axes or type` }),
    h("p", { class: "note", "aria-live": "polite" }),
    h("ul", { class: "tap-list", role: "tree", "aria-label": msg`Tensors`, "data-arrows": true }));
  const state = { open: new Set(["decoder", "encoder"]), query: "", at: "", world: /** @type {World | null} */ (null), shown: "", model: "" };
  states.set(panel, state);
  const [input, , ul] = panel.children;
  const again = () => state.world && fill(panel, state.world, context);
  input.oninput = () => {
    state.query = input.value;
    again();
  };
  input.onkeydown = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Enter") {
      const [first] = search(state.world?.schema?.taps ?? [], state.query);
      if (first && state.query) context.look({ path: first.path, side: "value", layout: {} });
    } else if (event.key === "ArrowDown") {
      event.preventDefault();
      ul.querySelector("[tabindex='0']")?.focus();
    } else if (event.key === "Escape" && state.query) {
      event.stopPropagation();
      input.value = state.query = "";
      again();
    }
  };
  ul.onclick = (/** @type {MouseEvent} */ event) => act(/** @type {any} */ (event.target).closest("li"), state, context, again);
  ul.onkeydown = (/** @type {KeyboardEvent} */ event) => keys(event, ul, state, context, again);
  return panel;
}

/** @param {any} li @param {any} state @param {Context} context @param {() => void} again */
function act(li, state, context, again) {
  if (!li) return;
  const { key } = li.dataset;
  state.at = key;
  if (!key.endsWith(".")) return context.look({ path: key, side: "value", layout: {} });
  const branch = key.slice(0, -1);
  if (!state.open.delete(branch)) state.open.add(branch);
  again();
}

/** Arrows walk the lines, left and right close and open, Enter chooses. @param {KeyboardEvent} event @param {any} ul @param {any} state @param {Context} context @param {() => void} again */
function keys(event, ul, state, context, again) {
  const all = [...ul.children];
  const li = /** @type {any} */ (event.target).closest("li");
  const i = all.indexOf(li);
  const go = (/** @type {number} */ to) => all[Math.max(0, Math.min(all.length - 1, to))]?.focus();
  const open = li?.getAttribute("aria-expanded");
  const level = Number(li?.getAttribute("aria-level"));
  /** @type {Record<string, () => any>} */
  const does = {
    ArrowDown: () => go(i + 1), ArrowUp: () => go(i - 1), Home: () => go(0), End: () => go(all.length - 1),
    ArrowRight: () => (open === "false" ? act(li, state, context, again) : go(i + 1)),
    ArrowLeft: () => (open === "true" ? act(li, state, context, again) : go(all.slice(0, i).findLastIndex((one) => Number(one.getAttribute("aria-level")) < level))),
    Enter: () => act(li, state, context, again), " ": () => act(li, state, context, again),
  };
  if (!does[event.key]) return;
  event.preventDefault();
  event.stopPropagation();
  does[event.key]();
}

/** @param {any} panel @param {World} world @param {Context} context @param {boolean} [opened] it was opened just now */
export function drawTree(panel, world, context, opened = false) {
  const state = states.get(panel);
  if (!state || panel.hidden) return;
  const model = world.opened?.scenario?.architecture;
  if (state.model !== model) panel.firstElementChild.value = state.query = ""; // what was searched for was another model's
  state.model = model;
  state.world = world;
  if (opened && world.look.path) for (const way of waysTo(world.look.path)) state.open.add(way);
  const shown = `${world.look.path} ${state.query} ${[...state.open].join()}`;
  if (opened || shown !== state.shown || panel.taps !== world.schema?.taps) fill(panel, world, context);
  state.shown = shown;
  panel.taps = world.schema?.taps;
  if (!opened) return;
  panel.firstElementChild.focus({ preventScroll: true });
  panel.querySelector("[aria-selected='true']")?.scrollIntoView({ block: "nearest" });
}

/** @param {any} panel @param {World} world @param {Context} context */
function fill(panel, world, context) {
  const state = /** @type {NonNullable<ReturnType<typeof states.get>>} */ (states.get(panel));
  const taps = world.schema?.taps ?? [];
  const found = search(taps, state.query);
  const all = lines(found, state.open, !!state.query);
  const shown = all.slice(0, LINES);
  const [, note, ul] = panel.children;
  const cut = all.length > LINES ? msg`; the first ${LINES} lines, search for the others` : "";
  text(note, (state.query ? msg`${found.length} of ${taps.length}` : counted(taps.length, "{0} tensor: activations, states, parameters", "{0} tensors: activations, states, parameters")) + cut);
  const at = shown.some((l) => l.key === state.at) ? state.at : (shown.find((l) => l.key === world.look.path) ?? shown[0])?.key;
  list(ul, shown, (l) => l.key, () => h("li", { role: "treeitem" }, h("i", { "aria-hidden": "true" }), h("span", { class: "mono" }), h("span", { class: "dim mono" })), (li, l) => line(li, l, world.look.path, l.key === at));
  if (document.activeElement?.parentElement === ul) state.at = /** @type {any} */ (document.activeElement).dataset.key;
}

/** @param {any} li @param {Line} l @param {string | null} path @param {boolean} at */
function line(li, l, path, at) {
  const [mark, name, more] = li.children;
  set(li, "aria-level", String(l.level + 1));
  set(li, "aria-expanded", l.tap ? null : String(l.open));
  set(li, "aria-selected", l.tap ? String(l.tap.path === path) : null);
  set(li, "tabindex", at ? "0" : "-1");
  set(li, "title", l.tap ? `${l.tap.path}: ${l.tap.type}` : null);
  const indent = `${l.level * 12}px`;
  if (li.style.paddingInlineStart !== indent) li.style.paddingInlineStart = indent;
  set(mark, "class", l.tap ? `ty ${l.tap.type}` : "fold");
  text(name, l.name);
  const layer = /^layer(\d+)$/.exec(l.name); // a path counts from 0, people from 1
  text(more, l.tap ? l.tap.axes.join(" ") : layer ? `L${Number(layer[1]) + 1} · ${l.count}` : String(l.count));
}
