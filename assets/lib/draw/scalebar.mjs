// @ts-check
/** The printed scale of a map. It is fixed: for weights from 0 to 1, for scores by the first that came, until "fit" is pressed. */

import { h, set, text } from "../dom.mjs";
import { msg } from "../language.mjs";
import * as read from "../reads.mjs";

/** @typedef {import("../types").World} World @typedef {import("../map/pane.mjs").Showing} Showing @typedef {{weights: number, scores: number}} Fitted the top of each scale, 0: not chosen yet */

/** A logarithmic scale ends so many powers of ten below its top. */
const DECADES = 3;

export const scalebar = () =>
  h("div", { class: "scale" }, h("span"), h("i"), h("span"), h("span", { class: "dim" }), h("button", { class: "link", type: "button" }, msg`fit`));

/** @param {World} world @param {Fitted} fitted @returns {Showing["scale"]} */
export function scaleOf(world, fitted) {
  if (world.look.show === "scores") return { max: fitted.scores || 1, diverging: true };
  return world.look.show === "mask" ? { max: 6 } : weightScale(world, fitted);
}

/** @param {World} world @param {Fitted} fitted @returns {Showing["scale"]} */
export const weightScale = (world, fitted) => (world.look.scale === "log" ? { max: fitted.weights, decades: DECADES } : { max: fitted.weights });

/** @param {any} element @param {World} world @param {Fitted} fitted @param {() => number} largest the largest size in sight @param {() => void} again */
export function drawScale(element, world, fitted, largest, again) {
  const [low, bar, high, said, fit] = element.children;
  const { show } = world.look;
  const log = world.look.scale === "log";
  if (show === "scores") fitted.scores ||= rounded(largest(), 2);
  const top = show === "scores" ? fitted.scores || 1 : fitted.weights;
  set(element, "class", show === "scores" ? "scale div" : show === "mask" ? "scale open" : "scale");
  text(low, show === "mask" ? "" : show === "scores" ? `−${top}` : log ? `≤ ${small(top * 10 ** -DECADES)}` : "0");
  text(high, show === "mask" ? msg`open` : show === "scores" ? `+${top}` : plain(top));
  text(said, show === "scores" ? msg`score` : show === "mask" ? "" : log ? msg`weight, log` : msg`weight, linear`);
  fit.hidden = show === "mask";
  set(fit, "title", show === "weights" && fitted.weights !== 1 ? msg`Back to a scale from 0 to 1` : msg`Fit the scale to what is shown`);
  text(fit, show === "weights" && fitted.weights !== 1 ? msg`0 to 1` : msg`fit`);
  fit.onclick = () => {
    if (show === "scores") fitted.scores = rounded(largest(), 2);
    else fitted.weights = fitted.weights === 1 ? Math.min(1, rounded(largest(), 20)) || 1 : 1;
    again();
  };
}

/** @param {number} value */
const plain = (value) => String(Number(value.toPrecision(3))).replace(/^0\./, ".");
/** @param {number} value */
const small = (value) => (value >= 1e-4 ? plain(value) : value.toExponential(0));

/** @param {number} value @param {number} parts of one */
const rounded = (value, parts) => Math.ceil(value * parts) / parts;

/** The largest size among numbers of a read. @param {World} world @param {(row: number, key: number) => number} value */
export function largest(world, value) {
  const at = read.relation(world);
  if (!at) return 0;
  const [rows, keys] = [read.rows(world, at.info.query).length, read.rows(world, at.info.key).length];
  const mask = read.visibility(at.info, at.layer, read.rows(world, at.info.key));
  let most = 0;
  for (let r = 0; r < rows; r++) {
    for (let k = 0; k < keys; k++) {
      const size = mask.allows(r, k) ? Math.abs(value(r, k)) : 0;
      if (size > most && size < Infinity) most = size;
    }
  }
  return most;
}
