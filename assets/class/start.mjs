// @ts-check
/** The stage with a class around it. */

/** @param {any} _page the store, the run, what a person can do, the views, and where a sentence is said */
export function begin(_page) {}
