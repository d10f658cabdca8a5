// @ts-check
/** When: the calls of this pass (in training the stages of this update) as blocks with the branches under them, the whole line as a
 * bar to drag along, and the operations inside the current step. */

import { laid, NOTHING_HELD, placesFor, settle, stages, steps, timed, underEachOther } from "../lib/deck/blocks.mjs";
import { boxOf } from "../lib/canvas.mjs";
import { h, hide, list, set, text } from "../lib/dom.mjs";
import { counted, msg } from "../lib/language.mjs";
import { alternatives, line, lineCount, lineEnd, pass } from "../lib/deck/moments.mjs";
import { callName, lookAt, lookAway, operations, seen } from "../lib/deck/ops.mjs";
import { paced } from "../lib/run/paced.mjs";
import { within } from "../lib/draw/pan.mjs";
import { drags, pans } from "../lib/deck/hauling.mjs";
import { drawLanes, lanesSheet } from "../lib/deck/lanes.mjs";
import * as read from "../lib/reads.mjs";
import { scrubber } from "../lib/deck/scrub.mjs";
import { drawLines, drawStops, linesSheet, named, opener, placeOf, stopsSheet } from "../lib/deck/sheets.mjs";
import { has, label, toggled } from "../lib/deck/stops.mjs";
import { drawPins, pinned } from "../lib/deck/pins.mjs";
import { symbols } from "../lib/deck/symbols.mjs";
import { math } from "../lib/page/math.mjs";
import { capital, shown } from "../lib/words.mjs";

/** @typedef {import("../lib/types").World} World @typedef {import("../lib/types").Context} Context @typedef {import("../lib/types").PlayStop} PlayStop */
/** @typedef {import("../lib/deck/blocks.mjs").Block} Block @typedef {import("../lib/deck/moments.mjs").Stop} Stop */

/** What the view keeps between draws: settled widths, how far it is scrolled, what is placed.
 * @typedef {object} Kept @property {World | null} world @property {import("../lib/deck/blocks.mjs").Held} held
 * @property {number} left @property {string} at @property {PlayStop[] | null} stops @property {Block[]} blocks @property {any} parts */
/** @type {WeakMap<HTMLElement, Kept>} */
const keeps = new WeakMap();

/** What the bar calls a place. @param {Stop} stop @param {number} i @param {number} all */
const said = (stop, i, all) => [capital(placeOf(stop.node)), stop.node.label && stop.node.phase !== "train" ? shown(stop.node.label) : "", msg`${i + 1} of ${all}`].filter(Boolean).join(", ");

/** What a screen reader hears before and after what stands in a block. Pure.
 * @param {Block} b @returns {[string, string]} */
export function spoken(b) {
  const free = b.title || b.token ? "" : msg`free`;
  if (b.state === "now") return [msg`Here: `, ""];
  if (b.node !== null) return [msg`Go to `, ""];
  return [free, b.state === "todo" ? msg`, not run yet` : b.state === "never" ? "" : msg`, done inside one step`];
}

/** @type {import("../lib/types").View} */
export default {
  id: "track",
  title: "Timeline",
  slot: "track",
  phases: ["train", "prefill", "decode"],
  wants: () => [],

  mount(element, context) {
    /** @type {Kept} */
    const kept = { world: null, held: NOTHING_HELD, left: 0, at: "", stops: null, blocks: [], parts: {} };
    keeps.set(element, kept);
    const go = paced((/** @type {number} */ moment) => context.send({ kind: "go", moment }));
    const bar = scrubber({ name: () => msg`The whole line: drag to go through its moments`, go });
    const requests = opener("requests", lanesSheet());
    set(requests.sheet, "class", "sheet wide");
    const stops = opener("stops", stopsSheet(context, () => /** @type {World} */ (kept.world)));
    const branches = opener("lines", linesSheet());
    const track = h("div", { class: "track" }, h("ol"));
    kept.parts = { track, bar, requests, stops, branches };
    element.append(bar.element, track,
      h("div", { class: "ops" }, h("span", { class: "lab" }), h("span", { class: "op-list", role: "group", "aria-label": msg`Operations inside this step` }), h("span", { class: "op-next" }, msg`choose`), requests.button, stops.button, branches.button),
      requests.sheet, stops.sheet, branches.sheet);
    pans(track, kept, () => element.dispatchEvent(new Event("box")));
    drags(track, kept, able, go);
  },

  draw(element, world, context) {
    const kept = /** @type {Kept} */ (keeps.get(element));
    const { track, bar, requests, stops, branches } = kept.parts;
    kept.world = world;
    const head = lineEnd(world, world.line);
    kept.held = settle(kept.held, world);
    const training = read.phase(world) === "train";
    const room = boxOf(track)[0] - 4; // its padding, where outlines of a focus have their place
    const all = world.moved ? line(world.history, world.moved.at, head) : [];
    const part = pass(all);
    const placed = training ? timed(stages(world, head, kept.held), room) : laid(steps(world, part, placesFor(room)), room);
    kept.blocks = placed.blocks;
    drawTrack(track, placed, room, kept, world, context);
    const range = visible(placed.blocks, kept.left, room, all, training);
    bar.show({ over: training ? null : over(placed.blocks, all, room), count: all.length, moment: (/** @type {number} */ i) => all[i].node.id, said: (/** @type {number} */ i) => said(all[i], i, all.length), at: all.findIndex((s) => s.state === "now"), seen: range, marks: signs(all, world), able: able(world) });
    drawOps(element.querySelector(".ops"), world, context);
    drawLanes(requests, world, context);
    const count = world.look.stops.length;
    entitle(stops.button, count, `${counted(count, "Play stops at {0} place of yours", "Play stops at {0} places of yours")}; ${training ? msg`add one: after an update, or where the loss passes a value` : msg`add one: after a step, or where a token is chosen`}`);
    drawStops(stops.sheet, world, context);
    const more = lineCount(world.history);
    entitle(branches.button, more, counted(more, "This run has {0} line", "This run has {0} lines"));
    tellStops(kept, world, context);
    return drawLines(branches.sheet, world, context, head ?? 0);
  },

  table(world) {
    const nodes = [...world.history.values()];
    return { columns: [msg`moment`, msg`parent`, msg`phase`, msg`step`, msg`stage`, msg`label`, msg`set anew`], rows: nodes.map((n) => [n.id, n.parent, n.phase, n.step, n.stage, n.label, n.changed ?? ""]) };
  },
};

/** @param {World} world */
const able = (world) => (world.role === "writer" || world.recording) && world.connection === "open";

/** @param {any} track @param {{blocks: Block[], width: number}} placed @param {number} room @param {Kept} kept @param {World} world @param {Context} context */
function drawTrack(track, placed, room, kept, world, context) {
  const ground = track.firstElementChild;
  const training = read.phase(world) === "train";
  set(ground, "aria-label", training ? msg`Stages of this update; a block is as wide as its time` : msg`Steps of this run; a block is as wide as its rows`);
  pixels(ground, "width", Math.max(room, placed.width));
  follow(track, placed, room, kept, world);
  const near = placed.blocks.filter((b) => b.left + b.width > kept.left - room && b.left < kept.left + 2 * room);
  const back = placed.blocks[0]?.earlier ?? null, holds = back === null ? null : near.find((b) => b.left >= kept.left && !b.others.length);
  const pins = pinned(world, placed.blocks);
  list(ground, near, (b) => b.key, block, (li, b) => {
    fill(li, b, world, context, b === holds ? back : null);
    drawPins(li, b, pins.get(b.key));
  });
}

/** Keep the current block in sight when it changes, with places before and after it.
 * @param {any} track @param {{blocks: Block[], width: number}} placed @param {number} room @param {Kept} kept @param {World} world */
function follow(track, placed, room, kept, world) {
  const now = placed.blocks.find((b) => b.state === "now");
  const name = `${world.moved?.at} ${room} ${read.phase(world)}`;
  if (kept.at === name || !now) return;
  kept.at = name;
  const left = Math.max(0, Math.min(Math.max(0, placed.width - room), within(kept.left, room, now.left - room / 9, now.left + now.width + room / 6)));
  if (left === kept.left) return;
  kept.left = left;
  queueMicrotask(() => (track.scrollLeft = left)); // when all is drawn: a scroll in the middle would lay the page out once more
}

/** @returns {HTMLElement} */
const block = () =>
  h("li", { class: "blk" },
    h("button", { class: "blk-go", type: "button" }, h("span", { class: "sr" }), h("span"), h("b"), h("small"), h("span", { class: "sr" }), h("span", { class: "blk-rows", "aria-hidden": "true" })),
    dot("blk-stop"), h("div", { class: "blk-forks" }, h("button", { class: "fork", type: "button", hidden: true }), h("button", { class: "fork more", type: "button", hidden: true })));

const WORD = 6; // letters that fit a block at full size

/** @param {any} li @param {Block} b @param {World} world @param {Context} context @param {number | null} back to an earlier pass: the way stands under the first block in sight */
function fill(li, b, world, context, back) {
  const [go, stop, forks] = li.children;
  const kind = b.kind === "stage" ? "of-update" : b.kind; // "stage" is the page's middle column
  set(li, "class", `blk ${kind} ${b.state}${b.cut ? " cut" : ""}${b.note && b.width >= 80 + 6 * b.note.length ? "" : " brief"}`);
  pixels(li, "left", b.left);
  pixels(li, "width", b.width);
  const [lead, after] = spoken(b);
  [lead, b.title, underEachOther(b.token, read.requestCount(world)), b.note, after].forEach((word, i) => text(go.children[i], word));
  set(go.children[2], "data-lines", read.requestCount(world) > 1 || b.token.length > WORD ? "" : null);
  set(go, "title", [b.title || b.token, b.note].filter(Boolean).join(": ") || null);
  set(go, "aria-current", b.state === "now" ? "step" : null);
  set(go, "disabled", b.node === null || !able(world));
  const ticks = b.kind === "stage" ? 0 : Math.min(b.size, 24, Math.floor(b.width / 5));
  if (go.lastElementChild.childElementCount !== ticks) go.lastElementChild.replaceChildren(...Array.from({ length: ticks }, () => h("i")));
  go.onclick = () => b.node !== null && b.state !== "now" && context.send({ kind: "go", moment: b.node });
  stopper(stop, b.stop, world, context);
  set(li, "data-stop", b.stop && JSON.stringify(b.stop));
  drawForks(forks, b, world, context, back);
}

/** B is its key: it takes no focus, so that Space goes on to play. @param {string} name */
const dot = (name) => h("button", { class: name, type: "button", tabindex: -1, onmousedown: (/** @type {Event} */ event) => event.preventDefault() });

/** The dot that sets or removes a stop.
 * @param {any} button @param {PlayStop | null} stop @param {World} world @param {Context} context */
function stopper(button, stop, world, context) {
  hide(button, !stop);
  if (!stop) return;
  const is = has(world.look.stops, stop);
  const name = is ? msg`Do not stop ${label(world, stop)}` : msg`Stop ${label(world, stop)}`;
  set(button, "aria-pressed", String(is));
  set(button, "aria-label", name);
  set(button, "title", `${name} (B)`);
  set(button, "disabled", !able(world));
  button.onclick = () => context.look({ stops: toggled(world.look.stops, stop) });
}

/** Under a block: what else follows from the moment before it, or the way back to an earlier pass.
 * @param {any} forks @param {Block} b @param {World} world @param {Context} context @param {number | null} back */
function drawForks(forks, b, world, context, back) {
  const [one, more] = forks.children;
  const next = b.others.find((n) => n.id > (b.node ?? -1)) ?? b.others[0];
  const way = back ?? next?.id ?? null;
  hide(one, way === null);
  hide(more, b.others.length < 2 || back !== null);
  if (way === null) return;
  const name = back !== null ? msg`Go back to what was read before this` : msg`Go to the branch ${named(next)}, instead of ${b.token || b.title}`;
  text(one, back !== null ? msg`‹ earlier` : named(next));
  set(one, "aria-label", back !== null ? `${one.textContent}: ${name}` : name); // it begins with what is seen, for who speaks to the page
  set(one, "title", name);
  set(one, "disabled", !able(world));
  one.onclick = () => context.send({ kind: "go", moment: way });
  text(more, `+${b.others.length - 1}`);
  set(more, "aria-label", counted(b.others.length - 1, "{0} more branch here", "{0} more branches here"));
  more.onclick = () => /** @type {any} */ (forks.closest(".view-track")?.querySelector("[aria-controls=sheet-lines]")).click();
}

/** The first and the last place of the line that the timeline shows.
 * @param {Block[]} blocks @param {number} left @param {number} room @param {Stop[]} all @param {boolean} training @returns {[number, number]} */
function visible(blocks, left, room, all, training) {
  const now = all.findIndex((s) => s.state === "now");
  if (training) return [Math.max(0, now - 1), now];
  const ids = new Set(blocks.filter((b) => b.node !== null && b.left + b.width > left && b.left < left + room).map((b) => b.node));
  const [first, last] = [all.findIndex((s) => ids.has(s.node.id)), all.findLastIndex((s) => ids.has(s.node.id))];
  return first < 0 ? [now, now] : [first, last];
}

/** Where on the bar each moment stands, over the middle of its block; null where the timeline does not show them all.
 * @param {Block[]} blocks @param {Stop[]} all @param {number} room @returns {number[] | null} */
export function over(blocks, all, room) {
  const inset = 2; // how much further the bar's ground begins than the blocks
  const found = all.map((s) => blocks.findLast((b) => b.node === s.node.id));
  return found.every((b) => b && b.left + b.width <= room + 1) ? found.map((b) => (b ? Math.max(0, Math.min(1, (b.left + b.width / 2 - inset) / (room - 2 * inset))) : 0)) : null;
}

/** Where on the line passes begin, branches leave and Play stops. @param {Stop[]} all @param {World} world */
function signs(all, world) {
  /** @type {{at: number, kind: "pass" | "fork" | "stop"}[]} */
  const found = [];
  const stops = world.look.stops.flatMap((s) => (s.kind === "step" ? [`${s.phase} ${s.step}`] : []));
  all.forEach((s, at) => {
    if (at && s.starts) found.push({ at, kind: "pass" });
    if (alternatives(world.history, s.all).length) found.push({ at, kind: "fork" });
    if (stops.includes(`${s.node.phase} ${s.node.step}`) && !s.node.stage) found.push({ at, kind: "stop" });
  });
  return found.slice(0, 200);
}

/** @param {any} button @param {number} count @param {string} name */
function entitle(button, count, name) {
  text(button.lastElementChild, String(count));
  set(button, "aria-label", name);
  set(button, "title", name);
}

/** @param {any} element @param {World} world @param {Context} context */
function drawOps(element, world, context) {
  const ops = operations(world);
  const cursor = ops.findIndex((o) => o.path === world.look.op);
  const view = seen(world, ops.map((o) => o.path));
  const phase = /** @type {"train"} */ (read.phase(world));
  const row = element.children[1];
  const choice = read.phase(world) === "train" ? null : read.choice(read.requestView(world));
  set(row.nextElementSibling, "class", choice && !world.moved.ended ? "op-next" : "op-next none");
  set(row.nextElementSibling, "title", choice ? msg`The next step begins with the choice of a token; ${shown(choice.token)} leads.` : null);
  text(element.children[0], callName(world));
  const signs = symbols(world, ops.map((o) => o.path));
  list(row, ops, (o) => o.path, () => h("span", { class: "op" }, dot("op-stop"), h("button", { class: "op-go", type: "button" }, h("span"), h("span", { class: "op-sign", "aria-hidden": "true" }))), (chip, o, i) => {
    /** @type {PlayStop} */
    const stop = { kind: "op", phase, scope: o.path };
    set(chip, "class", `op${i === cursor ? " on" : ""}${o.path === view ? " seen" : ""}${cursor >= 0 && i > cursor ? " todo" : ""}`);
    set(chip, "data-stop", JSON.stringify(stop));
    stopper(chip.firstElementChild, stop, world, context);
    const go = chip.lastElementChild;
    set(go, "aria-pressed", String(i === cursor));
    set(go, "title", o.path);
    text(go.firstElementChild, o.name);
    sign(go.lastElementChild, signs?.[i] ?? "");
    go.onclick = () => context.look(i === cursor ? lookAway(world) : lookAt(world, o.path));
  });
  const shows = `${world.look.op ?? view}`;
  if (row.dataset.shows === shows) return;
  row.dataset.shows = shows;
  queueMicrotask(() => inSight(row, row.querySelector(".op.on") ?? row.querySelector(".op.seen")));
}

/** @param {any} element @param {string} mathml which state asks, and what is made of it */
function sign(element, mathml) {
  if ((element.dataset.sign ?? "") === mathml) return;
  element.dataset.sign = mathml;
  element.replaceChildren(...(mathml ? [math(mathml)] : []));
}

/** @param {any} row @param {any} chip */
function inSight(row, chip) {
  if (chip) row.scrollLeft = within(row.scrollLeft, row.clientWidth, chip.offsetLeft - row.offsetLeft - 24, chip.offsetLeft - row.offsetLeft + chip.offsetWidth + 24);
}

/** Say what became of the stops. @param {Kept} kept @param {World} world @param {Context} context */
function tellStops(kept, world, context) {
  const { stops } = world.look;
  const old = kept.stops;
  kept.stops = stops;
  if (!old || old === stops) return;
  const [more, less] = [stops.find((s) => !has(old, s)), old.find((s) => !has(stops, s))];
  if (more) context.say(msg`Play stops ${label(world, more)}.`);
  else if (less) context.say(msg`Play does not stop ${label(world, less)} any more.`);
}

/** @param {any} element @param {"left" | "width"} name @param {number} value */
function pixels(element, name, value) {
  const wanted = `${value}px`;
  if (element.style[name] !== wanted) element.style[name] = wanted;
}
