// @ts-check
/** Fields of the set-up: what a person sets is told apart from what the page made a control show, and a number that is being typed waits. */

const PAUSE = 350;

/** @typedef {{id: any, path: string, as: string}} Field */

export class Fields {
  /** @param {Field[]} fields @param {(path: string, value: any) => any} commit */
  constructor(fields, commit) {
    this.kinds = new Map(fields.map((f) => [f.path, f.as]));
    this.commit = commit;
    /** Numbers that a person set and that were not sent yet. @type {Map<string, any>} */
    this.waiting = new Map();
    /** Keys are going into a number: it is done with Enter or when it is left. */
    this.typing = false;
    this.timer = 0;
  }

  listen() {
    addEventListener("keydown", (event) => isNumber(event.target) && this.key(event.key), true);
    addEventListener("pointerdown", () => (this.typing = false), true);
    addEventListener("focusout", () => this.done(), true);
  }

  /** @param {string} key */
  key(key) {
    if (key === "Enter") this.done();
    else if (key.length === 1 || key === "Backspace" || key === "Delete") this.typing = true;
    else if (key.startsWith("Arrow")) this.typing = false;
  }

  done() {
    this.typing = false;
    this.flush();
  }

  /** @param {string} path @param {any} value */
  put(path, value) {
    if (this.kinds.get(path) !== "number") return this.commit(path, value);
    this.waiting.set(path, value);
    clearTimeout(this.timer);
    if (!this.typing) this.timer = /** @type {any} */ (setTimeout(() => this.flush(), PAUSE));
  }

  flush() {
    clearTimeout(this.timer);
    const now = [...this.waiting];
    this.waiting.clear();
    for (const [path, value] of now) this.commit(path, value);
  }
}

/** @param {any} target */
const isNumber = (target) => !!target?.closest?.(".mantine-NumberInput-root");
