// @ts-check
/** A replay: the page plays a recording that lies in it. Nothing here asks a server. */

import { counted, msg } from "../language.mjs";
import { taken } from "../run/look.mjs";
import { plotlyAt } from "../page/plotly.mjs";
import { Run } from "../run/run.mjs";
import { Tape, unpackRun } from "./tape.mjs";


export class Playback extends Run {
  /** @param {ConstructorParameters<typeof Run>[0]} o */
  constructor(o) {
    super(o);
    this.role = "reader";
    this.joining = true;
    this.guest = "recording";
    /** @type {any} */
    this.socket = { waiting: new Map(), ack() {}, probe() {}, connect() {}, send: async () => ({ ok: false, errors: [] }) };
    this.store.set({ recording: true, role: "reader" });
  }

  /** @override */
  async begin() {
    try {
      const frames = await unpackRun(bytesOf(document.getElementById("lookback-run")?.textContent ?? ""));
      this.socket = new Tape({ frames, onFrame: (frame) => this.frame(frame), onState: (state, reason) => this.state(state, reason) });
      this.socket.connect();
    } catch (error) {
      this.store.set({ connection: "closed", reason: msg`This replay cannot be played: ${String(/** @type {Error} */ (error).message)}` });
    }
  }

  /** @override */
  welcome() {
    this.onWelcome([]);
  }

  /** The look is that of the time when it was saved; after that this page's own. @override @param {any} event */
  opened(event) {
    const view = this.joining ? event.view : this.store.world.look;
    this.joining = true;
    super.opened({ ...event, view });
    this.joining = false;
  }

  /** What is in the file, and what is not. @returns {string[]} */
  contents() {
    const { moments } = /** @type {Tape} */ (this.socket);
    const holes = moments.filter((m) => m.hole).length;
    const trains = moments.some((m) => m.moved.phase === "train");
    return [
      msg`In it: ${counted(moments.length, "{0} moment", "{0} moments")} of one path, with every value that the model computed, in all layers and heads, as 16-bit floats (3 to 4 digits).`,
      holes ? msg`The values of ${counted(holes, "{0} moment", "{0} moments")} are left out, because the file would be too large; what was decided there and the checks are in it.` : "",
      trains ? msg`Gradients are in it as norms, and whole for scores; parameters are not in it.` : msg`Parameters are in it.`,
      msg`Not in it: other branches of the run, and the model itself. So nothing can be changed, chosen or trained here.`,
    ].filter(Boolean);
  }
}

/** @param {string} text base64 */
function bytesOf(text) {
  const raw = atob(text.trim());
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

/** The chart library, if the file has one, as an address. */
export async function inlineCharts() {
  const packed = document.getElementById("lookback-plotly")?.textContent ?? "";
  if (!packed) return;
  const stream = new Blob([bytesOf(packed)]).stream().pipeThrough(new DecompressionStream("gzip"));
  plotlyAt(URL.createObjectURL(new Blob([await new Response(stream).arrayBuffer()], { type: "text/javascript" })));
}
