// @ts-check
/** The page's controls that hold a value. The browser's own are there from the first moment; Dash's (of Mantine) take their places
 * when its scripts have come, which wait until the page is alive. Without them (a replay, or scripts that fail) the first ones stay.
 *
 * React draws each of Dash's controls into its place through a portal, beside the one that is there (`.still`) and unseen; that one
 * goes when the other shows the same, and not while a person is in it. */

import { h, list, text } from "../dom.mjs";
import { msg } from "../language.mjs";
import { remembered, scheme } from "./theme.mjs";

/** @typedef {Record<string, any>} Props */

const page = /** @type {any} */ (window);
/** @param {string} id @returns {any} */
const placeOf = (id) => document.querySelector(`[data-place="${id}"]`);
const frame = () => new Promise(requestAnimationFrame);

export class Controls {
  /** @param {(id: string, value: any, told: string | undefined) => void} chosen a person made a control say this value
   * @param {(example: string) => string} opens the architecture that an example changes to, "" for none */
  constructor(chosen, opens) {
    this.chosen = chosen;
    this.opens = opens;
    /** What each control shows. @type {Map<string, Props>} */
    this.shown = new Map();
    /** Those that Dash has made. @type {Set<string>} */
    this.made = new Set();
    this.bringing = false;
    addEventListener("change", (event) => this.changed(event.target));
    addEventListener("click", (event) => this.clicked(event.target));
  }

  /** @param {string} id @param {Props} props */
  set(id, props) {
    const all = { ...this.shown.get(id), ...props };
    this.shown.set(id, all);
    if (this.made.has(id)) page.dash_clientside.set_props(id, props);
    const still = placeOf(id)?.querySelector(".still > :last-child");
    if (still) draw(still, all);
  }

  /** @param {any} select */
  changed(select) {
    if (select.matches?.(".still > select")) this.choose(select.id, select.value || null);
  }

  /** @param {any} target */
  clicked(target) {
    const button = target.closest?.(".still > .seg > button");
    if (button) this.choose(button.parentElement.id, button.dataset.key);
  }

  /** @param {string} id @param {any} value */
  choose(id, value) {
    this.chosen(id, value, this.shown.get(id)?.["data-told"]);
    this.set(id, { value });
  }

  /** Start Dash's scripts, one after the other. They lie in the page where they do nothing yet (app/ui/index.py). */
  async bring() {
    const parts = /** @type {HTMLTemplateElement | null} */ (document.getElementById("lookback-dash"));
    if (this.bringing || !parts) return;
    this.bringing = true;
    page.lookback_components = { Place: (/** @type {any} */ props) => this.place(props) };
    page.dashMantineFunctions = { example: (/** @type {any} */ { option }) => example(option, this.opens(option.value)) };
    for (const { src, text: content } of parts.content.querySelectorAll("script")) if (!(await run(src, content))) return;
  }

  /** Dash's component of this name (app/ui/parts.py). @param {{to: string, children: any}} props */
  place({ to, children }) {
    page.React.useLayoutEffect(() => void this.arrived(to), []);
    return page.ReactDOM.createPortal(children, placeOf(to));
  }

  /** @param {string} id of a control that Dash has made */
  async arrived(id) {
    const still = placeOf(id).querySelector(".still");
    this.made.add(id);
    await null; // Mantine's first drawing is over
    document.documentElement.setAttribute("data-mantine-color-scheme", scheme(remembered())); // it set its own
    await frame();
    page.dash_clientside.set_props(id, this.shown.get(id) ?? {});
    await frame();
    await frame();
    while (still.contains(document.activeElement)) await new Promise((left) => still.addEventListener("focusout", () => setTimeout(left), { once: true }));
    still.remove();
  }
}

/** @param {string} src of a script @param {string} content of one without @returns {Promise<boolean>} whether it ran */
function run(src, content) {
  return new Promise((done) => {
    const script = /** @type {HTMLScriptElement} */ (h("script", src ? { src } : null, content));
    script.onload = () => done(true);
    script.onerror = () => done(false);
    document.body.append(script);
    if (!src) done(true);
  });
}

/** @param {any} element one of app/ui/still.py @param {Props} props */
function draw(element, { data, value, disabled }) {
  if (element.matches("select")) element.value = value ?? "";
  else {
    const button = (/** @type {any} */ o) => h("button", { type: "button", "aria-pressed": "false" }, o.label);
    if (data) list(element, data, (o) => o.value, button, (b, o) => text(b, o.label));
    for (const b of element.children) {
      b.setAttribute("aria-pressed", String(b.dataset.key === value));
      b.disabled = !!disabled;
    }
  }
}

/** How Mantine draws an example in the scenario picker (app/ui/controls.py): its name, and what to look at.
 * @param {any} option @param {string} opens the architecture that comes with it, where it is another */
function example(option, opens) {
  const { createElement } = page.React;
  const name = createElement("b", null, option.name, opens && createElement("small", null, msg`opens ${opens}`));
  return createElement("span", { className: "example" }, name, createElement("span", { className: "note" }, option.note));
}
