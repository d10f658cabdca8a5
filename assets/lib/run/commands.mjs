// @ts-check
/** One function for each command (app/session/commands.py). */

/** @typedef {{ok: boolean, errors: any[]}} Reply */

/** @param {(command: Record<string, any>) => Promise<Reply>} send */
export const commands = (send) => ({
  /** @param {any} scenario @param {any[]} [log] */
  open: (scenario, log = []) => send({ kind: "open", scenario, log }),
  /** @param {"step" | "stage"} [unit] */
  step: (unit = "step") => send({ kind: "step", unit }),
  back: () => send({ kind: "back" }),
  /** @param {number} moment */
  go: (moment) => send({ kind: "go", moment }),
  /** @param {number} request @param {number} token */
  choose: (request, token) => send({ kind: "choose", request, token }),
  /** @param {"train" | "prefill" | "decode"} phase */
  enter: (phase) => send({ kind: "enter", phase }),
  /** @param {Record<string, any>} fields */
  change: (fields) => send({ kind: "change", fields }),
  undo: () => send({ kind: "undo" }),
  redo: () => send({ kind: "redo" }),
  reset: () => send({ kind: "reset" }),
  /** @param {"step" | "stage"} unit @param {number} rate steps a second @param {import("../types").PlayStop[]} [stops] */
  play: (unit, rate, stops = []) => send({ kind: "play", unit, rate, stops }),
  pause: () => send({ kind: "pause" }),
  /** @param {import("../types").Selector[]} selectors @param {number} mark comes back with their values */
  watch: (selectors, mark) => send({ kind: "watch", selectors, mark }),
  /** @param {import("../types").Selector} selector */
  fetch: (selector) => send({ kind: "fetch", selector }),
  /** @param {string} name @param {Record<string, any>} [args] */
  analyse: (name, args = {}) => send({ kind: "analyse", name, arguments: args }),
  cancel: () => send({ kind: "cancel" }),
  /** @param {Record<string, any>} view */
  look: (view) => send({ kind: "look", view }),
  /** @param {Record<string, any>} view */
  share: (view) => send({ kind: "share", view }),
});

/** @typedef {ReturnType<typeof commands>} Commands */
