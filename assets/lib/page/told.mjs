// @ts-check
/** What the page tells its controls to show, and which of the values that they say a person chose.
 *
 * A control of Mantine keeps a copy of its value and says it again a moment after it was told. Told something else meanwhile, it
 * says the earlier value, then the later one: two choices that nobody made. So a value that the page told is a person's only if
 * a person touched the control since. */

const SOON = 300; // ms
/** A list of options lies outside its control. */
const LIST = "[role=listbox]";

export class Told {
  /** @param {{set: (id: any, props: Record<string, any>) => void, now?: () => number, later?: (act: () => void) => any}} o set: gives a control its properties */
  constructor({ set, now = () => performance.now(), later = (act) => setTimeout(act, SOON) }) {
    this.set = set;
    this.now = now;
    this.later = later;
    /** What each property was told last, or a person made it, as text. @type {Map<string, string>} */
    this.last = new Map();
    /** When a control was told a value. @type {Map<string, number>} */
    this.at = new Map();
    /** When a person touched what has this id, or an option. @type {Map<string, number>} */
    this.touches = new Map();
  }

  /** Look at what a person does. @param {EventTarget} target */
  listen(target) {
    for (const kind of ["pointerdown", "keydown", "click", "input"]) target.addEventListener(kind, (event) => this.touch(event.composedPath()), true);
  }

  /** @param {any[]} path from what a person touched, up */
  touch(path) {
    for (const e of path) {
      const name = e.matches?.(LIST) ? LIST : e.id;
      if (name) this.touches.set(name, this.now());
    }
  }

  /** Tell a control what to show, where it shows something else: telling it makes Dash draw it and call its binding, which
   * knows by `data-told` that no person did this.
   * @param {any} id @param {Record<string, any>} props */
  tell(id, props) {
    const fresh = Object.fromEntries(Object.entries(props).filter(([name, value]) => this.last.get(placeOf(id, name)) !== JSON.stringify(value)));
    for (const [name, value] of Object.entries(fresh)) {
      this.last.set(placeOf(id, name), JSON.stringify(value));
      if (name === "value") fresh["data-told"] = this.marked(id, value);
    }
    if (Object.keys(fresh).length) this.set(id, fresh);
  }

  /** Whether a person made a control say this value. @param {any} id @param {any} value @param {string | undefined} told its `data-told` */
  chose(id, value, told) {
    const said = JSON.stringify(value);
    if (told === said) return false;
    if (this.echo(id, said)) {
      this.later(() => this.again(id));
      return false;
    }
    this.last.set(placeOf(id, "value"), said);
    this.set(id, { "data-told": said });
    return true;
  }

  /** @param {any} id @param {string} said */
  echo(id, said) {
    const at = this.at.get(placeOf(id, said));
    return at !== undefined && at >= Math.max(this.touches.get(id) ?? -1, this.touches.get(LIST) ?? -1);
  }

  /** What a control was told last, once more. @param {any} id */
  again(id) {
    const value = JSON.parse(this.last.get(placeOf(id, "value")) ?? "null");
    this.set(id, { value, "data-told": this.marked(id, value) });
  }

  /** @param {any} id @param {any} value */
  marked(id, value) {
    const said = JSON.stringify(value);
    this.at.set(placeOf(id, said), this.now());
    return said;
  }
}

/** @param {any} id @param {string} name */
const placeOf = (id, name) => `${id} ${name}`;
