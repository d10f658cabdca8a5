// @ts-check
/** Flyouts of the narrow set-up and tabs of the phone: plain switches on the page itself. */

export function listenToFlyouts() {
  addEventListener("click", (event) => {
    const target = /** @type {any} */ (event.target);
    const rail = target.closest?.("[data-rail]");
    const tab = target.closest?.("[data-tab-to]");
    if (tab) showTab(tab.dataset.tabTo);
    const setup = document.querySelector(".setup");
    const open = setup?.getAttribute("data-open");
    const elsewhere = setup && open !== "detail" && !setup.contains(target) && target.isConnected && !target.closest("[role=listbox], [data-portal]");
    if (rail) flyout(setup, open === rail.dataset.rail ? "" : rail.dataset.rail);
    else if (elsewhere) flyout(setup, "");
  });
  addEventListener("keydown", (event) => event.key === "Escape" && !event.defaultPrevented && flyout(document.querySelector(".setup"), ""));
}

/** @param {Element | null} setup @param {string} name */
function flyout(setup, name) {
  setup?.setAttribute("data-open", name);
  for (const button of document.querySelectorAll("[data-rail]")) button.setAttribute("aria-expanded", String(/** @type {any} */ (button).dataset.rail === name));
}

/** @param {string} name */
function showTab(name) {
  document.documentElement.dataset.tab = name;
  for (const button of document.querySelectorAll("[data-tab-to]")) {
    if (/** @type {any} */ (button).dataset.tabTo === name) button.setAttribute("aria-current", "page");
    else button.removeAttribute("aria-current");
  }
  scrollTo(0, 0);
}
