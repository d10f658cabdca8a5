// @ts-check
/** The colours of drawings: tokens of app.css, the scales that they list, and where a number stands on one. */

/** @typedef {[number, number, number]} Rgb */

/** @type {Map<string, string>} */
const tokens = new Map();
/** @type {Map<string, Rgb[]>} */
const stops = new Map();

/** Forget the colours that were read: the theme changed. */
export function forgetColours() {
  tokens.clear();
  stops.clear();
}

/** A token of app.css, for example `css("--ink")`. Remembered until the theme changes.
 * @param {string} name */
export function css(name) {
  let value = tokens.get(name);
  if (value === undefined) {
    value = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    tokens.set(name, value);
  }
  return value;
}

/** "#RRGGBB" as three bytes.
 * @param {string} hex @returns {Rgb} */
export const rgb = (hex) => /** @type {Rgb} */ ([1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)));

/** @param {Rgb} c */
export const toCss = (c) => `rgb(${c[0]},${c[1]},${c[2]})`;

/** A hex colour with an opacity.
 * @param {string} hex @param {number} opacity */
export const alpha = (hex, opacity) => `rgba(${rgb(hex)},${opacity})`;

/** A colour scale from a token that lists its stops ("--seq", "--div"): 0..1 to bytes.
 * @param {string} name @returns {(t: number) => Rgb} */
export function ramp(name) {
  let list = stops.get(name);
  if (!list) {
    list = css(name).split(",").map((s) => rgb(s.trim()));
    stops.set(name, list);
  }
  const s = list;
  return (t) => {
    const place = Math.min(1, Math.max(0, t)) * (s.length - 1);
    const i = Math.min(s.length - 2, Math.floor(place));
    const f = place - i;
    return /** @type {Rgb} */ (s[i].map((v, k) => Math.round(v + (s[i + 1][k] - v) * f)));
  };
}

/** Relative luminance (WCAG), 0..1; dark text goes on what is lighter than 0.3.
 * @param {Rgb} c */
export function luminance(c) {
  const linear = c.map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
}

/** A value's place on a scale, 0..1. Pure. linear: v / max. diverging: 0.5 is zero, and with `root` the square root of the size counts. log: `decades` below max is 0.
 * @param {number} value @param {{max?: number, diverging?: boolean, root?: boolean, decades?: number}} [scale] */
export function place(value, scale = {}) {
  const max = scale.max || 1;
  const size = Math.min(1, Math.abs(value) / max);
  if (scale.diverging) return 0.5 + 0.5 * Math.sign(value) * (scale.root ? Math.sqrt(size) : size);
  if (scale.decades) return 1 + Math.log10(Math.max(value, max * 10 ** -scale.decades) / max) / scale.decades;
  return value / max;
}
