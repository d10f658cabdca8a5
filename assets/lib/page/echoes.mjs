// @ts-check
/** A control that is told one value and at once another may still say the first, on a busy machine long after: nobody chose that. When a link was opened,
 * such an echo of the page's own first scenario changed the run. */

const LASTS = 1500; // ms

export class Echoes {
  constructor() {
    /** @type {Map<string, {value: string, at: number}>} */
    this.last = new Map();
  }

  /** The page told a control something else. @param {string} place @param {string} value what it showed until now @param {number} now in ms */
  gone(place, value, now) {
    this.last.set(place, { value, at: now });
  }

  /** @param {string} place @param {string} value what the control says @param {number} now in ms */
  has(place, value, now) {
    const last = this.last.get(place);
    return last?.value === value && now - last.at < LASTS;
  }
}
