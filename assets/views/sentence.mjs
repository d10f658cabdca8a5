// @ts-check
/** One sentence: what just happened, read from the recording; and every state that the page can be in. */

import { h, list, set, text } from "../lib/dom.mjs";
import * as read from "../lib/reads.mjs";
import { age, capital, figure, number, opName, percent, plural, probability, requestName, severalStacks, shown } from "../lib/words.mjs";

/** @typedef {import("../lib/types").World} World */
/** @typedef {{text: string, role?: "q" | "k" | "v" | "g" | "d" | "dim"}} Part */

/** @param {string} value @param {Part["role"]} [role] @returns {Part} */
const part = (value, role) => ({ text: value, role });
/** @param {string} token @param {Part["role"]} role */
const token = (token, role) => part(shown(token), role);

/** What the sentence slot says. Pure: `weight` gives the weights of the selected head, `now` the time in ms.
 * @param {World} world @param {(row: number, key: number) => number} weight @param {number} now
 * @returns {{parts: Part[], tone: "" | "bad" | "warn"}} */
export function sentence(world, weight, now) {
  const state = appState(world, now);
  if (state) return state;
  const parts = read.phase(world) === "train" ? training(world) : reading(world, weight);
  return { parts, tone: "" };
}

/** @param {World} world @param {number} now @returns {{parts: Part[], tone: "" | "bad" | "warn"} | null} */
function appState(world, now) {
  const refused = world.refused?.[0];
  const replay = replaying(world);
  if (world.connection === "closed") return { tone: "bad", parts: [part(`This session is closed. `), part(world.reason, "dim")] };
  if (world.connection === "offline") {
    const where = world.moved ? `Showing ${place(world)}, ${age(now - Number(world.reason))} old. ` : "";
    return { tone: "warn", parts: [part("Connection lost. "), part(`${where}Trying again by itself.`, "dim")] };
  }
  if (refused) {
    const more = world.refused && world.refused.length > 1 ? ` (and ${world.refused.length - 1} more)` : "";
    return { tone: "bad", parts: [part(refused.message + more)] };
  }
  if (replay !== null) return { tone: "", parts: [part("Replaying "), part(`… ${replay} %`, "dim")] };
  if (world.moved?.unreadable && read.phase(world) !== "train") {
    return { tone: "bad", parts: [part("There is no distribution to choose from: "), part(world.moved.unreadable), part(" is not finite. Go back, or take the edit back.")] };
  }
  if (world.notices.at(-1)?.code === "diverged") return { tone: "bad", parts: [part(`Training diverged at ${place(world)}. `), part(world.moved?.ended ? "It cannot go on from here." : "Going on will not mend it.", "dim")] };
  if (!world.opened || !world.moved) {
    return { tone: "", parts: [part("Starting the model. "), part("The set-up is ready to edit.", "dim")] };
  }
  return null;
}

/** How far the replay of a run is, in percent, or null where none is under way: what was told last is not what will stand then.
 * @param {World} world @returns {number | null} */
export function replaying(world) {
  const { replay } = world.analysis;
  return replay && replay.progress < 1 && (world.busy || !world.moved) ? Math.round(replay.progress * 100) : null;
}

/** Where the run stands, in two words: "decode 3", "update 412", "prefill".
 * @param {World} world */
export function place(world) {
  const name = read.phase(world);
  const step = world.moved?.step ?? 0;
  return name === "train" ? `update ${world.moved?.train?.update ?? step}` : name === "decode" ? `decode ${step}` : "prefill";
}

/** @param {World} world @param {(row: number, key: number) => number} weight @returns {Part[]} */
function reading(world, weight) {
  const view = read.requestView(world);
  if (!view || (view.source !== null && !view.source.length)) return [part("Type a source sentence to begin.")];
  if (view.finished && !world.look.lock) return ended(view);
  const requests = read.requests(world);
  if (read.before(world, "logits") && !world.look.lock) return operation(world, weight);
  if (read.phase(world) === "prefill" && requests.length > 1 && !world.look.lock) return decisions(requests);
  const said = readPart(world, weight);
  const lead = read.choice(view);
  const next = lead ? [token(lead.token, "d"), part(` leads at ${probability(lead.probability)}.`)] : [];
  if (said.length) return [...said, ...(next.length ? [part("; "), ...next] : [part(".")])];
  if (next.length) return [part(`${capital(place(world))}: `), ...next];
  if (world.moved.stage === "choose") return [part(`${capital(place(world))}: `), token(view.target.findLast((/** @type {any} */ r) => r.state !== "padded")?.token ?? "", "d"), part(" is chosen. Step reads its row.")];
  if (world.moved.stage === "encode") return [part(`${capital(place(world))}: the source is encoded. Step reads the target rows.`)];
  return [part(`${capital(place(world))}: nothing is computed yet. Step reads the known rows.`)];
}

/** At the op cursor: what this operation read, or that it was computed; nothing of what comes after it.
 * @param {World} world @param {(row: number, key: number) => number} weight @returns {Part[]} */
function operation(world, weight) {
  const all = read.operations(world);
  const op = world.look.op ?? "";
  const said = read.readAt(world.opened?.relations ?? [], op) ? readPart(world, weight) : [];
  if (said.length) return [...said, part(".")];
  return [part(`${capital(place(world))}: `), part(opName(op, severalStacks(all)), "k"), part(` is computed, operation ${all.indexOf(op) + 1} of ${all.length}.`)];
}

/** @param {World} world @param {(row: number, key: number) => number} weight @returns {Part[]} */
function readPart(world, weight) {
  const at = read.relation(world);
  if (!at) return [];
  const { row, key: locked } = read.focus(world);
  const keys = read.rows(world, at.info.key);
  const queries = read.rows(world, at.info.query);
  const top = read.reads(weight, row, keys.length)[0];
  const key = locked ?? top?.key;
  if (key === undefined || !queries[row] || !keys[key] || !Number.isFinite(weight(row, key))) return [];
  const owner = at.info.query === "s" ? "source" : "target";
  return [
    part(`Layer ${at.layer + 1} head ${at.head + 1}: ${owner} row ${row} `), token(queries[row].token, "q"), part(" takes "),
    part(percent(weight(row, key)), "v"), part(" from "), token(keys[key].token, "k"),
    ...(at.info.key === at.info.query && key === row ? [part(", itself")] : []),
  ];
}

/** @param {any} view @returns {Part[]} */
function ended(view) {
  const written = view.target.filter((/** @type {any} */ r) => r.origin === "model" || r.origin === "chosen").map((/** @type {any} */ r) => shown(r.token));
  const said = written.length > 7 ? `… ${written.slice(-6).join(" ")}` : written.join(" ") || "no word";
  const why = view.finished === "eos" ? "Finished: " : "Stopped at the limit: ";
  return [part(why), part(said, "q"), part("; probability of it all "), part(probability(Math.exp(number(view.log_probability))), "d"), part(".")];
}

/** @param {any[]} requests @returns {Part[]} */
function decisions(requests) {
  const known = requests.map((r, i) => ({ name: requestName(i), row: r.decision_row, lead: read.choice(r) })).filter((r) => r.lead);
  if (!known.length) return [part(`One pass over ${plural(requests.length, "request")}. Each is decided by its last valid row.`)];
  const each = known.slice(0, 3).flatMap((r, i) => [
    part(i ? `, ${r.name} ` : `${r.name} takes `), token(r.lead.token, "d"), part(known.length < 3 ? ` from its row ${r.row}` : ` (row ${r.row})`),
  ]);
  return [...each, part(known.length > 3 ? ", …: each by its last valid row." : ": each by its last valid row.")];
}

/** @param {World} world @returns {Part[]} */
function training(world) {
  const train = world.moved.train;
  const rows = read.trainRows(world);
  if (!train || !rows.length) return [part(`${capital(place(world))}: Step draws a batch.`)];
  const worst = read.hardest(world);
  if (worst === null) {
    const all = train.rows.flat();
    const counted = all.filter((/** @type {any} */ r) => r.counts).length;
    const pass = world.moved.stages.find((/** @type {any} */ s) => s.ms !== null && s.rows);
    const what = pass ? `one pass computed all ${plural(pass.rows, "row")}; ${counted} of them count` : `${plural(train.rows.length, "sequence")}, ${counted} of ${all.length} rows count`;
    return [part(`${capital(place(world))}: ${what} in the loss.`)];
  }
  const most = read.largest(rows, "gradient");
  const where = train.rows.length > 1 ? `${requestName(read.request(world))}, row` : "Row";
  const head = [part(`${where} ${worst} `), token(rows[worst].input, "q"), part(" found "), token(rows[worst].label, "d"), part(" hardest")];
  if (most === null) return [...head, part(`: loss ${figure(number(rows[worst].loss), 2)}.`)];
  if (most === worst) return [...head, part(" and has the largest "), part("gradient", "g"), part(".")];
  return [...head, part(`; row ${most} `), token(rows[most].input, "q"), part(" has the largest "), part("gradient", "g"), part(".")];
}

/** The small line under the sentence: the newest notice with its offer; else what a word became; else which weights these are.
 * @param {World} world @returns {{text: string, offer: any | null}} */
export function note(world) {
  const notice = world.notices.at(-1);
  if (world.moved?.unreadable && read.phase(world) !== "train") return { text: "Values that are not finite came from the weights or an edit.", offer: notice?.offer ?? { kind: "back" } };
  if (notice) return { text: notice.message, offer: notice.offer ?? null };
  const train = world.moved?.train;
  if (train && train.clip_factor !== null && train.norm !== null && read.phase(world) === "train") {
    const limit = world.opened?.scenario?.training?.clip_norm;
    const factor = number(train.clip_factor);
    const norm = figure(number(train.norm));
    const said = factor < 1 ? `is above ${limit}: this update is scaled by ${figure(factor)}` : limit === null ? "is not clipped" : `is within ${limit}: not clipped`;
    return { text: `Gradient norm ${norm} ${said}.`, offer: null };
  }
  const unknown = read.requestView(world)?.unknown ?? [];
  if (unknown.length) return { text: `Read as <unk>, because the vocabulary does not have it: ${unknown.map(shown).join(", ")}.`, offer: null };
  return { text: weightsNote(world.opened?.weights, world.moved?.updates ?? 0), offer: null };
}

/** Which weights are loaded.
 * @param {any} weights @param {number} updates made to them here @returns {string} */
export function weightsNote(weights, updates = 0) {
  if (!weights) return "";
  const source = weights.source ?? {};
  const from = [
    source.steps !== undefined ? plural(source.steps, "step") : "",
    source.loss !== undefined ? `loss ${figure(number(source.loss))}` : "",
    source.seed !== undefined ? `seed ${source.seed}` : "",
  ].filter(Boolean).join(", ");
  const since = updates ? `, then ${plural(updates, "update")} here` : "";
  const first = source.steps === undefined ? "random" : "trained";
  return `Weights: ${updates ? `changed here; before that ${first}` : weights.kind}${from && ` (${from})`}${since}.`;
}

/** What a button says that sends this command.
 * @param {any} command @param {Map<number, any>} history */
export function offerName(command, history) {
  const to = history.get(command.moment);
  /** @type {Record<string, string>} */
  const names = { back: "Back", undo: "Undo", reset: "Reset run", go: to?.phase === "train" ? `Back to update ${to.step}` : "Go back", change: "Mend it", open: "Begin anew", pause: "Pause" };
  return names[command.kind] ?? "Do it";
}

const ROLE = { q: "c-q mono", k: "c-k mono", v: "c-v num", g: "c-g", d: "c-d mono", dim: "dim" };

/** @type {import("../lib/types").View} */
export default {
  id: "sentence",
  title: "What just happened",
  slot: "sentence",
  phases: ["train", "prefill", "decode"],
  wants: (world) => (read.phase(world) === "train" ? [] : read.readSelectors(world).slice(0, 1)),

  mount(element) {
    element.append(
      h("p", { class: "say", "aria-live": "polite", "aria-atomic": "true" }),
      h("p", { class: "say-note" }, h("span"), h("button", { class: "btn sm", hidden: true })),
    );
  },

  draw(element, world, context) {
    const [say, under] = /** @type {any} */ (element.children);
    const said = sentence(world, read.readCells(world, "sentence"), Date.now());
    set(say, "aria-live", world.playing?.playing ? "off" : "polite");
    set(say, "data-tone", said.tone || null);
    list(say, said.parts, (_, i) => i, () => h("span"), (span, p) => {
      set(span, "class", p.role ? ROLE[p.role] : null);
      text(span, p.text);
    });
    set(say, "title", say.textContent);
    const extra = note(world);
    const button = under.lastElementChild;
    text(under.firstElementChild, extra.text);
    button.hidden = !extra.offer;
    if (extra.offer) {
      text(button, offerName(extra.offer, world.history));
      button.disabled = world.role === "reader" || world.connection !== "open";
      button.onclick = () => context.send(extra.offer);
    }
    again(element, world, () => this.draw(element, world, context));
  },
};

/** @type {WeakMap<HTMLElement, ReturnType<typeof setTimeout>>} */
const clocks = new WeakMap();

/** While the connection is lost, the age in the sentence goes on.
 * @param {HTMLElement} element @param {World} world @param {() => void} draw */
function again(element, world, draw) {
  clearTimeout(clocks.get(element));
  if (world.connection === "offline") clocks.set(element, setTimeout(draw, 1000));
}
