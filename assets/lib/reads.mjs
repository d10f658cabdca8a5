// @ts-check
/** A read, for the views that show one: what the page looks at (read/focus.mjs), its taps and their values (read/taps.mjs). */

/** @typedef {import("./read/focus.mjs").Row} Row */

export * from "./read/focus.mjs";
export * from "./read/taps.mjs";
