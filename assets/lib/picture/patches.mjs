// @ts-check
/** Above a picture that is read, the read between rows: its places as a strip in the order of the rows, ribbons to the row that
 * reads them, the rows as words. Only where there is the height for it. */

import * as draw from "../canvas.mjs";
import { msg } from "../language.mjs";
import { strength } from "../read/ropes.mjs";
import { strip } from "../read/strips.mjs";
import { pixels } from "../setup/drawing.mjs";

/** @typedef {import("../setup/pixels.mjs").Lines} Lines @typedef {import("./looking.mjs").Grid} Grid @typedef {import("../read/ribbons.mjs").Place} Place */
/** @typedef {object} Between shares: of each place, by row @property {Lines} lines @property {Grid} cut @property {Place[]} queries @property {(row: number) => number[]} shares
 * @property {(row: number) => number | null} drawn @property {(key: number) => string} state of a place to the shown row @property {number} row @property {number | null} pointed */

const [GUTTER, CHIP, WORDS] = [104, 18, 8];
const [LEAST, LOW, TALLEST] = [190, 240, 16];
/** In a narrower view the words begin at its edge, without a name before them. */
const NARROW = 560;
const [GHOST, FAINT, WIDEST] = [0.2, 0.01, 26];

/** Where the strip lies, or null where there is no room for it. Pure.
 * @param {number} width @param {number} height @param {number} places @param {number} queries */
export function patchLayout(width, height, places, queries) {
  const slot = (width - GUTTER - 2) / Math.max(1, places);
  if (height < LEAST || slot < 5) return null;
  const size = Math.floor(Math.min(TALLEST, slot));
  const narrow = width < NARROW;
  const left = narrow ? 0 : GUTTER;
  const step = Math.min(84, (width - left - 2) / Math.max(WORDS, queries));
  const bottom = size + (height < LOW ? 20 : 25);
  const patch = (/** @type {number} */ key) => ({ x: Math.round(GUTTER + key * slot), y: 1, w: size - 1, h: size - 1 });
  const chip = (/** @type {number} */ row) => ({ x: left + row * step + 1, y: bottom, w: step - (narrow ? 2 : 4), h: CHIP });
  return {
    patch, chip, size, bottom, narrow, height: bottom + CHIP + 5,
    /** @param {number} x @param {number} y @returns {{row: number | null, place: number | null} | null} */
    at(x, y) {
      const [key, row] = [Math.floor((x - GUTTER) / slot), Math.floor((x - left) / step)];
      if (y < size) return key >= 0 && key < places ? { row: null, place: key } : null;
      return y >= bottom && y < bottom + CHIP && row >= 0 && row < queries ? { row, place: null } : null;
    },
  };
}

/** @param {CanvasRenderingContext2D} g @param {NonNullable<ReturnType<typeof patchLayout>>} geo @param {Between} o */
export function drawPatches(g, geo, o) {
  const { shares, row } = o;
  const middle = (/** @type {{x: number, w: number}} */ b) => b.x + b.w / 2;
  const rope = (/** @type {number} */ key, /** @type {number} */ r, /** @type {number} */ wide, /** @type {string} */ fill) => draw.ribbon(g, middle(geo.patch(key)), geo.size + 1, middle(geo.chip(r)), geo.bottom - 1, wide, fill);
  o.queries.forEach((_, r) => {
    if (r === row) return;
    const [top, share] = most(shares(r));
    if (share > GHOST) rope(o.drawn(r) ?? top, r, Math.max(1.5, share * 10), draw.css("--ribbon-ghost"));
  });
  const drawn = o.drawn(row);
  shares(row).forEach((share, key) => {
    if (o.state(key) === "user") draw.cross(g, middle(geo.patch(key)), geo.size + 7, 3);
    else if (drawn === null && share > FAINT) rope(key, row, Math.max(1.2, share * WIDEST), draw.alpha(draw.css("--v-fill"), strength(share)));
  });
  if (drawn !== null) rope(drawn, row, WIDEST / 2, draw.alpha(draw.css("--d-fill"), 0.85));
  places(g, geo, o, drawn ?? most(shares(row))[0]);
  o.queries.forEach((q, r) => {
    const b = geo.chip(r);
    draw.chip(g, b.x, b.y, b.w, b.h, q.token, { role: "q", state: q.kind === "new" ? "known" : q.kind, on: r === row, size: geo.narrow ? 10.5 : 11.5 });
  });
  strip(g, msg`Source rows`, [["K", "k"], ["V", "v"]], msg`${shares(row).length} places`, 15);
  if (!geo.narrow) draw.label(g, msg`Target rows`, 0, geo.bottom + CHIP / 2 + 1, { size: 13, weight: 620, color: "--ink" });
}

/** Each place with its part of the picture. @param {CanvasRenderingContext2D} g @param {NonNullable<ReturnType<typeof patchLayout>>} geo @param {Between} o @param {number} top that is read most */
function places(g, geo, { lines, cut, pointed, state, shares, row }, top) {
  const [high, wide] = [lines.length / cut.lines, (lines[0]?.length ?? 0) / cut.columns];
  for (let key = 0; key < cut.lines * cut.columns; key++) {
    const [y, x] = [Math.floor(key / cut.columns) * high, (key % cut.columns) * wide];
    const b = geo.patch(key);
    pixels(g, lines.slice(y, y + high).map((l) => l.slice(x, x + wide)), b.x, b.y, b.w, b.h);
    if (state(key) === "user") draw.hatch(g, b.x, b.y, b.w, b.h, draw.css("--ink-2"), 1.2, 4);
    const on = key === pointed ? "--ink" : key === top && shares(row)[key] > FAINT ? "--k" : "";
    g.strokeStyle = on ? draw.css(on) : draw.alpha(draw.css("--k-fill"), 0.55);
    g.lineWidth = on ? 2 : 1;
    g.strokeRect(b.x - 0.5, b.y - 0.5, b.w + 1, b.h + 1);
  }
}

/** The largest share and its place. @param {number[]} shares @returns {[number, number]} */
const most = (shares) => shares.reduce((/** @type {[number, number]} */ best, share, key) => (share > best[1] ? [key, share] : best), [0, 0]);
