// @ts-check
/** The stage with a class around it: one teaches, or follows, or says first which. */

import { msg } from "../lib/language.mjs";
import { bar, button, gap, sentence } from "./bar.mjs";
import { Gate } from "./gate.mjs";
import { keep, kept } from "./kept.mjs";
import { Learning } from "./learning.mjs";
import { Room } from "./room.mjs";
import { Teaching } from "./teaching.mjs";

/** The address that students open, as one says it. */
const joinAt = () => new URL("class", document.baseURI).href.replace(/^https?:\/\//, "");

function address() {
  const url = new URL("ws/class", document.baseURI);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  return url.href;
}

/** @param {any} page the store, the run, what a person can do, the views, and where a sentence is said
 * @returns {"later" | void} later: the run begins when one knows which */
export function begin(page) {
  const code = new URLSearchParams(location.search).get("code") ?? "";
  const known = kept();
  if (known) delete document.documentElement.dataset.class; // a stage comes
  if (known?.as === "teacher" && !code) {
    if (known.here) Object.assign(page.run, { guest: known.session, aside: true });
    return teach(page, known);
  }
  if (known?.as === "student" && (!code || same(code, known.code))) again(page, known);
  else enter(page, code);
  return "later";
}

/** Who was in a class comes back to it; where it is not there, he is asked as at first. @param {any} page @param {import("./kept.mjs").Learnt} known */
function again(page, known) {
  /** @type {Gate | null} */
  let gate = null;
  join(page, known, (errors) => (gate ??= enter(page, known.code, known.name)).refused(errors), () => gate?.end());
}

/** @param {string} one @param {string} other code: capitals, hyphen and spaces do not matter */
const same = (one, other) => [one, other].map((c) => c.toUpperCase().replace(/[^A-Z0-9]/g, "")).every((c, _, all) => c === all[0]);

/** @param {any} page @param {Partial<import("./kept.mjs").Taught>} known */
function teach(page, known) {
  const over = () => {
    document.documentElement.dataset.class = "over";
    bar("follow", sentence(msg`The class is over. This run stays yours.`), gap(), button(msg`Start another class`, () => location.assign("class"), "solid"));
  };
  new Teaching({ page, address: address(), joinAt: joinAt(), code: known.code, key: known.key, session: known.session, over });
}

/** @param {any} page @param {string} code @param {string} [name] @returns {Gate} */
function enter(page, code, name = "") {
  document.documentElement.dataset.class = "gate"; // as in the HTML, and again
  const gate = new Gate({
    code, name,
    start() {
      gate.end();
      teach(page, {});
      page.run.begin();
    },
    join: (typed, name) => join(page, { as: "student", code: typed, name, token: "", own: "", base: "" }, (errors) => gate.refused(errors), () => gate.end()),
  });
  return gate;
}

/** @param {any} page @param {import("./kept.mjs").Learnt} known @param {(errors: any[]) => void} refused @param {() => void} [entered] */
function join(page, known, refused, entered = () => {}) {
  /** @type {Learning | null} */
  let learning = null;
  const hello = () => ({ kind: "join", code: known.code, name: known.name, ...(known.token ? { token: known.token } : {}) });
  const room = new Room({ address: address(), hello, onMessage, onState: (state, reason) => (learning ? learning.draw() : state !== "open" && waits(reason)) });
  const leave = () => location.assign("class");
  /** @param {any} message */
  function onMessage(message) {
    if (!learning && message.kind === "refused") {
      room.end();
      if (known.token && message.errors.some((/** @type {any} */ e) => e.field === "token")) keep(null); // he was taken out
      return refused(message.errors);
    }
    if (!learning && message.kind === "joined") {
      entered();
      keep(Object.assign(known, { code: message.code, name: message.name, token: message.token }));
      learning = new Learning({ page, room, kept: known, session: message.session, leave });
    }
    learning?.heard(message);
  }
  /** @param {string} reason */
  const waits = (reason) => refused([{ field: "connection", message: reason || msg`The server cannot be reached; it is tried again.` }]);
  room.connect();
}
