// @ts-check
/** Keys that work anywhere on the page, except where a person types. */

import { h } from "../dom.mjs";
import { msg } from "../language.mjs";
import { keys } from "./text.mjs";

/** @typedef {import("../run/actions.mjs").Actions} Actions */

/** @param {Actions} actions @param {() => void} help @param {() => any} architectures @returns {Record<string, () => any>} */
const table = (actions, help, architectures) => {
  const { run } = actions;
  const look = () => actions.world.look;
  return {
    ".": () => actions.step(), ArrowRight: () => actions.step(),
    ",": () => actions.back(), ArrowLeft: () => actions.back(),
    " ": () => actions.play(),
    1: () => actions.granularity("step"), 2: () => actions.granularity("stage"), 3: () => actions.granularity("op"),
    t: () => actions.phase("train"), p: () => actions.phase("prefill"), d: () => actions.phase("decode"),
    b: () => stopAt(actions),
    m: () => (actions.world.held ? run.answerFirst("mask") : run.look({ editing: !look().editing })),
    l: () => run.look({ scale: look().scale === "log" ? "linear" : "log" }),
    "[": () => actions.turn("layer", -1), "]": () => actions.turn("layer", 1),
    "{": () => actions.turn("head", -1), "}": () => actions.turn("head", 1),
    a: () => architectures(),
    Escape: () => run.look({ lock: null, path: null }),
    "?": help,
  };
};

/** @param {Actions} actions @param {() => void} help @param {() => any} architectures */
export function listenToKeys(actions, help, architectures) {
  const does = table(actions, help, architectures);
  letGo();
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || event.altKey || typing(event.target)) return;
    if (event.ctrlKey || event.metaKey) {
      const again = { z: event.shiftKey, y: true }[event.key.toLowerCase()];
      if (again === undefined) return;
      event.preventDefault();
      return again ? actions.redo() : actions.undo();
    }
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (!does[key] || ownKey(event.target, key)) return;
    event.preventDefault();
    does[key]();
  });
}

/** A stop at the block or operation that is focused or under the pointer, else where the run stands.
 * @param {Actions} actions */
function stopAt(actions) {
  const place = document.activeElement?.closest("[data-stop]") ?? document.querySelector("[data-stop]:hover");
  const said = place?.getAttribute("data-stop");
  if (said) actions.toggleStop(JSON.parse(said));
  else actions.stopHere();
}

/** A choice made with the pointer does not keep the arrow keys: they step. (Who chose with the keys stays in the group.) */
function letGo() {
  addEventListener("pointerup", (event) => {
    if (/** @type {any} */ (event.target).closest?.(".mantine-SegmentedControl-root"))
      setTimeout(() => /** @type {any} */ (document.activeElement)?.type === "radio" && /** @type {any} */ (document.activeElement).blur());
  });
}

/** @param {any} target */
const typing = (target) => !!target?.closest?.("input:not([type=radio]):not([type=checkbox]), textarea, select, [contenteditable], dialog, [role=listbox]");

/** A focused control keeps the keys that it uses itself.
 * @param {any} target @param {string} key */
function ownKey(target, key) {
  if (key === " ") return !!target?.closest?.("button, summary, a, label, [role=radio], input");
  return key.startsWith("Arrow") && !!target?.closest?.("[role=radiogroup], [role=slider], input, [data-arrows]");
}

/** The sheet of all keys, and the way back to the first hints. @param {() => void} hints @returns {() => void} opens it */
export function helpSheet(hints) {
  const again = () => {
    dialog.close();
    hints();
  };
  const dialog = h("dialog", { class: "keys", "aria-labelledby": "keys-title" },
    h("div", { class: "ph" }, h("h2", { class: "h", id: "keys-title" }, msg`Keys`), h("span", { class: "sp" }),
      h("button", { class: "btn sm", type: "button", onclick: () => dialog.close() }, msg`Close`)),
    h("dl", { class: "keylist" }, keys().map(([key, what]) => [h("dt", null, h("kbd", null, key)), h("dd", null, what)])),
    h("button", { class: "link hints-again", type: "button", onclick: again }, msg`Show the first hints again`));
  dialog.addEventListener("click", (/** @type {MouseEvent} */ e) => e.target === dialog && dialog.close());
  document.body.append(dialog);
  return () => (dialog.open ? dialog.close() : dialog.showModal());
}
