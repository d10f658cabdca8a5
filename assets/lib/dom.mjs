// @ts-check
/** Two helpers for building elements: make one, and keep a list in step with data without rebuilding it. */

/** @typedef {Node | string | number | null | undefined | false | Child[]} Child */

/** Make an element. `class`, `style`, `data-*`, `aria-*` and others are attributes; a function is a listener ("onclick");
 * true sets an empty attribute; false, null and undefined leave it out. Text is always text, never HTML.
 * @param {string} tag @param {Record<string, any> | null} [attributes] @param {...Child} children @returns {any} */
export function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) set(element, name, value);
  append(element, children);
  return element;
}

/** Set, change or remove one attribute or listener, as `h` does. Touches the page only if it differs.
 * @param {HTMLElement} element @param {string} name @param {any} value */
export function set(element, name, value) {
  if (typeof value === "function") /** @type {any} */ (element)[name] = value;
  else if (value === false || value === null || value === undefined) element.removeAttribute(name);
  else if (name === "value" || name === "checked" || name === "disabled") /** @type {any} */ (element)[name] = value;
  else {
    const text = value === true ? "" : String(value);
    if (element.getAttribute(name) !== text) element.setAttribute(name, text);
  }
}

/** Hide an element or show it. One that is hidden already is left alone: to hide it again would make the browser style it anew.
 * @param {any} element @param {any} hidden */
export function hide(element, hidden) {
  if (element.hidden !== !!hidden) element.hidden = !!hidden;
}

/** @param {Node} element @param {Child[]} children */
function append(element, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) append(element, child);
    else element.appendChild(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/** Put text into an element if it is not there yet. Where there is text alone, its node stays: that costs the browser far less.
 * @param {HTMLElement} element @param {string} value */
export function text(element, value) {
  const only = /** @type {Text | null} */ (element.firstChild);
  if (only?.nodeType === 3 && only === element.lastChild) {
    if (only.data !== value) only.data = value;
  } else if (element.textContent !== value) element.textContent = value;
}

/** Keep an element's children in step with a list: one child an item, found again by key, so that focus and scroll survive.
 * @template T
 * @param {HTMLElement} parent @param {T[]} items @param {(item: T, index: number) => string | number} key unique
 * @param {(item: T, index: number) => HTMLElement} create @param {(element: any, item: T, index: number) => void} [update] */
export function list(parent, items, key, create, update) {
  /** @type {Map<string, HTMLElement>} */
  const old = new Map();
  for (const child of /** @type {any} */ (parent).children) old.set(child.dataset.key ?? "", child);
  items.forEach((item, i) => {
    const name = String(key(item, i));
    let element = old.get(name);
    old.delete(name);
    if (!element) {
      element = create(item, i);
      element.dataset.key = name;
    }
    update?.(element, item, i);
    if (parent.children[i] !== element) parent.insertBefore(element, parent.children[i] ?? null);
  });
  for (const element of old.values()) element.remove();
}

/** Replace the children of an element, but never take one of them off the page: an input would lose the focus, and keys that a person types on.
 * @param {HTMLElement} parent @param {HTMLElement[]} children @param {HTMLElement | null} kept */
export function childrenAround(parent, children, kept) {
  if (!kept || kept.parentNode !== parent || !children.includes(kept)) return parent.replaceChildren(...children);
  const at = children.indexOf(kept);
  for (const child of [...parent.children]) if (child !== kept) child.remove();
  kept.before(...children.slice(0, at));
  kept.after(...children.slice(at + 1));
}

/** When nothing else is due, or a second later at the latest. @param {() => void} act */
export const whenIdle = (act) => void ("requestIdleCallback" in globalThis ? requestIdleCallback(act, { timeout: 1000 }) : setTimeout(act));
