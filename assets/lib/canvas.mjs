// @ts-check
/** Drawing helpers that the views share: strokes, colours and sizes (pen.mjs), and maps of numbers made of them (heatmap.mjs, cells.mjs). */

/** @typedef {import("./draw/pen.mjs").Rgb} Rgb @typedef {import("./draw/heatmap.mjs").CellState} CellState */

export { cellText } from "./draw/cells.mjs";
export { cellMap, geometry, vector } from "./draw/heatmap.mjs";
export * from "./draw/pen.mjs";
export { noteCut } from "./draw/whole.mjs";
