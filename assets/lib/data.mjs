// @ts-check
/** What the server wrote into the page, read once. */

/** @type {any} */
export const data = JSON.parse(globalThis.document?.getElementById("lookback-data")?.textContent ?? "{}");
