// @ts-check
/** What keys do in a row of chips: on a chip, and in the input that one of them is. */

/** @typedef {import("./chips.mjs").Chips} Chips */

/** @param {Chips} chips @param {KeyboardEvent} event */
export function keyed(chips, event) {
  if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  const target = /** @type {any} */ (event.target);
  const act = target.tagName === "INPUT" ? chips.suggest.key(event.key) ?? inInput(chips, event.key, target) : target.dataset.at ? onChip(chips, event.key, Number(target.dataset.at), event.shiftKey) : null;
  if (!act) return;
  event.preventDefault();
  event.stopPropagation();
  act();
}

/** @param {Chips} chips @param {string} key @param {HTMLInputElement} input @returns {(() => void) | null} */
function inInput(chips, key, input) {
  if (key === "Enter") return () => chips.commit(input.value);
  if (key === "Escape") return () => chips.stop(chips.editing?.index ?? 0);
  if (key === " " && !chips.how.characters && input.selectionStart === input.value.length) return input.value.trim() ? () => chips.commit(input.value, { more: true }) : () => {};
  const before = chips.editing?.index ?? 0;
  if (key === "Backspace" && !input.value && chips.editing?.insert && before > 0) return () => chips.put(before - 1, 1, [], before - 1);
  return null;
}

/** @param {Chips} chips @param {string} key @param {number} at @param {boolean} shift @returns {(() => void) | null} */
function onChip(chips, key, at, shift) {
  /** @type {Record<string, () => void>} */
  const keys = shift ? { ArrowLeft: () => chips.move(at, at - 1), ArrowRight: () => chips.move(at, at + 1) } : {
    ArrowLeft: () => chips.focus(at - 1), ArrowRight: () => chips.focus(at + 1),
    Home: () => chips.focus(0), End: () => chips.focus(chips.tokens.length - 1),
    F2: () => chips.edit(at, false), Insert: () => chips.edit(at, true),
    Delete: () => chips.put(at, 1, [], at), Backspace: () => chips.put(at, 1, [], at - 1),
  };
  return keys[key] ?? null;
}
