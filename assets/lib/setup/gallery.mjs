// @ts-check
/** The gallery of architectures: the family of the chosen one is open, and where there are many a search finds them. */

import { h, set } from "../dom.mjs";
import { msg } from "../language.mjs";
import { Architectures } from "./architectures.mjs";

export class Gallery {
  /** @param {HTMLElement} search the place of the search; hidden where there are few
   * @param {{architectures: any[], tasks: any[]}} catalogue @param {(id: string) => any} choose */
  constructor(search, { architectures, tasks }, choose) {
    this.section = /** @type {HTMLElement} */ (search.closest("section"));
    this.cards = [.../** @type {NodeListOf<HTMLElement>} */ (this.section.querySelectorAll(".card"))];
    this.families = [...this.section.querySelectorAll("details")];
    this.box = h("input", { type: "search", class: "number", placeholder: msg`Find an architecture`, "aria-label": msg`Find an architecture`, oninput: () => this.find(this.box.value), onkeydown: (/** @type {KeyboardEvent} */ e) => this.key(e) });
    search.prepend(this.box);
    this.paged = new Architectures(this.families, (id) => choose(id));
    const names = new Map(tasks.map((t) => [t.id, t.name]));
    for (const { id, checkpoints } of architectures) {
      if (checkpoints.length) this.card(id)?.setAttribute("data-trained", [...new Set(checkpoints.map((/** @type {any} */ c) => names.get(c.task) ?? c.task))].join(", "));
      else this.untrained(id);
    }
    this.chosen = "";
    for (const radio of this.section.querySelectorAll("input[type=radio]")) radio.addEventListener("change", () => choose(/** @type {any} */ (radio).value));
  }

  /** @param {string} id @returns {HTMLElement | null} */
  card(id) {
    return this.cards.find((c) => c.dataset.architecture === id) ?? null;
  }

  /** @param {string} id of an architecture without trained weights: that is said before it is chosen */
  untrained(id) {
    const words = this.card(id)?.querySelector("i");
    if (words) words.append(h("span", { class: "untrained" }, ` · ${msg`untrained`}`));
  }

  /** @param {string} id */
  show(id) {
    const radio = this.card(id)?.querySelector("input");
    if (radio) radio.checked = true;
    if (id === this.chosen) return;
    this.chosen = this.paged.chosen = id;
    const card = this.card(id);
    const own = card?.closest("details");
    if (own && !this.box.value) for (const family of this.families) family.open = family === own;
    this.reveal();
    const glyph = card?.querySelector(".glyph");
    const icon = document.querySelector("[data-rail=model] .icon");
    if (glyph && icon) set(/** @type {HTMLElement} */ (icon), "style", glyph.getAttribute("style"));
  }

  /** The chosen one comes in sight, when the page is laid out. */
  reveal() {
    requestAnimationFrame(() => "early" in document.documentElement.dataset ? this.reveal() : this.card(this.chosen)?.scrollIntoView({ block: "nearest" }));
  }

  /** @param {string} typed */
  find(typed) {
    const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
    for (const card of this.cards) set(card, "hidden", !words.every((w) => card.dataset.words?.includes(w)));
    for (const family of this.families) {
      const found = family.querySelector(".card:not([hidden])");
      set(family, "hidden", !found);
      family.open = words.length ? !!found : family.contains(this.card(this.chosen));
    }
    set(/** @type {HTMLElement} */ (this.section.querySelector(".none-found")), "hidden", this.cards.some((c) => !c.hidden));
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const first = this.cards.find((c) => !c.hidden)?.querySelector("input");
    if (event.key === "Escape" && this.box.value) {
      event.stopPropagation();
      this.box.value = "";
      this.find("");
    } else if (event.key === "Enter") first?.click();
    else if (event.key === "ArrowDown") first?.focus();
    else return;
    event.preventDefault();
  }
}
