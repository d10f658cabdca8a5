// @ts-check
/** Requests that join and leave between two decode steps: how a turn is called, and one lane a request over the steps of the run. Pure. */

import { msg } from "../language.mjs";
import * as read from "../reads.mjs";
import { requestName } from "../words.mjs";

/** @typedef {import("../types").World} World @typedef {import("./moments.mjs").Node} Node */
/** One place of a lane, at one step of the run. kind: its prompt is read; a token that it wrote; what the next step takes; it holds its rows and takes
 * no step; it left; nothing. @typedef {{kind: "reads" | "token" | "chosen" | "next" | "holds" | "left" | "", text: string}} Cell */
/** rows: that it has now (0: freed). bytes: of what is kept, its share. off: what `batch = each request alone` measured of it here, or null.
 * @typedef {{request: number, name: string, here: boolean, finished: string, joined: number, left: number | null, rows: number, bytes: number, off: number | null, cells: Cell[]}} Lane */

/** Whether a request joined or left at this moment. @param {{command: string} | undefined} node */
export const isTurn = (node) => node?.command === "join" || node?.command === "leave";

/** @param {Node} node of a turn */
export const turnName = (node) => (node.command === "join" ? msg`${requestName(Number(node.label))} joins` : msg`${requestName(Number(node.label))} leaves`);

/** @param {any} row */
const wrote = (row) => row.origin === "model" || row.origin === "chosen";

/** How many rows of its own a request began with: its prompt, <bos> first. @param {any} view */
export const promptRows = (view) => view.target.filter((/** @type {any} */ r) => !wrote(r) && r.state !== "padded").length;

/** One lane for each request that ever took part. Columns are the prompt, then the steps of the run, then the next one.
 * @param {World} world @returns {{steps: number, lanes: Lane[]}} */
export function lanes(world) {
  const requests = world.moved?.requests ?? [];
  const chosen = world.moved?.stage === "choose" ? 1 : 0;
  const steps = (world.moved?.step ?? 0) + chosen;
  const bytes = (world.moved?.kept ?? []).reduce((/** @type {number} */ sum, /** @type {any} */ k) => sum + k.bytes, 0) / Math.max(1, read.presentCount(world));
  const found = world.analysis.batch_equals_alone?.result;
  const off = found && found.moment === world.moved?.at ? found.by_request : [];
  return { steps, lanes: requests.map((/** @type {any} */ view, /** @type {number} */ i) => lane(view, i, steps, bytes, off[i] ?? null)) };
}

/** @param {any} view @param {number} request @param {number} steps @param {number} bytes @param {number | null} off @returns {Lane} */
function lane(view, request, steps, bytes, off) {
  const here = !gone(view);
  const [joined, own] = [view.joined ?? 0, view.target.filter(wrote)];
  const cells = Array.from({ length: steps + 2 }, (_, at) => cell(view, at, joined, own, steps));
  const rows = here ? view.target.filter(read.known).length : 0;
  return { request, name: requestName(request), here, finished: view.finished, joined, left: view.left ?? null, rows, bytes: here ? bytes : 0, off, cells };
}

/** @param {any} view */
const gone = (view) => view.left !== null && view.left !== undefined;

/** @param {any} view @param {number} at column @param {number} joined @param {any[]} own what it wrote @param {number} steps @returns {Cell} */
function cell(view, at, joined, own, steps) {
  const row = own[at - joined - 1];
  if (at < joined) return { kind: "", text: "" };
  if (at === joined) return { kind: "reads", text: String(promptRows(view)) };
  if (row) return { kind: row.origin === "chosen" ? "chosen" : "token", text: row.token };
  if (gone(view)) return { kind: at === view.left + 1 ? "left" : "", text: "" };
  if (at <= steps || view.finished) return { kind: "holds", text: "" };
  const lead = read.choice(view);
  return lead ? { kind: "next", text: lead.token } : { kind: "", text: "" };
}
