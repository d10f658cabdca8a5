// @ts-check
/** All architectures on one sheet: by family and year, with their papers and what they were trained on; typing finds, arrows go about. */

import { h, set, text } from "../dom.mjs";
import { counted, msg } from "../language.mjs";

const MOVES = new Set(["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"]);

export class Architectures {
  /** @param {HTMLDetailsElement[]} families of the set-up, whose cards say what there is @param {(id: string) => any} choose */
  constructor(families, choose) {
    this.families = families;
    this.choose = choose;
    this.chosen = "";
    /** @type {any} */
    this.sheet = null;
    this.box = /** @type {HTMLInputElement} */ (h("input", { type: "search", class: "number", placeholder: msg`A name, a year, an author, what it reads`, "aria-label": msg`Find an architecture`, oninput: () => this.find(this.box.value) }));
    this.count = h("span", { class: "note", role: "status" });
    /** @type {HTMLElement[]} */
    this.groups = [];
  }

  open() {
    this.sheet ??= this.build();
    for (const button of this.buttons()) set(button, "aria-pressed", String(button.dataset.id === this.chosen));
    this.box.value = "";
    this.find("");
    if (this.sheet.open) return;
    this.sheet.showModal();
    this.sheet.querySelector('[aria-pressed="true"]')?.scrollIntoView({ block: "nearest" });
    this.box.focus();
  }

  build() {
    this.groups = this.families.map(group);
    const sheet = h("dialog", { class: "architectures", "aria-labelledby": "architectures-title" },
      h("div", { class: "ph" }, h("h2", { class: "h", id: "architectures-title" }, msg`Architectures`), this.box, this.count, h("span", { class: "sp" }),
        h("span", { class: "note" }, msg`icon = who sees whom`), h("button", { class: "btn sm", type: "button", onclick: () => sheet.close() }, msg`Close`)),
      h("div", { class: "groups" }, this.groups));
    sheet.addEventListener("click", (/** @type {any} */ event) => this.clicked(event, sheet));
    sheet.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => this.key(event));
    document.body.append(sheet);
    return sheet;
  }

  /** @returns {HTMLButtonElement[]} */
  buttons() {
    return [...this.sheet.querySelectorAll("[data-id]")];
  }

  /** @param {any} event @param {any} sheet */
  clicked(event, sheet) {
    const id = event.target.closest("[data-id]")?.dataset.id;
    if (id) this.choose(id);
    if (id || event.target === sheet) sheet.close();
  }

  /** @param {string} typed */
  find(typed) {
    const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
    for (const button of this.buttons()) set(button, "hidden", !words.every((w) => button.dataset.words?.includes(w)));
    for (const one of this.groups) set(one, "hidden", !one.querySelector("[data-id]:not([hidden])"));
    const found = this.buttons().filter((b) => !b.hidden).length;
    text(this.count, counted(found, "{0} architecture", "{0} architectures"));
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const shown = this.buttons().filter((b) => !b.hidden);
    const at = shown.indexOf(/** @type {any} */ (document.activeElement));
    const inBox = document.activeElement === this.box;
    if (event.key === "Enter" && inBox) shown[0]?.click();
    else if (event.key === "Escape" && this.box.value) {
      this.box.value = "";
      this.find("");
      this.box.focus();
    } else if (MOVES.has(event.key) && (at >= 0 || (inBox && event.key === "ArrowDown"))) this.move(event.key, shown, at);
    else {
      if (at >= 0 && event.key.length === 1 && event.key !== " " && !event.ctrlKey && !event.metaKey) this.box.focus(); // what is typed goes there
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {string} key @param {HTMLButtonElement[]} shown @param {number} at */
  move(key, shown, at) {
    const last = shown.length - 1;
    if (at < 0 || key === "Home") return shown[0]?.focus();
    if (key === "End") return shown[last].focus();
    if (key === "ArrowLeft" || key === "ArrowRight") return shown[Math.max(0, Math.min(last, at + (key === "ArrowLeft" ? -1 : 1)))].focus();
    const to = nearest(shown.map((b) => b.getBoundingClientRect()), at, key === "ArrowDown" ? 1 : -1);
    (to < 0 && key === "ArrowUp" ? this.box : shown[to])?.focus();
  }
}

/** Of boxes, the nearest one above (-1) or below (1) that of `at`; -1 where there is none. Pure.
 * @param {{left: number, top: number, bottom: number}[]} boxes @param {number} at @param {1 | -1} way */
export function nearest(boxes, at, way) {
  const from = boxes[at];
  const far = (/** @type {typeof from} */ b) => Math.abs(b.top - from.top) + 3 * Math.abs(b.left - from.left);
  let best = -1;
  boxes.forEach((b, i) => {
    const beyond = way > 0 ? b.top >= from.bottom - 1 : b.bottom <= from.top + 1;
    if (beyond && (best < 0 || far(b) < far(boxes[best]))) best = i;
  });
  return best;
}

/** A family with its architectures, made from its cards in the set-up. @param {HTMLDetailsElement} family */
function group(family) {
  const cards = /** @type {HTMLElement[]} */ ([...family.querySelectorAll(".card")]);
  const name = family.querySelector("summary")?.firstChild?.textContent ?? "";
  return h("section", null, h("h3", null, name, h("span", { class: "dim" }, ` ${cards.length}`)), cards.map(entry));
}

/** @param {HTMLElement} card */
function entry(card) {
  const { architecture, words = "", year = "", paper = "", trained = "" } = card.dataset;
  const said = (/** @type {string} */ what) => card.querySelector(what)?.firstChild?.textContent ?? "";
  const learned = trained ? msg`trained: ${trained}` : msg`untrained`;
  return h("button", { type: "button", class: "entry", "data-id": architecture, "data-words": `${words} ${learned}`.toLowerCase() },
    card.querySelector(".glyph")?.cloneNode(),
    h("span", null, h("b", null, said("b")), h("span", { class: "year mono" }, year), h("i", null, said("i")), h("span", { class: "about" }, card.title), h("span", { class: "paper" }, paper), h("span", { class: "paper" }, learned)));
}
