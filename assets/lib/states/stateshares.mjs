// @ts-check
/** Below the strips of a state that is kept in part and written to at each step: how much of the state before stayed, how much faded,
 * how much was written, as lengths of vectors. */

import * as draw from "../canvas.mjs";
import { msg } from "../language.mjs";
import { compact } from "../words.mjs";

/** @typedef {import("./tapes.mjs").Tape} Tape @typedef {import("./statestrips.mjs").Strips} Strips */
/** ‖S₋₁‖, ‖a S₋₁‖ and ‖w‖ of a step. @typedef {{before: number, kept: number, written: number}} Share */

/** One for each column; null where a state is not kept by a gate of its own. The state before row 0 is 0. Pure.
 * @param {Tape[]} tapes @param {Strips["columns"]} columns @param {(tape: number, row: number, unit: number) => number} value @param {number} width
 * @returns {(Share | null)[] | null} */
export function sharesOf(tapes, columns, value, width) {
  const [state, kept, written] = ["state", "kept", "written"].map((name) => tapes.findIndex((t) => t.name === name && t.channel));
  if (state < 0 || kept < 0 || written < 0) return null;
  const norm = (/** @type {(unit: number) => number} */ of) => Math.hypot(...Array.from({ length: width }, (_, u) => of(u)));
  return columns.map((c, t) => {
    if (c !== "ok") return null;
    const before = (/** @type {number} */ u) => (t ? value(state, t - 1, u) : 0);
    return { before: norm(before), kept: norm((u) => before(u) * value(kept, t, u)), written: norm((u) => value(written, t, u)) };
  });
}

/** @param {CanvasRenderingContext2D} g @param {Strips} s @param {number} t */
export function shareBars(g, s, t) {
  const { geo, y } = s;
  const [base, room] = [baseOf(s), y.below - 15];
  const share = s.shares?.[t];
  const [x, w] = [geo.x(t) + geo.slot * 0.16, geo.slot * 0.3];
  if (!share) return s.columns[t] === "later" ? draw.dashed(g, geo.x(t) + 3, base - room, geo.slot - 6, room - 1, 2) : undefined;
  const tall = (/** @type {number} */ v) => (Number.isFinite(v) ? (room * v) / s.mostShare : 0);
  const [kept, before, written] = [share.kept, share.before, share.written].map(tall);
  g.fillStyle = draw.css("--ink-3");
  g.fillRect(x, base - kept, w, kept);
  if (before - kept > 1) draw.dashed(g, x + 0.5, base - before, w - 1, before - kept, 1);
  g.fillStyle = draw.css("--v-fill");
  g.fillRect(x + w + 2, base - Math.max(1, written), w, Math.max(1, written));
  if (geo.slot > 40) draw.label(g, compact(share.written), x + 1.5 * w + 2, base - written - 7, { size: 10.5, mono: true, weight: t === s.row ? 700 : 520, align: "center", color: "--v" });
}

/** What the bars are. @param {CanvasRenderingContext2D} g @param {Strips} s @param {number} width */
export function shareLabel(g, s, width) {
  const base = baseOf(s);
  g.fillStyle = draw.css("--line-2");
  g.fillRect(s.geo.left, base, width - s.geo.left, 1);
  if (s.geo.small) return;
  const line = (/** @type {number} */ y) => base - s.y.below + y;
  const said = /** @type {[string, number, number, "kept" | "faded" | "written"][]} */ ([[msg`kept`, 0, 14, "kept"], [msg`faded`, 52, 14, "faded"], [msg`written`, 0, 30, "written"]]);
  for (const [words, x, y, kind] of said) {
    if (kind === "faded") draw.dashed(g, x, line(y) - 4.5, 9, 9, 1);
    else {
      g.fillStyle = draw.css(kind === "kept" ? "--ink-3" : "--v-fill");
      g.fillRect(x, line(y) - 5, 10, 10);
    }
    draw.label(g, words, x + 14, line(y), { size: 11, color: "--ink-2" });
  }
  draw.label(g, "‖S‖", 72, line(30), { size: 11, mono: true, color: "--ink-3" });
}

/** @param {Strips} s */
const baseOf = (s) => s.y.top + s.tapes.length * s.y.each + s.y.below;
