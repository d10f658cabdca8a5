// @ts-check
/** Kernels: what a row adds to a read by its distance alone. Found by their axes (the last is l, lags), never by a model's name. Pure. */

import { h, hide, set } from "../dom.mjs";
import { msg } from "../language.mjs";
import * as tapes from "./tapes.mjs";
import { leaf } from "../words.mjs";

/** @typedef {import("../types").World} World @typedef {import("../types").Context} Context */
/** One layer's kernel: a tensor of channels and lags. @typedef {{path: string, name: string, channel: string, channels: number, lags: number, formula: number | null}} Kernel */

/** All kernels of the model, a layer each. @param {World} world @returns {Kernel[]} */
export function kernels(world) {
  const found = (world.schema?.taps ?? []).filter((/** @type {any} */ t) => t.axes.length === 2 && t.axes[1] === "l");
  return found.map((/** @type {any} */ t) => {
    const layer = /(\d+)$/.exec(leaf(t.path));
    return { path: t.path, name: layer ? msg`layer ${Number(layer[1]) + 1}` : leaf(t.path), channel: t.axes[0], channels: t.shape[0], lags: t.shape[1], formula: t.formula ?? null };
  });
}

/** Whether kernels stand where states would: they were asked for, or no state is made. @param {World} world */
export const inPlace = (world) => tapes.alone(world) && kernels(world).length > 0 && (world.look.show === "kernel" || !tapes.groups(world).some((g) => g.tapes.some((t) => t.carried)));

/** Whether one can change between states and kernels. @param {World} world */
export const both = (world) => kernels(world).length > 0 && tapes.groups(world).some((g) => g.tapes.some((t) => t.carried));

/** Two buttons: states or kernel. @returns {HTMLElement} */
export const choice = () => h("div", { class: "seg", role: "group", "aria-label": msg`States or kernel` }, [["weights", msg`states`], ["kernel", msg`kernel`]].map(([value, said]) => h("button", { type: "button", "data-value": value }, said)));

/** @param {any} element of `choice` @param {World} world @param {Context} context */
export function choose(element, world, context) {
  hide(element, !both(world));
  for (const button of element.children) {
    set(button, "aria-pressed", String((button.dataset.value === "kernel") === inPlace(world)));
    button.onclick = () => context.look({ show: button.dataset.value, lock: null, path: null, layout: {} });
  }
}
