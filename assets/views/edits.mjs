// @ts-check
/** What was changed inside the model: every edit in words, each with a switch; what it did to the prediction or to the loss. */

import { h, hide, list, set, text } from "../lib/dom.mjs";
import { editor, whenAsked } from "../lib/inspect/editing.mjs";
import * as lib from "../lib/inspect/edits.mjs";
import { unedited } from "../lib/next/candidates.mjs";
import { msg } from "../lib/language.mjs";
import * as read from "../lib/reads.mjs";
import { figure, number, requestName } from "../lib/words.mjs";

/** @typedef {import("../lib/types").World} World @typedef {import("../lib/types").Context} Context */

/** @type {WeakMap<HTMLElement, import("../lib/inspect/editing.mjs").Editor>} */
const forms = new WeakMap();

/** What the edits, and a person's masks, change at this moment: in words, or "" where nothing is changed or known. Pure.
 * @param {World} world */
export function effect(world) {
  if (read.phase(world) === "train") {
    const train = world.moved?.train;
    if (!train || train.unedited_loss === null || train.unedited_loss === undefined || train.loss === null) return "";
    const [loss, plain] = [number(train.loss), number(train.unedited_loss)];
    return msg`Loss ${figure(loss)} ◉, unedited ${figure(plain)} ◉: difference ${figure(loss - plain)} nats a row.`;
  }
  const several = read.requestCount(world) > 1;
  const all = read.requests(world).flatMap((/** @type {any} */ view, /** @type {number} */ i) => (view.unedited?.kl === null || view.unedited?.kl === undefined ? [] : [{ ...view.unedited, i, changed: view.choice !== view.unedited.choice }]));
  if (!all.length) return "";
  const said = all.map((u) => `${several ? msg`${requestName(u.i)}: ` : ""}KL ${figure(number(u.kl))} nats ƒ, ${u.changed ? msg`the choice changed` : msg`the same choice`}`).join("; ");
  return msg`Against the unedited run (${unedited(all[0].without)}): ${said}.`;
}

/** @type {import("../lib/types").View} */
export default {
  id: "edits",
  title: "Edits",
  slot: "checks",
  phases: ["train", "prefill", "decode"],
  wants: (world) => read.readSelectors(world).slice(0, 1),
  table: lib.asTable,

  mount(element, context) {
    const form = editor(context);
    forms.set(element, form);
    whenAsked(() => /** @type {any} */ (element.querySelector(`[data-edit=${form.world?.look.lock && !form.world.look.path ? "cell" : "tensor"}]`)).click());
    element.append(
      h("div", { class: "hh" }, h("h2", { class: "h" }, msg`Edits`), h("span", { class: "note" }), h("span", { class: "sp" }),
        h("button", { class: "link small", type: "button", hidden: true }, msg`Remove all`),
        h("button", { class: "link small", type: "button", "aria-expanded": "false", "aria-controls": "edits-offered", onclick: () => unfold(element) }, msg`Change…`)),
      h("div", { class: "row todo", id: "edits-offered", hidden: true, role: "group", "aria-label": msg`Change a value inside the model` },
        h("button", { class: "btn sm", type: "button", "data-edit": "cell", title: msg`The weight of the locked cell, or of the largest read of this row` }, msg`Set weight…`),
        h("button", { class: "btn sm", type: "button", "data-edit": "head" }),
        h("button", { class: "btn sm", type: "button", "data-edit": "tensor", title: msg`Set, scale or patch any place of the tensor that the inspector shows` }, msg`Edit tensor…`)),
      form.element, h("ul", { class: "edit-list", "aria-label": msg`Edits` }), h("p", { class: "note effect" }),
    );
  },

  draw(element, world, context) {
    const [head, todo, , ul, effectLine] = /** @type {any} */ (element.children);
    const form = /** @type {import("../lib/inspect/editing.mjs").Editor} */ (forms.get(element));
    const all = lib.edits(world);
    const able = world.role === "writer" && world.connection === "open";
    const send = (/** @type {any[]} */ edits) => context.send(lib.change(edits));
    text(head.children[1], lib.heading(all, world));
    const clear = head.children[3];
    hide(clear, all.length < 2);
    set(clear, "disabled", !able);
    clear.onclick = () => send([]);
    offers(todo, world, form, able, send);
    form.draw(world);
    entries(ul, all, world, context, able, send);
    text(effectLine, all.length || read.phase(world) === "train" ? effect(world) : ""); // what masks do is said by the sentence and the candidates
  },
};

/** What can be done is shown when asked for: the checks below are near while nothing is edited. @param {HTMLElement} element */
function unfold(element) {
  const [head, todo] = /** @type {any} */ (element.children);
  hide(todo, !todo.hidden);
  set(head.lastElementChild, "aria-expanded", String(!todo.hidden));
}

/** What can be edited of what the page looks at.
 * @param {any} element @param {World} world @param {import("../lib/inspect/editing.mjs").Editor} form @param {boolean} able @param {(edits: any[]) => any} send */
function offers(element, world, form, able, send) {
  const [cell, head, tensor] = element.children;
  const all = lib.edits(world);
  const places = { cell: lib.cellTarget(world, read.readCells(world, "edits")), head: lib.headTarget(world), tensor: lib.tensorTarget(world) };
  set(cell, "disabled", !able || !places.cell);
  cell.onclick = () => places.cell && form.open(world, places.cell);
  const at = read.relation(world);
  hide(head, !at); // nothing is read by heads
  text(head, at ? msg`Zero L${at.layer + 1} H${at.head + 1}` : "");
  set(head, "title", places.head ? msg`Multiply what this head reads by 0, in every row: ${lib.place(world, places.head)}` : msg`What this head gives is not recorded on its own, so that it cannot be set to 0 alone.`);
  set(head, "disabled", !able || !places.head);
  head.onclick = () => places.head && send(lib.withEdit(all, { path: places.head.path, index: places.head.index, action: "scale", value: 0 }));
  set(tensor, "disabled", !able || !places.tensor);
  tensor.onclick = () => places.tensor && form.open(world, places.tensor, "scale");
}

/** @param {any} ul @param {lib.TapEdit[]} all @param {World} world @param {Context} context @param {boolean} able @param {(edits: any[]) => any} send */
function entries(ul, all, world, context, able, send) {
  list(ul, all, (_, i) => i, () => h("li", { class: "edit" }, h("input", { type: "checkbox", role: "switch" }), h("button", { class: "link to", type: "button" }, h("span"), h("i", { class: "note" })), h("button", { class: "link gone", type: "button" }, "×")), (li, edit, i) => {
    const [on, to, gone] = li.children;
    const said = lib.words(world, edit);
    const off = edit.enabled === false;
    set(li, "data-off", off ? "" : null);
    set(on, "checked", !off);
    set(on, "disabled", !able);
    set(on, "aria-label", msg`In force: ${said}`);
    on.onchange = () => send(lib.switched(all, i));
    text(to.children[0], said);
    text(to.children[1], off ? "" : lib.waits(world, edit));
    set(to, "title", msg`Look at this tensor: ${edit.path}`);
    to.onclick = () => context.look(lib.lookAt(world, edit));
    set(gone, "aria-label", msg`Remove: ${said}`);
    set(gone, "disabled", !able);
    gone.onclick = () => send(lib.without(all, i));
  });
}
