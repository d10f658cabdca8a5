// @ts-check
/** The panel in which a run is taken away or brought back, and files that are dropped on the page. */

import { copied } from "../copying.mjs";
import { h, set, text as put } from "../dom.mjs";
import { problem } from "../run/heard.mjs";
import { msg } from "../language.mjs";
import { shared, taken } from "../run/look.mjs";
import { opens } from "../run/opening.mjs";
import { copies } from "./copies.mjs";
import { fileName, LARGEST, readScenario, save, saveJson } from "./files.mjs";

/** @typedef {import("../run/run.mjs").Run} Run */

export class Share {
  /** @param {{run: Run, say: (text: string) => void, contents: (() => string[]) | null}} o contents: what a replay says of itself */
  constructor({ run, say, contents }) {
    this.run = run;
    this.say = say;
    this.contents = contents;
    /** What is being made, so that it can be cancelled. @type {AbortController | null} */
    this.making = null;
    this.file = h("input", { type: "file", accept: ".json,application/json", hidden: true, "aria-hidden": "true", tabindex: -1, onchange: () => this.picked() });
    this.said = h("p", { class: "note take-said", role: "status" });
    this.bar = h("progress", { class: "take-bar", max: 1, value: 0, "aria-label": msg`Saved so far` });
    this.cancel = h("button", { class: "btn sm", type: "button", onclick: () => this.making?.abort() }, msg`Cancel`);
    this.progress = h("div", { class: "take-progress" }, this.bar, this.cancel);
    this.rows = contents ? this.replayRows() : this.allRows();
    this.dialog = h("dialog", { class: "take-panel", "aria-labelledby": "take-title" },
      h("div", { class: "ph" }, h("h2", { class: "h", id: "take-title" }, contents ? msg`This is a recording` : msg`Share and save`), h("span", { class: "sp" }),
        h("button", { class: "btn sm", type: "button", onclick: () => this.dialog.close() }, msg`Close`)),
      this.rows, h("div", { class: "take-foot" }, this.said, this.progress), this.file);
    this.dialog.addEventListener("click", (/** @type {MouseEvent} */ e) => e.target === this.dialog && this.dialog.close());
    document.body.append(this.dialog);
    set(this.progress, "data-idle", true);
    if (!contents) this.listenToDrops();
    this.run.store.listen((parts) => ["role", "connection", "opened", "moved"].some((p) => parts.includes(p)) && this.dialog.open && this.may());
  }

  get world() {
    return this.run.store.world;
  }

  /** @param {string} name @param {string} note @param {...HTMLElement} buttons */
  row(name, note, ...buttons) {
    return h("div", { class: "take-row" }, h("div", null, h("h3", { class: "h3" }, name), h("p", { class: "note" }, note)), h("div", { class: "row" }, buttons));
  }

  /** @param {string} words @param {() => any} act @param {string} [need] what it needs: "run", "writer" or nothing @param {string} [name] for those who do not see what it stands beside */
  button(words, act, need = "run", name = words) {
    return h("button", { class: "btn sm", type: "button", "data-need": need, "aria-label": name, onclick: act }, words);
  }

  allRows() {
    return [
      this.row(msg`Link`, msg`Set-up, the steps of the line that is shown, and what is looked at.`, this.button(msg`Copy`, () => this.copyLink(), "run", msg`Copy link`)),
      this.row(msg`Scenario file`, msg`The same as a file, also where it is too long for a link. Open one here, or drop it on the page.`,
        this.button(msg`Open…`, () => this.file.click(), "writer", msg`Open scenario file`), this.button(msg`Save`, () => this.saveScenario(), "run", msg`Save scenario file`)),
      this.row(msg`Recording`, msg`Every tensor as numbers (safetensors), with path, axes, owner, type, phase and step.`,
        this.button(msg`This moment`, () => this.make("moment"), "make", msg`Save recording of this moment`), this.button(msg`Whole path`, () => this.make("path"), "make", msg`Save recording of the whole path`)),
      this.row(msg`Replay`, msg`A web page that plays this path without a server or network.`, this.button(msg`Save`, () => this.make("replay"), "make", msg`Save replay`)),
      ...(document.documentElement.dataset.page === "class" ? [] : [this.row(msg`Class`, msg`Teach with this run: students follow it on screens of their own.`, this.button(msg`Start a class`, () => this.teach()))]),
      (this.copies = this.row(msg`My copies`, msg`Runs that you went off with in a class, as long as this tab is open.`)),
    ];
  }

  replayRows() {
    this.about = h("div", { class: "take-about" });
    return [this.about, this.row(msg`Scenario file`, msg`Opens this run in Lookback, where it can be changed and goes on.`, this.button(msg`Save`, () => this.saveScenario(), "run", msg`Save scenario file`))];
  }

  open() {
    if (this.dialog.open) return this.dialog.close();
    if (this.contents) this.about?.replaceChildren(...this.contents().map((line) => h("p", { class: "note" }, line)));
    if (!this.making) put(this.said, "");
    if (this.copies) this.listCopies(this.copies);
    this.may();
    this.dialog.showModal();
  }

  /** What can be done now. */
  may() {
    const { connection, opened, moved, role } = this.world;
    const there = connection === "open" && !!opened && !!moved;
    for (const button of this.dialog.querySelectorAll("[data-need]")) {
      const { need } = button.dataset;
      button.disabled = !there || (need === "writer" && role !== "writer") || (need === "make" && !!this.making);
    }
  }

  /** @param {string} sentence */
  tell(sentence) {
    put(this.said, sentence);
    if (!this.dialog.open) this.say(sentence);
  }

  /** The run as it is now, as link and as file. */
  async shared() {
    if (this.contents) return { link: "", file: /** @type {any} */ (this.run.socket).file };
    const reply = await this.run.commands.share(shared(this.world.look));
    if (!reply.ok) throw new Error(reply.errors[0]?.message ?? msg`The server did not answer.`);
    return this.run.shared;
  }

  async copyLink() {
    try {
      const { link } = await this.shared();
      if (!link) return this.tell(msg`This run is too long for a link. Save its scenario file instead.`);
      if (await copied(new URL(`./${link}`, document.baseURI).href)) return this.tell(msg`The link is copied.`);
    } catch {
      return this.tell(msg`The link could not be made. Try again.`);
    }
    this.tell(location.hash ? msg`The browser does not let this page copy. The link is in the address bar.` : msg`The link could not be made. Try again.`);
  }

  /** The class page with a copy of this run. */
  async teach() {
    const { link } = await this.shared().catch(() => ({ link: "" }));
    if (link) location.assign(`class${link}`);
    else this.tell(msg`This run is too long for a link. Save its scenario file instead.`);
  }

  /** @param {HTMLElement} row */
  listCopies(row) {
    const all = copies();
    set(row, "hidden", !all.length);
    row.lastElementChild?.replaceChildren(...all.map((c) => h("a", { class: "btn sm", href: `./?session=${c.session}`, target: "_blank", rel: "noopener" }, c.at)));
  }

  async saveScenario() {
    try {
      const { file } = await this.shared();
      const name = `${fileName(this.world)}.json`;
      saveJson(name, file);
      this.tell(msg`Saved as ${name}.`);
    } catch (error) {
      this.tell(String(/** @type {Error} */ (error).message));
    }
  }

  // ---- files that the server makes

  /** @param {"moment" | "path" | "replay"} what */
  async make(what) {
    const making = (this.making = new AbortController());
    const name = `${fileName(this.world, what === "replay" ? "replay" : "")}.${what === "replay" ? "html" : "safetensors"}`;
    this.tell(msg`Making ${name}…`);
    this.shows(0);
    try {
      const made = await this.follow(await fetch(address(`api/sessions/${this.run.session}/files/${what}`), { method: "POST", signal: making.signal }));
      save(name, address(`api/files/${made.file}`));
      this.tell(msg`Saved as ${name} (${size(made.bytes)}).`);
    } catch (error) {
      const { message } = /** @type {Error} */ (error);
      this.tell(making.signal.aborted ? msg`Cancelled; nothing was saved.` : error instanceof TypeError ? msg`The server cannot be reached; nothing was saved.` : message);
    } finally {
      this.making = null;
      this.shows(null);
    }
  }

  /** Progress, line by line, to the end. @param {Response} response @returns {Promise<{file: string, bytes: number}>} */
  async follow(response) {
    const reader = /** @type {any} */ (response.body).pipeThrough(new TextDecoderStream()).getReader();
    for (let rest = ""; ; ) {
      const { done, value } = await reader.read();
      const lines = (rest + (value ?? "")).split("\n");
      rest = done ? "" : (lines.pop() ?? "");
      for (const line of lines.filter(Boolean)) {
        const told = JSON.parse(line);
        if (told.errors) throw new Error(problem(told.errors[0]).message);
        if (told.file) return told;
        this.shows(told.done / told.of);
      }
      if (done) throw new Error(msg`The server stopped in the middle; nothing was saved. Try again.`);
    }
  }

  /** @param {number | null} share */
  shows(share) {
    set(this.progress, "data-idle", share === null);
    if (share !== null) this.bar.value = share;
    this.may();
  }

  // ---- files that come in

  async picked() {
    const [file] = this.file.files;
    this.file.value = "";
    if (file) await this.openFile(file);
  }

  /** @param {File} file */
  async openFile(file) {
    this.dialog.close();
    const { run } = this;
    try {
      if (this.world.role !== "writer") throw new Error(msg`This page reads along; only the page in control opens a file.`);
      const content = readScenario(file.name, new Uint8Array(await file.slice(0, LARGEST + 1).arrayBuffer()), file.size);
      const reply = await opens(run, content);
      if (!reply.ok) return run.refuse(reply.errors.map((e) => ({ ...e, message: msg`“${file.name}” was not opened: ${e.message.replace(/\.?$/, ".")} Nothing was changed.` })));
      run.look(taken(content.view));
      run.store.set({ notices: [...this.world.notices, { code: "opened", message: msg`“${file.name}” is open.`, offer: { kind: "undo" }, at: this.world.moved?.at ?? null }] });
      this.say(msg`“${file.name}” is open. Undo brings the run before it back.`);
    } catch (error) {
      const { message } = /** @type {Error} */ (error);
      run.refuse([{ field: "file", given: file.name, allowed: msg`a scenario file`, message: /** @type {any} */ (error).name === "NotReadableError" || /** @type {any} */ (error).name === "NotFoundError" ? msg`“${file.name}” cannot be read (is it a folder?). Nothing was changed.` : message }]);
    }
  }

  listenToDrops() {
    const over = h("div", { class: "take-drop", "aria-hidden": "true", hidden: true }, msg`Drop a scenario file to open it`);
    document.body.append(over);
    const files = (/** @type {DragEvent} */ event) => !!event.dataTransfer?.types.includes("Files");
    const shows = (/** @type {boolean} */ on) => set(over, "hidden", !on);
    addEventListener("dragover", (event) => {
      if (!files(event)) return;
      event.preventDefault();
      shows(true);
    });
    addEventListener("dragleave", (event) => !event.relatedTarget && shows(false));
    addEventListener("drop", (event) => {
      if (!files(event)) return;
      event.preventDefault();
      shows(false);
      const dropped = [...(event.dataTransfer?.files ?? [])];
      if (dropped.length === 1) return this.openFile(dropped[0]);
      this.run.refuse([{ field: "file", given: dropped.length, allowed: msg`one file`, message: msg`${dropped.length} files were dropped; allowed: one scenario file at a time. Nothing was changed.` }]);
    });
  }
}

/** @param {string} path */
const address = (path) => new URL(path, document.baseURI).href;

/** @param {number} bytes */
const size = (bytes) => (bytes < 1e6 ? msg`${Math.max(1, Math.round(bytes / 1e3))} kB` : msg`${(bytes / 1e6).toFixed(1)} MB`);
