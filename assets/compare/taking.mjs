// @ts-check
/** The comparison to take away: a picture of its columns, and what each model chose as a table. */

import { msg } from "../lib/language.mjs";
import { pageMenu } from "../lib/taking/menu.mjs";
import { savePicture } from "../lib/taking/shot.mjs";
import { number } from "../lib/words.mjs";
import { letter } from "./grid.mjs";
import { phaseOf, stepOf } from "./said.mjs";

/** @typedef {import("./columns.mjs").Column} Column @typedef {import("./link.mjs").Comparison} Comparison */
/** @typedef {{now: Comparison, columns: Column[]}} Page */

/** @param {Page} page */
const nameOf = (page) => `lookback-compare-${phaseOf(page)}-${Math.max(0, stepOf(page))}`;

/** @param {HTMLElement} button @param {Page} page @param {{grid: HTMLElement, copy: () => Promise<void>, redraw: () => void, refuse: (why: string) => void}} of @returns {() => void} opens the menu */
export function taking(button, page, { grid, copy, redraw, refuse }) {
  const caption = () => [msg`Compare`, ...page.columns.map((c, i) => `${letter(i)} ${c.architecture}`), "Lookback"].join(" · ");
  return pageMenu(button, {
    title: msg`Compare`, caption, name: () => nameOf(page), copy, table: () => table(page),
    picture: (kind) => savePicture(grid, { name: nameOf(page), caption: caption(), redraw }, kind),
    failed: (why) => refuse(msg`“${msg`Compare`}” could not be taken away: ${why}`),
  });
}

/** A line for each model and step: what it chose at which probability, how evenly the row that chose reads, or the loss and the norm of an update.
 * @param {Page} page @returns {import("../lib/types").Table} */
export function table({ now, columns }) {
  if (now.phase === "train") {
    const rows = columns.flatMap((c, i) => c.world.curve.loss.map((/** @type {any} */ loss, /** @type {number} */ at) => [letter(i), c.architecture, at + 1, number(loss), number(c.world.curve.norm[at])]));
    return { columns: [msg`model`, msg`architecture`, msg`update`, msg`loss`, msg`gradient norm`], rows };
  }
  const rows = columns.flatMap((c, i) => {
    const request = c.request(), prompt = (c.world.opened?.scenario.requests[0].target.length ?? 0) + 1;
    return Array.from(request?.log_p?.data ?? request?.log_p ?? [], (logP, at) => [letter(i), c.architecture, at + 1, request?.target[prompt + at]?.token ?? "", Math.exp(number(logP)), c.evenness(prompt + at - 1)?.bits ?? null]);
  });
  return { columns: [msg`model`, msg`architecture`, msg`step`, msg`token`, msg`probability`, msg`entropy of its read, bits`], rows };
}
