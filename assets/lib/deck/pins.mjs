// @ts-check
/** Marks on the timeline that say where others stand in the run: how many, or the teacher. Pure but for `drawPins`. */

import { h, set, text } from "../dom.mjs";

/** @typedef {import("../types").Pin} Pin @typedef {import("./blocks.mjs").Block} Block @typedef {import("../types").World} World */

/** The block where who stands there is marked; null where the timeline shows none of it.
 * @param {{phase: string, step: number}} place @param {Block[]} blocks @returns {Block | null} */
export function blockOf({ phase, step }, blocks) {
  const of = (/** @type {(b: Block) => boolean} */ is) => blocks.find(is) ?? null;
  if (phase === "train") return of((b) => b.kind === "stage" && b.state === "now");
  if (blocks[0]?.kind === "stage") return null;
  if (phase === "decode" && step > 0) return of((b) => b.key === `d${step}`);
  return (phase === "prefill" && step === 0 && of((b) => b.kind === "start")) || of((b) => b.kind === "prefill");
}

/** By the key of a block, what stands on it. In training only who is at the update that is shown.
 * @param {World} world @param {Block[]} blocks @returns {Map<string, Pin>} */
export function pinned(world, blocks) {
  const there = (world.people?.pins ?? []).filter((p) => p.phase !== "train" || p.step === world.moved?.step);
  return new Map(there.flatMap((p) => {
    const block = blockOf(p, blocks);
    return block ? [[block.key, p]] : [];
  }));
}

/** Whether a mark beside the word of its block would cover it: then it hangs under the block. Widths of letters are those of the styles.
 * @param {Block} b @param {Pin} pin */
export const covers = (b, pin) => 6.5 * pin.text.length + 12 > (b.width - 7.6 * Math.max(b.token.length, b.title.length)) / 2;

/** It lies over its block and moves nothing. @param {HTMLElement} li @param {Block} b @param {Pin | undefined} pin */
export function drawPins(li, b, pin) {
  const old = /** @type {any} */ (li.querySelector(":scope > .pin"));
  if (!pin) return old?.remove();
  const mark = old ?? li.appendChild(h("span", { class: "pin" }));
  text(mark, pin.text);
  set(mark, "title", pin.title);
  set(mark, "data-strong", pin.strong ? "" : null);
  set(mark, "data-low", covers(b, pin) ? "" : null);
}
