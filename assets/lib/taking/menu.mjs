// @ts-check
/** Each view's small menu: a picture of it, and its values as a table to read or to take away. */

import { h, set } from "../dom.mjs";
import { msg } from "../language.mjs";
import { csv } from "./csv.mjs";
import { fileName, save } from "./files.mjs";
import { pngOf, svgOf } from "./picture.mjs";

/** @typedef {import("../types").World} World @typedef {import("../types").Table} Table @typedef {import("../page/registry.mjs").Placed} Placed */
/** @typedef {{world: () => World, say: (text: string) => void, refuse: (errors: any[]) => void, redraw: (placed: Placed) => void, architecture: () => string}} Needs */

/** Rows that the page shows of a long table; the file has all. */
const SHOWN = 500;

/** @param {Needs} needs @returns {(placed: Placed) => HTMLElement} makes the button of a view's menu */
export function viewMenus(needs) {
  const menu = h("div", { class: "take-menu", role: "menu", popover: "auto" });
  document.body.append(menu);
  listenToKeys(menu);
  return (placed) => {
    const button = h("button", { class: "take", type: "button", "aria-haspopup": "menu", "aria-expanded": "false", "aria-label": msg`Take away: ${placed.view.title}`, title: msg`Picture and table` });
    button.onclick = () => openMenu(menu, button, placed, needs);
    button.onkeydown = (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== "ArrowDown") return;
      event.preventDefault();
      event.stopPropagation();
      openMenu(menu, button, placed, needs);
    };
    return button;
  };
}

/** @param {any} menu @param {HTMLElement} button @param {Placed} placed @param {Needs} needs */
function openMenu(menu, button, placed, needs) {
  const { view } = placed;
  const about = () => ({ title: view.title, caption: captionOf(placed, needs), table: /** @type {Table} */ (view.table?.(needs.world())) });
  openItems(menu, button, {
    title: view.title,
    picture: (kind) => savePicture(placed, needs, kind),
    show: view.table && (() => showTable(about(), () => saveTable(placed, needs), button)),
    table: () => saveTable(placed, needs),
    failed: (why) => needs.refuse([{ field: "view", given: view.id, allowed: "", message: msg`“${view.title}” could not be taken away: ${why}` }]),
  });
}

/** The menu of a whole page, below its button. @param {HTMLElement} button
 * @param {{title: string, caption: () => string, copy: () => Promise<void>, picture: (kind: "png" | "svg") => Promise<void>, table: () => Table, name: () => string, failed: (why: string) => void}} page @returns {() => void} opens it */
export function pageMenu(button, page) {
  const menu = h("div", { class: "take-menu", role: "menu", popover: "auto" });
  document.body.append(menu);
  listenToKeys(menu);
  const saveIt = () => save(`${page.name()}.csv`, new Blob([csv(page.table())], { type: "text/csv;charset=utf-8" }));
  const show = () => showTable({ title: page.title, caption: page.caption(), table: page.table() }, saveIt, button);
  return () => openItems(menu, button, { title: page.title, copy: page.copy, picture: page.picture, show, table: saveIt, failed: page.failed });
}

/** @param {any} menu @param {HTMLElement} button
 * @param {{title: string, copy?: () => Promise<void>, picture: (kind: "png" | "svg") => Promise<void>, show?: () => void, table: () => void, failed: (why: string) => void}} way */
function openItems(menu, button, { title, copy, picture, show, table, failed }) {
  const does = (/** @type {() => any} */ act) => async () => {
    menu.hidePopover();
    button.focus();
    try {
      await act();
    } catch (error) {
      failed(String(/** @type {Error} */ (error).message));
    }
  };
  const item = (/** @type {string} */ words, /** @type {string} */ note, /** @type {() => any} */ act) => h("button", { type: "button", role: "menuitem", tabindex: -1, onclick: does(act) }, words, h("small", null, note));
  menu.replaceChildren(
    ...(copy ? [item(msg`Copy link`, "", copy)] : []),
    item(msg`Picture`, "PNG", () => picture("png")),
    item(msg`Picture`, "SVG", () => picture("svg")),
    ...(show ? [item(msg`Show the table`, "", show), item(msg`Table`, "CSV", table)] : []),
  );
  set(menu, "aria-label", title);
  set(button, "aria-expanded", "true");
  menu.ontoggle = (/** @type {any} */ event) => event.newState === "closed" && set(button, "aria-expanded", "false");
  menu.showPopover();
  const box = button.getBoundingClientRect();
  menu.style.top = `${Math.max(4, Math.min(box.bottom + 4, innerHeight - menu.offsetHeight - 4))}px`;
  menu.style.left = `${Math.max(4, Math.min(box.right - menu.offsetWidth, innerWidth - menu.offsetWidth - 4))}px`;
  menu.firstElementChild.focus();
}

/** Arrows go round; the page's own keys wait. @param {HTMLElement} menu */
function listenToKeys(menu) {
  menu.addEventListener("keydown", (event) => {
    const items = [.../** @type {any} */ (menu.children)];
    const at = items.indexOf(document.activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key];
    event.stopPropagation();
    if (event.key === "Tab") /** @type {any} */ (menu).hidePopover();
    if (to === undefined) return;
    event.preventDefault();
    items[(to + items.length) % items.length].focus();
  });
}

/** What a picture or a table is of. @param {Placed} placed @param {Needs} needs */
function captionOf({ view }, { world, architecture }) {
  const { moved, look } = world();
  const step = !moved ? "" : moved.phase === "train" ? msg`update ${moved.train?.update ?? moved.step}` : msg`${moved.phase} step ${moved.step}`;
  const scale = view.slot === "map" ? `${look.show}, ${look.scale}` : "";
  return [view.title, scale, architecture(), [step, moved?.stage ? msg`after ${moved.stage}` : ""].filter(Boolean).join(" "), "Lookback"].filter(Boolean).join(" · ");
}

/** @param {Placed} placed @param {Needs} needs @param {"png" | "svg"} kind */
async function savePicture(placed, needs, kind) {
  const svg = await svgOf(placed.element, captionOf(placed, needs), () => needs.redraw(placed), kind === "svg");
  const name = `${fileName(needs.world(), placed.view.id)}.${kind}`;
  save(name, kind === "png" ? await pngOf(svg) : new Blob([svg.text], { type: "image/svg+xml" }));
  needs.say(msg`Saved as ${name}.`);
}

/** @param {Placed} placed @param {Needs} needs */
function saveTable({ view }, { world, say }) {
  const name = `${fileName(world(), view.id)}.csv`;
  save(name, new Blob([csv(/** @type {Table} */ (view.table?.(world())))], { type: "text/csv;charset=utf-8" }));
  say(msg`Saved as ${name}.`);
}

/** The values as a table, in a dialog. @param {{title: string, caption: string, table: Table}} about @param {() => void} saveIt @param {HTMLElement} button */
function showTable({ title, caption, table: { columns, rows } }, saveIt, button) {
  const dialog = h("dialog", { class: "take-table", "aria-labelledby": "take-table-title" },
    h("div", { class: "ph" }, h("h2", { class: "h", id: "take-table-title" }, title), h("span", { class: "sp" }),
      h("button", { class: "btn sm", type: "button", onclick: saveIt }, "CSV"),
      h("button", { class: "btn sm", type: "button", onclick: () => dialog.close() }, msg`Close`)),
    h("p", { class: "note" }, caption, rows.length > SHOWN && msg` · ${SHOWN} of ${rows.length} rows; the CSV file has all`),
    h("div", { class: "take-scroll", tabindex: 0, role: "region", "aria-labelledby": "take-table-title" },
      rows.length ? h("table", null, h("thead", null, h("tr", null, columns.map((c) => h("th", { scope: "col" }, c)))), h("tbody", null, rows.slice(0, SHOWN).map(rowOf))) : h("p", { class: "note" }, msg`Nothing is computed yet.`)));
  dialog.addEventListener("click", (/** @type {MouseEvent} */ e) => e.target === dialog && dialog.close());
  dialog.addEventListener("close", () => {
    dialog.remove();
    button.focus();
  });
  document.body.append(dialog);
  dialog.showModal();
}

/** @param {(string | number | boolean | null)[]} row */
const rowOf = (row) => h("tr", null, row.map((value) => h("td", { class: typeof value === "number" ? "mono" : null }, shown(value))));

/** @param {string | number | boolean | null} value */
function shown(value) {
  if (typeof value === "number") return Number.isInteger(value) || !Number.isFinite(value) ? String(value) : String(Number(value.toPrecision(6)));
  return value === null ? h("span", { class: "sr" }, msg`not known`) : typeof value === "boolean" ? (value ? msg`yes` : msg`no`) : value;
}
