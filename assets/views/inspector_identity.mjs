// @ts-check
/** The build graph's identities: which names lead to one parameter object, and what follows from it. */

import { h, list, set, text } from "../lib/dom.mjs";
import { byOwner, ones } from "../lib/inspect/identity.mjs";
import { shownPath } from "../lib/inspect/inspected.mjs";
import { counted, msg } from "../lib/language.mjs";

/** @typedef {import("../lib/types").World} World */

const LINES = 8;

/** @param {World} world */
const objects = (world) => (world.schema?.taps ?? []).filter((/** @type {any} */ t) => t.type === "parameter").map((/** @type {any} */ t) => t.path.slice("parameter.".length));

/** @param {World} world */
const found = (world) => byOwner(ones(world.schema?.same ?? [], objects(world)));

/** What the construction says of itself. @param {World} world */
function contract(world) {
  const sharing = world.opened?.scenario?.config?.sharing;
  if (sharing === "aliased") return msg`A fault: nobody declared this. One template was passed on without a copy. The sizes fit, the loss falls, and what one read learns the others must use too.`;
  if (sharing === "depth") return msg`Declared: one layer is applied again and again. Its gradient is the sum over all of its places.`;
  return msg`By identity, not by equal values: an update of one is an update of all its names, and their gradients add up.`;
}

/** @type {import("../lib/types").View} */
export default {
  id: "inspector_identity",
  title: "Which parameters are one object",
  slot: "checks",
  phases: ["train", "prefill", "decode"],
  wants: () => [],

  mount(element, context) {
    element.append(h("div", { class: "insp identity" },
      h("div", { class: "hh" }, h("h2", { class: "h" }, msg`Which parameters are one`), h("span", { class: "note" })),
      h("ul", { class: "owners" }), h("p", { class: "note" })));
    const body = /** @type {any} */ (element.querySelector("ul"));
    body.onclick = (/** @type {any} */ event) => {
      const path = event.target.closest("button")?.dataset.path;
      if (path) context.look({ path: `parameter.${path}`, lock: null, layout: {} });
    };
  },

  draw(element, world) {
    const part = /** @type {any} */ (element.firstElementChild);
    const all = found(world);
    const names = objects(world);
    const shared = world.opened?.scenario?.config?.sharing;
    const chosen = shownPath(world)?.startsWith("parameter.");
    const shows = names.length && (chosen || (shared && shared !== "independent") || all.some((o) => o.names.some((n) => !/^head(\.weight)?$/.test(n.name))));
    set(element, "data-empty", shows ? null : "true");
    if (!shows) return;
    const [head, body, note] = part.children;
    const more = (world.schema?.same ?? []).length;
    text(head.lastElementChild, msg`${names.length + more} names, ${names.length} objects`);
    list(body, all.slice(0, LINES), (o) => o.owner, () => h("li", null, h("button", { type: "button", class: "plain mono" }), h("span")), (li, o) => {
      const path = names.find((/** @type {string} */ n) => n === o.owner || n.startsWith(`${o.owner}.`)) ?? o.owner;
      text(li.children[0], o.owner);
      set(li.children[0], "data-path", path);
      text(li.children[1], o.names.map((n) => `= ${n.name}${n.count > 1 ? ` (${counted(n.count, "{0} parameter", "{0} parameters")})` : ""}`).join("  "));
      set(li, "title", `${o.owner} ${o.names.map((n) => `= ${n.name}`).join(" ")}`);
    });
    set(note, "data-tone", shared === "aliased" ? "warn" : null);
    text(note, all.length ? contract(world) : msg`Every parameter is an object of its own: each learns by itself.`);
  },

  table: (world) => ({ columns: [msg`name`, msg`is the object`], rows: [...objects(world).map((/** @type {string} */ n) => [n, n]), ...(world.schema?.same ?? [])] }),
};
