// @ts-check
/** Clicks and keys of a page beside the stage: a button names what it does, and the keys of the transport do the same everywhere. */

/** @typedef {Record<string, (what: string) => any>} Acts */

/** Whoever has `data-act` does that of these; what else its `data-` says is what it is done to.
 * @param {Acts} acts with step, back and play */
export function acting(acts) {
  addEventListener("click", (event) => {
    const button = /** @type {any} */ (event.target).closest?.("[data-act]");
    if (!button) return;
    const { act, ...about } = button.dataset;
    acts[act]?.(String(Object.values(about)[0] ?? ""));
  });
  addEventListener("keydown", (event) => {
    const target = /** @type {any} */ (event.target);
    if (target.closest?.("input, select, [role=radio], summary") || (target.closest?.("button") && event.key === " ") || event.ctrlKey || event.metaKey || event.altKey) return;
    const does = { ArrowRight: acts.step, ".": acts.step, ArrowLeft: acts.back, ",": acts.back, " ": acts.play }[event.key];
    if (!does) return;
    event.preventDefault();
    does("");
  });
}
