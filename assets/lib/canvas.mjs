// @ts-check
/** Drawing helpers that the views share: colours (colours.mjs), strokes and sizes (pen.mjs), and maps of numbers made of them (heatmap.mjs, cells.mjs). */

/** @typedef {import("./draw/colours.mjs").Rgb} Rgb @typedef {import("./draw/heatmap.mjs").CellState} CellState */

export { cellText } from "./draw/cells.mjs";
export { cellMap, geometry, vector } from "./draw/heatmap.mjs";
export { alpha, css, luminance, place, ramp, rgb, toCss } from "./draw/colours.mjs";
export * from "./draw/pen.mjs";
export { noteCut } from "./draw/whole.mjs";
export * from "./draw/zoom.mjs";
