// @ts-check
/** A run in the browser's address and in the history of its tab: each entry keeps its run, and the link says what is shown. */

import { msg } from "../language.mjs";
import { isLink, unpack } from "./link.mjs";
import { shared, taken } from "./look.mjs";
import { passing } from "../storage.mjs";

/** A tab keeps one run for the stage, and one for each page that is the stage with something beside it. */
export const PAGE = globalThis.document?.documentElement.dataset.page ?? "";
const SESSION = `lookback-session${PAGE && `-${PAGE}`}`;
const LINK = `lookback-link${PAGE && `-${PAGE}`}`;
const SHARE_AFTER = 500;

export class AddressBar {
  /** @param {import("./run.mjs").Run} run */
  constructor(run) {
    this.run = run;
    /** What waits a moment, so that many changes are told once. @type {any} */
    this.timer = 0;
  }

  /** The run of this entry of the tab's history; a link that is new to the tab begins another run and leaves that one as it is.
   * @returns {string} */
  session() {
    const other = isLink(location.hash) && location.hash !== passing.getItem(LINK);
    return history.state?.session ?? (other ? "" : passing.getItem(SESSION)) ?? "";
  }

  /** Open the run of the address. @returns {Promise<boolean>} */
  async follow() {
    if (!isLink(location.hash)) return false;
    const fragment = location.hash;
    try {
      const content = await unpack(fragment);
      const reply = await this.run.commands.open(content.scenario, content.log ?? []);
      if (!reply.ok) {
        this.run.refuse(reply.errors.map((e) => ({ ...e, message: msg`This link was not opened: ${e.message.replace(/\.?$/, ".")} A newer Lookback may have made it.` })));
        return this.unfollow();
      }
      passing.setItem(LINK, fragment);
      this.run.look(taken(content.view));
      return true;
    } catch (error) {
      this.unreadable(/** @type {any} */ (error));
      return this.unfollow();
    }
  }

  /** @param {Error} error of a link */
  unreadable({ message }) {
    this.run.refuse([{ field: "link", given: "", allowed: msg`a link made by Lookback`, message }]);
  }

  /** The address again says what is shown. @returns {false} */
  unfollow() {
    history.replaceState({ session: this.run.session }, "", passing.getItem(LINK) || location.pathname + location.search);
    return false;
  }

  /** This tab and this entry of its history belong to this run. */
  remember() {
    passing.setItem(SESSION, this.run.session);
    history.replaceState({ ...history.state, session: this.run.session }, "");
  }

  /** The server does not have this run any more. */
  forget() {
    passing.removeItem(SESSION);
    history.replaceState(null, "");
  }

  /** The person went to another entry of the tab's history, or opened another link in it. Each run keeps its session, so that going back
   * finds it with all its lines; a link is looked at before the page leaves for it. */
  async travelled() {
    if (this.run.aside) return;
    const session = history.state?.session;
    if (session === this.run.session) return;
    if (session) return this.leaveFor(session);
    if (!isLink(location.hash)) return void this.unfollow();
    try {
      await unpack(location.hash);
      return this.leaveFor("");
    } catch (error) {
      this.unreadable(/** @type {any} */ (error));
    }
    this.unfollow();
  }

  /** Load the page for another run: an earlier one of this tab, or ("") a new one for the link in the address.
   * @param {string} session */
  leaveFor(session) {
    if (session) passing.setItem(SESSION, session);
    else passing.removeItem(SESSION);
    passing.setItem(LINK, session ? location.hash : "");
    location.reload();
  }

  /** What is shown changed and settled: soon the address says so too. */
  changed() {
    if (this.run.aside) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.timer = 0;
      const { world } = this.run.store;
      if (world.connection === "open" && world.opened && !world.playing.playing) this.run.commands.share(shared(world.look));
    }, SHARE_AFTER);
  }

  /** @param {string} link empty when the run is too long for one */
  linked(link) {
    if (this.run.aside || history.state?.session !== this.run.session) return; // or the person has gone to another run's entry
    if (link !== location.hash) history.replaceState({ session: this.run.session }, "", link || location.pathname + location.search);
    passing.setItem(LINK, link);
  }
}
