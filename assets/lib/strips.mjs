// @ts-check
/** The two strips of rows that a read joins: where their places lie, and what is drawn around them. */

import * as draw from "./canvas.mjs";

/** @typedef {ReturnType<typeof layout>} Layout */

/** Where the places of both strips lie. Pure.
 * @param {number} width seen @param {number} height @param {number} places of the longer strip */
export function layout(width, height, places) {
  const small = width < 560;
  const left = small ? 0 : 128;
  const slot = Math.max(small ? 58 : 62, Math.min(92, (width - left - 4) / Math.max(1, places)));
  const pad = slot > 70 ? 8 : 4;
  const chip = height < 135 ? 24 : 30;
  const ids = height >= 150;
  const top = 14;
  const bottom = height - chip - (ids ? 30 : 17);
  return {
    small, left, slot, pad, chip, ids, top, bottom, size: slot > 80 ? 14 : slot > 66 ? 13 : 12,
    width: left + places * slot + 4,
    /** @param {number} i */
    x: (i) => left + i * slot + pad / 2,
    /** @param {number} i */
    middle: (i) => left + (i + 0.5) * slot,
  };
}

/** A read that was hidden by hand: dashed and crossed.
 * @param {CanvasRenderingContext2D} g @param {number} x0 @param {number} y0 @param {number} x1 @param {number} y1 */
export function hidden(g, x0, y0, x1, y1) {
  const m = (y0 + y1) / 2;
  g.setLineDash([3, 4]);
  g.strokeStyle = draw.css("--ink-3");
  g.lineWidth = 1.2;
  g.beginPath();
  g.moveTo(x0, y0);
  g.bezierCurveTo(x0, m, x1, m, x1, y1);
  g.stroke();
  g.setLineDash([]);
  const [x, y] = [x0 + (x1 - x0) * 0.3, y0 + (y1 - y0) * 0.36];
  g.fillStyle = draw.css("--surface");
  g.beginPath();
  g.arc(x, y, 8, 0, 7);
  g.fill();
  draw.cross(g, x, y);
}

/** A word that the vocabulary does not have: its place is underlined with dots.
 * @param {CanvasRenderingContext2D} g @param {Layout} geo @param {number} i @param {number} y */
export function unknownWord(g, geo, i, y) {
  g.setLineDash([1.5, 3]);
  g.strokeStyle = draw.css("--ink");
  g.lineWidth = 1.5;
  g.beginPath();
  g.moveTo(geo.x(i) + 8, y + geo.chip - 5);
  g.lineTo(geo.x(i) + geo.slot - geo.pad - 8, y + geo.chip - 5);
  g.stroke();
  g.setLineDash([]);
}

/** Names of the two strips and what their rows do.
 * @param {CanvasRenderingContext2D} g @param {Layout} geo @param {any} info */
export function gutter(g, geo, info) {
  const name = (/** @type {string} */ owner) => (owner === "s" ? "Source rows" : "Target rows");
  const [up, down] = [geo.top + geo.chip / 2, geo.bottom + geo.chip / 2];
  draw.label(g, name(info.key), 0, up - 8, { size: 13, weight: 620, color: "--ink" });
  draw.tag(g, "K", "k", 0, up + 10);
  draw.tag(g, "V", "v", 19, up + 10);
  draw.label(g, "are read", 42, up + 10, { size: 11, color: "--ink-3" });
  draw.label(g, name(info.query), 0, down - 8, { size: 13, weight: 620, color: "--ink" });
  draw.tag(g, "Q", "q", 0, down + 10);
  draw.label(g, "do the reading", 23, down + 10, { size: 11, color: "--ink-3" });
}
