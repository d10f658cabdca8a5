// @ts-check
/** Opening a run that is here as a whole: from a file, or as a copy of another. */

import { problem } from "./heard.mjs";
import { msg } from "../language.mjs";

/** @typedef {{scenario: any, log?: any[], view?: any}} Content */

/** A run of more bytes does not fit a message and is sent by HTTP (LARGEST_OPEN in app/session/commands.py). */
const LARGEST_OPEN = 60_000;

/** A run is refused as a whole: no field of the page holds what it was given, so none says so.
 * @template {{ok: boolean, errors: any[]}} R @param {R} reply @returns {R} */
export const whole = (reply) => ({ ...reply, errors: reply.errors.map((e) => (e.field in ITS_OWN ? e : { ...e, field: `open.${e.field}` })) });
/** What is refused of any command. */
const ITS_OWN = { connection: true, cancel: true };

/** @param {import("./run.mjs").Run} run @param {Content} content @returns {Promise<import("./socket.mjs").Reply>} */
export async function opens(run, { scenario, log = [] }) {
  const body = JSON.stringify({ scenario, log });
  if (new TextEncoder().encode(body).length <= LARGEST_OPEN) return run.commands.open(scenario, log);
  const reply = await run.during(() => sent(run, body));
  if (reply.ok) run.store.set({ refused: null });
  return reply;
}

/** @param {import("./run.mjs").Run} run @param {string} body */
async function sent(run, body) {
  const address = new URL(`api/sessions/${run.session}/open?${new URLSearchParams({ client: run.client })}`, document.baseURI);
  const response = await fetch(address, { method: "POST", body, headers: { "content-type": "application/json" } }).catch(() => null);
  if (!response) return { ok: false, errors: [{ message: msg`the server cannot be reached.` }] };
  return response.ok ? { ok: true, errors: [] } : whole({ ok: false, errors: (await response.json()).errors.map(problem) });
}
