// @ts-check
/** Before the first values: the places of the stage are there, faint, with one line that says what is awaited and about how long. */

import { text as put } from "../dom.mjs";
import { msg } from "../language.mjs";
import { PAGE } from "../run/addressbar.mjs";
import { lasting } from "../storage.mjs";

const KEY = "lookback-start-ms";
/** The line tells a time when it takes longer than this, ms. */
const PATIENCE = 1000;

export class Cold {
  /** @param {HTMLElement} line @param {() => number} [now] ms since the page began */
  constructor(line, now = () => performance.now()) {
    this.line = line;
    this.now = now;
    /** @type {any} */
    this.timer = 0;
    document.documentElement.toggleAttribute("data-cold", true);
    this.tell();
  }

  tell() {
    put(this.line, coldWords(this.now(), Number(lasting.getItem(KEY)) || null));
    this.timer = setTimeout(() => this.tell(), PATIENCE);
  }

  /** The first values are here. */
  end() {
    clearTimeout(this.timer);
    document.documentElement.removeAttribute("data-cold");
    put(this.line, "");
    lasting.setItem(KEY, String(Math.round(this.now())));
  }
}

/** @param {number} since ms @param {number | null} usual how long the last start took, ms */
export function coldWords(since, usual) {
  const said = PAGE ? msg`Starting the model.` : msg`Starting the model. The set-up can be edited meanwhile.`;
  if (since < PATIENCE) return said;
  const left = usual === null ? 0 : Math.ceil((usual - since) / 1000);
  return `${said} ${left > 0 ? msg`About ${left} s more, as last time.` : msg`${Math.round(since / 1000)} s so far.`}`;
}
