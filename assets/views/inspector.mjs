// @ts-check
/** What one tensor is: its contract and its formula, and the way to any other tensor of the model. */

import { math } from "../lib/page/math.mjs";
import { h, hide, list, set, text } from "../lib/dom.mjs";
import { askToEdit } from "../lib/inspect/editing.mjs";
import * as about from "../lib/inspect/inspected.mjs";
import { counted, msg } from "../lib/language.mjs";
import * as read from "../lib/reads.mjs";
import { drawTree, tree } from "../lib/inspect/taptree.mjs";
import { alone } from "../lib/states/tapes.mjs";
import { layout, picture } from "../lib/inspect/tensor.mjs";
import { number } from "../lib/words.mjs";

/** @typedef {import("../lib/types").World} World @typedef {import("../lib/types").Context} Context */

const LOCK = "M5.2 7V5a2.8 2.8 0 0 1 5.6 0v2M3 7h10v7H3z";

/** The contract as pairs of words, the axes apart. Pure.
 * @param {World} world @param {any} tap @returns {{axes: {role: string, said: string}[], rows: [string, string][]}} */
export function contract(world, tap) {
  if (!tap) return { axes: [], rows: [] };
  const sizes = tap.axes.map((/** @type {string} */ _, /** @type {number} */ i) => about.axisSize(world, tap, i));
  const axes = tap.axes.map((/** @type {string} */ a, /** @type {number} */ i) => ({ role: about.roleOf(a, tap.axes), said: about.axisSaid(a, tap.axes, sizes[i]) }));
  const train = world.moved?.train;
  const norms = tap.type === "parameter" ? train?.parameter_norms : train?.activation_norms;
  const norm = norms?.find((/** @type {any} */ [path]) => path === tap.path.replace(/^parameter\./, ""))?.[1];
  /** @type {[string, string][]} */
  const rows = [
    [msg`Shape`, `[${sizes.map((/** @type {number} */ n) => n || "?").join(", ")}] ${tap.dtype.replace("float", "fp")}`],
    [msg`Row owner`, about.ownerOf(world, tap)],
    [msg`Meaning`, about.meaningOf(world, tap)],
    [msg`Lifetime`, about.lifetimeOf(world, tap)],
  ];
  if (read.phase(world) === "train" && tap.gradient) rows.push([msg`‖gradient‖`, norm === undefined ? msg`after backward` : about.norm(number(norm))]);
  return { axes, rows };
}

/** What the bar over the inspector says. Pure. @param {World} world @param {any} tap @returns {string[]} words, what they are about, where that is */
export function locked(world, tap) {
  const { lock, path } = world.look;
  if (path) return tap ? [msg`Locked on`, about.nameOf(tap), about.whereOf(world, tap).split(",")[0]] : [msg`Locked on`, path, ""];
  return lock ? [msg`Locked on`, Math.max(lock.row, lock.key) > 99 ? `${lock.row} × ${lock.key}` : msg`row ${lock.row} × row ${lock.key}`, ""] : [!alone(world) ? msg`Following the newest read` : tap?.type === "hidden" ? msg`Following the newest row` : msg`Following the newest state`, "", ""];
}

/** @type {import("../lib/types").View} */
export default {
  id: "inspector",
  title: "Inspector",
  slot: "inspector",
  phases: ["train", "prefill", "decode"],
  wants: () => [],

  mount(element, context) {
    const icon = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    icon.setAttribute("viewBox", "0 0 16 16");
    icon.setAttribute("aria-hidden", "true");
    icon.append(document.createElementNS("http://www.w3.org/2000/svg", "path"));
    icon.firstElementChild?.setAttribute("d", LOCK);
    const panel = tree(context);
    element.append(
      h("div", { class: "lock" }, icon, h("span", null, h("span"), " ", h("b", { class: "mono" }), " ", h("span")),
        h("button", { type: "button", onclick: () => context.look({ lock: null, path: null, side: "value", layout: {} }) }, msg`Unlock`, " ", h("kbd", null, "Esc"))),
      h("div", { class: "insp contract-part" },
        h("div", { class: "name-line" }, h("h2", { class: "tname" }), h("span", { class: "note" }), h("span", { class: "sp" }), h("button", { type: "button", class: "link may", onclick: askToEdit })),
        h("div", { class: "name-line" }, h("p", { class: "note mono path" }), h("span", { class: "sp" }),
          h("button", { type: "button", class: "btn xs all-taps", "aria-expanded": "false", "aria-controls": "tap-tree" }, h("span"), h("i", { "aria-hidden": "true" }))),
        h("dl", { class: "contract" })),
      panel,
      h("div", { class: "insp formula-part" }, h("div", { class: "formula" })),
    );
  },

  draw(element, world, context) {
    const [lock, part, panel, formula] = /** @type {any} */ (element.children);
    const tap = about.chosen(world);
    const said = locked(world, tap);
    set(lock, "data-locked", String(!!said[1]));
    said.forEach((words, i) => text(lock.children[1].children[i], words));
    head(part, world, tap);
    terms(part.lastElementChild, contract(world, tap));
    formulaOf(formula.firstElementChild, world, tap);
    const button = part.children[1].lastElementChild;
    text(button.firstElementChild, counted(world.schema?.taps.length ?? 0, "All {0} tensor", "All {0} tensors"));
    set(button, "aria-expanded", String(!panel.hidden));
    button.onclick = () => {
      hide(panel, !panel.hidden);
      set(button, "aria-expanded", String(!panel.hidden));
      drawTree(panel, world, context, true);
    };
    drawTree(panel, world, context);
  },

  /** The numbers of the tensor that is shown, one a row, with their places. */
  table(world) {
    const tap = about.chosen(world);
    const known = world.values("inspector_values", 0)[0] ?? world.values("inspector_read", 0)[0];
    if (!tap || !known) return { columns: [], rows: [] };
    const whole = layout(known.axes.map((axis, i) => ({ axis, size: known.shape[i] })), { panels: "" });
    const m = picture(known, whole, 0);
    const lead = known.axes.filter((a) => a !== whole.rows?.axis && a !== whole.columns?.axis).map((a) => [a, whole.rest.find((r) => r.axis === a)?.at ?? 0]);
    const rows = [];
    for (let r = 0; r < m.rows; r++) for (let c = 0; c < m.columns; c++) rows.push([...lead.map(([, at]) => at), r, c, m.at(r, c)]);
    return { columns: [...lead.map(([a]) => String(a)), whole.rows?.axis ?? msg`row`, whole.columns?.axis ?? msg`column`, `${known.side} ${tap.path}`], rows };
  },
};

/** @param {any} part @param {World} world @param {any} tap */
function head(part, world, tap) {
  const [name, where, , edit] = part.firstElementChild.children;
  const gradient = tap && about.side(world, tap) === "gradient";
  list(name, tap ? [...(gradient ? [{ said: "∂L/∂", role: "c-g" }] : []), { said: about.nameOf(tap), role: "" }] : [{ said: "–", role: "" }], (p) => p.role || "name", (p) => h("span", { class: p.role || null }), (span, p) => text(span, p.said));
  text(where, tap ? about.whereOf(world, tap) : "");
  const [short, long] = tap ? about.editOf(tap) : ["", ""];
  text(edit, short);
  set(edit, "title", long);
  set(edit, "disabled", !tap?.editable || world.role !== "writer");
  text(part.children[1].firstElementChild, tap?.path ?? msg`no tensor is known yet`);
  set(part.children[1].firstElementChild, "title", tap && (/\blayer\d/.test(tap.path) ? msg`${tap.path}: a path counts layers from 0, the page says L1 for layer0` : tap.path));
}

/** @param {HTMLElement} element @param {ReturnType<typeof contract>} found */
function terms(element, { axes, rows }) {
  const all = [...(axes.length ? [{ name: msg`Axes`, tag: "dt", said: msg`Axes` }, { name: msg`Axes`, tag: "dd", said: "" }] : []),
    ...rows.flatMap(([name, said]) => [{ name, tag: "dt", said: name }, { name, tag: "dd", said }])];
  const short = new Set([msg`Meaning`, msg`Lifetime`]);
  list(element, all, (p) => `${p.tag} ${p.name}`, (p) => h(p.tag, { class: short.has(p.name) ? "hide-short" : null }), (node, p) => {
    if (p.tag === "dd" && p.name === msg`Axes`) parts(node, axes);
    else text(node, p.said);
  });
}

/** @param {HTMLElement} node @param {{role: string, said: string}[]} axes */
function parts(node, axes) {
  list(node, axes, (_, i) => i, () => h("span", null, h("span"), h("span", { class: "dim" })), (span, a, i) => {
    set(span.firstElementChild, "class", a.role ? `c-${a.role}` : null);
    text(span.firstElementChild, a.said);
    text(span.lastElementChild, i < axes.length - 1 ? " × " : "");
  });
}

/** @param {HTMLElement} box @param {World} world @param {any} tap */
function formulaOf(box, world, tap) {
  const info = world.schema?.formulas?.[tap?.formula ?? -1];
  const backward = tap && (about.side(world, tap) === "gradient" || (tap.type === "parameter" && read.phase(world) === "train")); // there its gradient is what matters
  const wanted = (backward && info?.gradient) || info?.mathml || "";
  if (box.dataset.formula === wanted) return;
  box.dataset.formula = wanted;
  box.replaceChildren(wanted ? math(wanted) : h("span", { class: "note" }, tap ? msg`The model declares no formula for it.` : ""));
}
