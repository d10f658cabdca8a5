// @ts-check
/** Drawing helpers that the views share: strokes, colours and sizes (pen.mjs), and maps of numbers made of them (heatmap.mjs, cells.mjs). */

/** @typedef {import("./pen.mjs").Rgb} Rgb @typedef {import("./heatmap.mjs").CellState} CellState */

export { cellText } from "./cells.mjs";
export { cellMap, geometry, vector } from "./heatmap.mjs";
export * from "./pen.mjs";
