// @ts-check
/** As much of a page as the registry needs: elements that keep children and attributes, and frames that a test lets pass. */

class Node {
  /** @param {string} tag */
  constructor(tag) {
    this.tag = tag;
    /** @type {any[]} */
    this.children = [];
    /** @type {Record<string, string>} */
    this.attributes = {};
    /** @type {Record<string, () => void>} */
    this.listeners = {};
    this.hidden = false;
    this.text = "";
  }

  /** @param {string} name @param {() => void} listener */
  addEventListener(name, listener) {
    this.listeners[name] = listener;
  }

  /** @param {string} name @param {string} value */
  setAttribute(name, value) {
    this.attributes[name] = value;
    if (name === "hidden") this.hidden = true;
  }

  /** @param {string} name */
  getAttribute(name) {
    return this.attributes[name] ?? null;
  }

  /** @param {string} name */
  removeAttribute(name) {
    delete this.attributes[name];
    if (name === "hidden") this.hidden = false;
  }

  /** @param {any} child */
  appendChild(child) {
    this.children.push(child);
  }

  /** @param {...any} children */
  replaceChildren(...children) {
    this.children = children;
  }

  /** @returns {string} */
  get textContent() {
    return this.text + this.children.map((c) => c.textContent).join("");
  }

  /** @param {string} tag @returns {any} */
  find(tag) {
    return this.tag === tag ? this : this.children.map((c) => c.find(tag)).find(Boolean);
  }
}

/** Put the fakes where the scripts look for them. @returns {{frame: () => void, slot: (name: string) => any}} */
export function fakePage() {
  /** @type {(() => void)[]} */
  let waiting = [];
  /** @type {Map<string, Node>} */
  const slots = new Map();
  Object.assign(globalThis, {
    Node,
    document: {
      createElement: (/** @type {string} */ tag) => new Node(tag),
      createTextNode: (/** @type {string} */ text) => Object.assign(new Node("#text"), { text }),
    },
    ResizeObserver: class {
      observe() {}
    },
    requestAnimationFrame: (/** @type {() => void} */ act) => waiting.push(act),
  });
  return {
    frame() {
      const now = waiting;
      waiting = [];
      for (const act of now) act();
    },
    slot(name) {
      if (!slots.has(name)) slots.set(name, new Node("div"));
      return slots.get(name);
    },
  };
}
