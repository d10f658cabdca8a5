// @ts-check
/** A text into the clipboard. */

/** Whether it is there now. A page that came over http from another machine has no clipboard of its own: there the text is selected
 * and copied as a person would. @param {string} what @returns {Promise<boolean>} */
export async function copied(what) {
  try {
    if (!navigator.clipboard) return selected(what);
    await navigator.clipboard.writeText(what);
    return true;
  } catch {
    return false;
  }
}

/** @param {string} what */
function selected(what) {
  const focused = /** @type {HTMLElement | null} */ (document.activeElement);
  const field = document.createElement("textarea");
  field.value = what;
  field.className = "sr";
  (document.querySelector("dialog[open]") ?? document.body).append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  focused?.focus();
  return done;
}
