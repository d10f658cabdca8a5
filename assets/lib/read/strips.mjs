// @ts-check
/** The two strips of rows that a read joins: where their places lie, and what is drawn around them. */

import * as draw from "../canvas.mjs";
import { msg } from "../language.mjs";

/** @typedef {ReturnType<typeof layout>} Layout */

const NARROWEST = { small: 48, wide: 50 };
export const WIDEST = 92;
/** The line of a name, px. */
const NAME = 18;

/** Where the places of both strips lie. A strip that does not fit pans: above it stands a map of all rows, beside it a place for the
 * key that is read most and lies outside. Pure.
 * @param {number} width seen @param {number} height @param {number} places of the longer strip @param {number} [kept] places that are kept free from the start */
export function layout(width, height, places, kept = places) {
  const small = width < 560;
  const gutter = small ? 0 : 128;
  const least = small ? NARROWEST.small : NARROWEST.wide;
  const fits = Math.max(1, Math.floor((width - gutter - 2) / least));
  const long = places > fits;
  const count = Math.max(places, Math.min(kept, fits), 1);
  const slot = long ? (small ? 58 : 66) : Math.min(WIDEST, (width - gutter - 2) / count);
  const left = gutter + (long ? slot + 18 : 0);
  const pad = slot > 70 ? 8 : 4;
  const low = height < (small && long ? 190 : 140);
  const chip = low ? 24 : 30;
  const ids = !small && height >= (long ? 190 : 150);
  const map = long ? (low ? 15 : 22) : 0;
  const names = small ? NAME : 0; // where there is no room beside the strips, their names stand above and below them
  const top = (long ? map + (low ? 15 : 28) : 14) + names;
  const bottom = height - chip - (ids ? 30 : 17) - names;
  return {
    small, gutter, left, slot, pad, chip, ids, top, bottom, long, map, low, size: slot > 80 ? 14 : slot > 66 ? 13 : slot > 58 ? 12 : 11,
    width: left + places * slot + 2,
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

/** Whose rows a strip holds; where the same rows stand in both, as what.
 * @param {any} info @param {"key" | "query"} side */
function stripName(info, side) {
  if (info[side] === "r") return msg`Hops`;
  if (info.key !== info.query) return info[side] === "s" ? msg`Source rows` : msg`Target rows`;
  if (info.key === "s") return side === "key" ? msg`Source as keys` : msg`Source as queries`;
  return side === "key" ? msg`Target as keys` : msg`Target as queries`;
}

/** Names of the two strips and what their rows do.
 * @param {CanvasRenderingContext2D} g @param {Layout} geo @param {any} info */
export function gutter(g, geo, info) {
  if (geo.small) return above(g, geo, info);
  const [up, down] = [geo.top + geo.chip / 2, geo.bottom + geo.chip / 2];
  strip(g, stripName(info, "key"), [["K", "k"], ["V", "v"]], geo.long ? msg`in view` : msg`are read`, geo.long ? up - 4 : up); // below a map of all rows there is less room
  if (info.query === "r") strip(g, stripName(info, "query"), [], msg`weigh all rows`, down);
  else strip(g, stripName(info, "query"), [["Q", "q"]], msg`do the reading`, down);
}

/** The same names, one above its strip and one below. @param {CanvasRenderingContext2D} g @param {Layout} geo @param {any} info */
function above(g, geo, info) {
  const all = /** @type {[string, string[][], string, number][]} */ ([
    [stripName(info, "key"), [["K", "k"], ["V", "v"]], geo.long ? msg`in view` : msg`are read`, geo.map + NAME / 2],
    [stripName(info, "query"), info.query === "r" ? [] : [["Q", "q"]], info.query === "r" ? msg`weigh all rows` : msg`do the reading`, geo.bottom + geo.chip + (geo.ids ? 30 : 17) + NAME / 2],
  ]);
  for (const [name, tags, what, y] of all) {
    tags.forEach(([letter, role], i) => draw.tag(g, letter, role, i * 19, y));
    const x = tags.length * 19 + (tags.length ? 3 : 0);
    draw.label(g, name, x, y, { size: 11.5, weight: 620, color: "--ink-2" });
    draw.font(g, 620, 11.5);
    draw.label(g, what, x + g.measureText(name).width + 6, y, { size: 11.5, color: "--ink-3" });
  }
}

/** @param {CanvasRenderingContext2D} g @param {string} name @param {string[][]} tags @param {string} what @param {number} y */
export function strip(g, name, tags, what, y) {
  draw.label(g, name, 0, y - 8, { size: 13, weight: 620, color: "--ink" });
  tags.forEach(([letter, role], i) => draw.tag(g, letter, role, i * 19, y + 10));
  draw.label(g, what, tags.length * 19 + 4, y + 10, { size: 11, color: "--ink-3" });
}

/** What the two kinds of ribbons are, where there is room for it.
 * @param {CanvasRenderingContext2D} g @param {number} from @param {number} to the right edge @param {number} y */
export function legend(g, from, to, y) {
  const lines = [["--v-fill", msg`this row’s read`], ["--line-2", msg`earlier rows, main read`]];
  draw.font(g, 480, 11);
  const x = to - Math.max(...lines.map(([, said]) => g.measureText(said).width)) - 34;
  if (x < from) return;
  lines.forEach(([color, said], i) => {
    g.fillStyle = draw.css(color);
    draw.roundRect(g, x, y + i * 18 - 4, 16, 8, 3);
    g.fill();
    draw.label(g, said, x + 24, y + i * 18, { size: 11.5 });
  });
}
