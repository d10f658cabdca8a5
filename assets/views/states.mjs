// @ts-check
/** What the state holds: its tapes over time, unit by unit, with the gates that made them and how much each step passes on. */

import * as draw from "../lib/canvas.mjs";
import { h, hide, list, set, text } from "../lib/dom.mjs";
import { counted, msg } from "../lib/language.mjs";
import { measureWhenIdle } from "../lib/run/measuring.mjs";
import { follow, ground, pan, seen } from "../lib/draw/pan.mjs";
import { passed, stale } from "../lib/states/passing.mjs";
import { listen } from "../lib/states/pointing.mjs";
import { treeShown } from "../lib/next/beams.mjs";
import { niceMost } from "../lib/training/gradients.mjs";
import { timeShown } from "../lib/training/backwards.mjs";
import * as read from "../lib/reads.mjs";
import { places, reserved } from "../lib/read/ribbons.mjs";
import { sharesOf } from "../lib/states/stateshares.mjs";
import { bands, paint, readout } from "../lib/states/statestrips.mjs";
import { choice, choose, inPlace } from "../lib/states/kernels.mjs";
import { fieldShown } from "../lib/states/fields.mjs";
import * as tapes from "../lib/states/tapes.mjs";
import { axis, join } from "../lib/draw/timeaxis.mjs";

/** @typedef {import("../lib/types").World} World @typedef {import("../lib/types").Context} Context @typedef {import("../lib/states/statestrips.mjs").Strips} Strips */
/** What the view keeps beside the world. most: the signed scale ends there; tall: the scale of the norms.
 * @typedef {import("../lib/states/pointing.mjs").Pointed & {most: number, tall: number, mostShare: number, tops: number[], channel: string, run: any}} Stage */
/** @typedef {(row: number, unit: number) => number} Cells */

const NAME = "states";
/** So many numbers of Jacobians are measured without being asked. */
const SMALL = 6000;
/** So many numbers are looked through for the scale at each step. */
const FEW_CELLS = 20_000;
/** @type {WeakMap<HTMLElement, Stage>} */
const stages = new WeakMap();

/** @type {import("../lib/types").View} */
export default {
  id: NAME,
  title: "What the state holds",
  slot: "map",
  phases: ["train", "prefill", "decode"],
  applies: (world) => (tapes.alone(world) || tapes.inMapsPlace(world)) && !inPlace(world) && !treeShown(world) && !timeShown(world) && !fieldShown(world),
  wants: (world) => (tapes.shown(world)?.tapes ?? []).map((t) => tapes.selector(world, t)),

  mount(element, context) {
    const p = pan({ role: "img", tabindex: 0, "data-arrows": true }, "states-pan");
    join(p);
    const stage = /** @type {Stage} */ ({ pan: p, strips: null, world: /** @type {any} */ (null), context, first: 0, most: 1, tall: 1.2, mostShare: 1e-9, tops: [], channel: "", run: null, pointed: null });
    stages.set(element, stage);
    const form = (/** @type {string} */ name, /** @type {string} */ said) => h("span", { "data-form": name }, h("i", { class: `form ${name}` }), said);
    element.append(
      h("div", { class: "ph states-head" }, h("h2", { class: "h nowrap" }), h("span", { class: "sub" }), h("span", { class: "sp" }),
        h("span", { class: "units", role: "group", "aria-label": msg`Units in sight` }, h("button", { type: "button", "aria-label": msg`Units before` }, "‹"), h("button", { type: "button", "aria-label": msg`Units after` }, "›")),
        choice(), h("span", { class: "units", role: "group", "aria-label": msg`Channel` }, h("button", { type: "button", "aria-label": msg`Channel before` }, "‹"), h("button", { type: "button", "aria-label": msg`Channel after` }, "›")),
        h("div", { class: "seg", role: "group", "aria-label": msg`Whose states` }, [["s", msg`source`], ["t", msg`target`]].map(([value, said]) => h("button", { type: "button", "data-value": value }, said))),
        h("div", { class: "seg tabs", role: "group", "aria-label": msg`Layer` }), h("button", { class: "btn sm", type: "button" }, msg`Back to the reads`)),
      p.element,
      h("p", { class: "states-read" }, h("b"), " ", h("span", { class: "c-q" }), h("span", { class: "mono" }), h("span", { class: "mono c-g" }), h("span", { class: "mono rest" })),
      h("div", { class: "states-line" },
        h("span", { class: "scale div" }, h("span"), h("i"), h("span"), h("button", { class: "link", type: "button", title: msg`Fit the scale to what is shown` }, msg`fit`)),
        h("span", { class: "scale seq" }, h("span", null, "0"), h("i"), h("span", null, msg`1 gates`)),
        h("span", { class: "measured" }, h("span", { title: msg`‖∂s/∂s₋₁‖: the largest factor by which this step can stretch a small change of the state before it (spectral norm, by autograd)` }), h("button", { class: "link", type: "button" })),
        form("carried", msg`carried`), form("remade", msg`remade each step`)),
    );
    listen(stage);
  },

  draw(element, world, context) {
    const stage = /** @type {Stage} */ (stages.get(element));
    Object.assign(stage, { world, context });
    unlock(world, context);
    if (stage.run !== world.schema) Object.assign(stage, { run: world.schema, first: 0, most: 1, tall: 1.2, mostShare: 1e-9, tops: [] });
    const channel = `${world.look.head} ${world.look.layer} ${read.request(world)} ${tapes.owner(world)}`;
    if (stage.channel !== channel) Object.assign(stage, { channel, mostShare: 1e-9, tops: [] });
    const s = (stage.strips = strips(stage, world));
    const again = () => element.dispatchEvent(new Event("box"));
    head(/** @type {any} */ (element.children[0]), stage, world, context, again);
    say(element, stage);
    scales(/** @type {any} */ (element.lastElementChild), stage, world, context, again);
    ground(stage.pan, s?.geo.long ? s.geo.width : 0);
    stage.pan.redraw = () => picture(stage);
    return () => picture(stage);
  },

  table(world) {
    const group = tapes.shown(world);
    if (!group) return { columns: [], rows: [] };
    const of = tapes.values(world, NAME, group.tapes.length);
    const width = tapes.width(world, group);
    const norms = passed(world, group);
    const rows = read.rows(world, group.owner).flatMap((row, t) => (tapes.computed(world, group, t) ? Array.from({ length: width }, (_, u) => [t, row.token, u, ...group.tapes.map((tape) => of(tape.path)(t, u)), norms?.norms[t] ?? null]) : []));
    return { columns: [msg`row`, msg`token`, msg`unit`, ...group.tapes.map((t) => t.path), msg`norm of the step’s Jacobian`], rows };
  },
};

/** All that the picture is made from. @param {Stage} stage @param {World} world @returns {Strips | null} */
function strips(stage, world) {
  const group = tapes.shown(world);
  if (!group) return null;
  const [seenWidth, height] = draw.boxOf(stage.pan.element);
  const rows = group.owner === "t" && read.phase(world) !== "train" ? places(world, "t") : read.rows(world, group.owner).map((r) => ({ token: r.token, kind: r.state }));
  const kept = read.phase(world) === "train" ? 0 : group.owner === "t" ? reserved(world, { query: "t", key: "t" }) : 6;
  const carries = group.tapes.some((t) => t.carried) && !group.channel; // of a channel's state no Jacobian is measured
  const width = tapes.width(world, group);
  const parted = !!group.channel && tapes.keeping(world, group) !== null && group.tapes.some((t) => t.name === "written");
  const y = bands(height, group.tapes.length, width, carries || parted);
  stage.first = Math.max(0, Math.min(stage.first, width - y.units));
  const of = tapes.values(world, NAME, group.tapes.length);
  const each = group.tapes.map((t) => of(t.path));
  const places_ = Math.max(rows.length, 1);
  const geo = axis(seenWidth, places_, kept);
  const count = geo.long ? places_ : Math.max(places_, Math.min(kept, Math.floor((seenWidth - geo.left) / geo.slot)));
  const columns = /** @type {Strips["columns"]} */ (Array.from({ length: count }, (_, t) => (tapes.computed(world, group, t) && ready(world) ? "ok" : rows[t]?.kind === "padded" && !Number.isNaN(each[0](t, 0)) ? "padded" : "later")));
  const shares = parted ? sharesOf(group.tapes, columns, (k, t, u) => each[k](t, u), width) : null;
  for (const share of shares ?? []) if (share) stage.mostShare = Math.max(stage.mostShare, ...[share.before, share.written].filter(Number.isFinite));
  const ends = group.channel ? tops(stage, columns, each, width) : widen(stage, group.tapes, columns, each, width);
  const measured = passed(world, group);
  if (measured) stage.tall = Math.max(stage.tall, ...[...measured.norms, ...measured.products].filter((v) => v !== null && Number.isFinite(v)).map(Number));
  const { lock, path } = world.look;
  const tape = Math.max(0, group.tapes.findIndex((t) => t.path === path));
  const locked = lock && tapes.alone(world) && group.owner === tapes.owner(world) ? { tape, row: lock.row, unit: lock.key } : null;
  const newest = read.newest(world, group.owner);
  const hover = stage.pointed ?? (world.hover && tapes.alone(world) && columns[world.hover.row] ? { tape, row: world.hover.row, unit: locked?.unit ?? stage.first } : null);
  return {
    geo, tapes: group.tapes, tops: ends, names: rows.map((r) => r.token), columns, value: (k, t, u) => each[k](t, u), first: stage.first, units: y.units, width,
    most: stage.most, y, shares, mostShare: stage.mostShare, passes: measured && { ...measured, most: stage.tall }, carries, locked, hover, row: newest, back: tapes.backwards(world, group),
  };
}

/** Where each strip's scale ends, if not of a channel. A state that leaves -1..1 would be one colour: its scale ends at the next of 1, 2, 5, 10, ...
 * then, and stays; those that lie in it keep theirs. Of many cells the newest row tells.
 * @param {{most: number, tops: number[]}} stage @param {{gate?: boolean}[]} all @param {Strips["columns"]} columns @param {Cells[]} each @param {number} width */
export function widen(stage, all, columns, each, width) {
  const known = columns.flatMap((c, t) => (c === "ok" ? [t] : []));
  const last = known.length * width * all.length > FEW_CELLS ? known.at(-1) ?? 0 : 0;
  tops(stage, columns.map((c, t) => (t < last ? "later" : c)), each, width);
  const most = Math.max(0, ...stage.tops.filter((x, k) => !all[k].gate && Number.isFinite(x)));
  if (most > stage.most) stage.most = niceMost([most]);
  return stage.tops.map((x) => (x <= 1 ? Math.min(1, stage.most) : stage.most));
}

/** The largest size of each tape of a channel that was in sight since it is shown: its own scale.
 * @param {{tops: number[]}} stage @param {Strips["columns"]} columns @param {Cells[]} each @param {number} width */
export function tops(stage, columns, each, width) {
  each.forEach((value, k) => columns.forEach((c, t) => {
    for (let u = 0; c === "ok" && u < width; u++) stage.tops[k] = Math.max(stage.tops[k] ?? 1e-9, Math.abs(value(t, u)) || 0);
  }));
  return [...stage.tops];
}

/** In training nothing is computed before the forward stage. @param {World} world */
const ready = (world) => read.phase(world) !== "train" || world.moved?.stages.some((/** @type {any} */ s) => s.name === "forward" && s.ms !== null);

/** @param {any} head @param {Stage} stage @param {World} world @param {Context} context @param {() => void} again */
function head(head, stage, world, context, again) {
  const [title, sub, , units, shows, channels, owners, layers, reads] = head.children;
  hide(reads, tapes.alone(world));
  reads.onclick = () => context.look({ states: "", path: null });
  const group = tapes.shown(world);
  const s = stage.strips;
  text(title, group?.tapes.some((t) => t.carried) === false ? msg`What each row makes` : msg`What the state holds`);
  const all = tapes.groupsOf(world, tapes.owner(world));
  const channel = tapes.channelOf(world, group);
  const whole = s && !s.first && s.units >= s.width;
  const range = !s?.width ? "" : whole ? counted(s.width, "{0} unit", "{0} units") : msg`units ${s.first}–${Math.min(s.width, s.first + s.units) - 1} of ${s.width}`;
  const which = channel.count ? msg`channel ${channel.at} of ${channel.count}` : "";
  text(sub, [which, range, all.length > 1 ? "" : group?.name].filter(Boolean).join(", "));
  choose(shows, world, context);
  hide(channels, !group?.channel);
  for (const button of channels.children) set(button, "disabled", !channel.count); // how many there are is known from the first call on
  [-1, 1].forEach((way, i) => (channels.children[i].onclick = () => context.look({ head: (channel.at + way + channel.count) % channel.count, lock: null, layout: {} })));
  hide(units, !s || s.units >= s.width);
  [-1, 1].forEach((way, i) => {
    units.children[i].disabled = !s || (way < 0 ? s.first === 0 : s.first + s.units >= s.width);
    units.children[i].onclick = () => {
      stage.first += way * (s?.units ?? 0);
      again();
    };
  });
  hide(owners, !["s", "t"].every((of) => tapes.groups(world).some((g) => g.owner === of)));
  for (const button of owners.children) {
    set(button, "aria-pressed", String(button.dataset.value === tapes.owner(world)));
    button.onclick = () => context.look({ [tapes.alone(world) ? "relation" : "states"]: button.dataset.value, lock: null, path: null, layout: {} });
  }
  hide(layers, all.length < 2);
  list(layers, layers.hidden ? [] : all, (g) => g.scope, () => h("button", { type: "button" }), (button, g, i) => {
    text(button, g.name);
    set(button, "aria-pressed", String(g === group));
    button.onclick = () => context.look({ layer: i, lock: null, path: null, layout: {} });
  });
}

/** The fixed line below: what is locked, pointed at, or the newest. @param {HTMLElement} element @param {Stage} stage */
function say(element, stage) {
  const s = stage.strips;
  const line = /** @type {any} */ (element.children[2]);
  const spot = s && (s.hover ?? s.locked ?? (s.columns[s.row] === "ok" ? { tape: 0, row: s.row, unit: s.first } : null));
  const said = s && spot && s.columns[spot.row] !== "later" ? readout(s, spot, s.hover ? "preview" : s.locked ? "locked" : read.phase(stage.world) !== "train" ? "newest" : read.hardest(stage.world) === null ? "last" : "hardest") : [msg`not computed at this moment`, "", "", "", ""];
  said.forEach((words, i) => text(line.children[i], words));
  set(stage.pan.canvas, "aria-label", msg`States by row and unit. ${said.join(" ")} Left and right choose a row, up and down a unit, Enter locks.`);
}

/** @param {any} line @param {Stage} stage @param {World} world @param {Context} context @param {() => void} again */
function scales(line, stage, world, context, again) {
  const [div, seq, measured, carried] = line.children;
  const group = tapes.shown(world);
  const signed = group?.tapes.filter((t) => !t.gate) ?? [];
  const end = Number(stage.most.toPrecision(2));
  text(div.children[0], group?.channel ? "−" : `−${end}`);
  const [far, near] = [true, false].map((beyond) => signed.filter((t) => beyond === (end <= 1 || (stage.tops[group?.tapes.indexOf(t) ?? -1] ?? 0) > 1)).map((t) => t.letter).join(" "));
  text(div.children[2], group?.channel ? msg`+ each strip to its own largest` : `+${end} ${far}${near ? `; ±1 ${near}` : ""}`);
  hide(div.lastElementChild, !!group?.channel);
  div.lastElementChild.onclick = () => {
    stage.most = largest(stage, signed);
    again();
  };
  hide(seq, !group?.tapes.some((t) => t.gate));
  hide(carried, !group?.tapes.some((t) => t.carried));
  norms(measured, stage, world, context, group);
}

/** The largest size of what is in sight. @param {Stage} stage @param {tapes.Tape[]} signed */
function largest({ strips: s }, signed) {
  let most = 0;
  s?.tapes.forEach((tape, k) => {
    if (signed.includes(tape)) s.columns.forEach((c, t) => { for (let u = 0; c === "ok" && u < s.width; u++) most = Math.max(most, Math.abs(s.value(k, t, u)) || 0); });
  });
  return most > 0 && Number.isFinite(most) ? most : 1;
}

/** Measures the norms by itself where they are few, else when it is asked to. @param {any} element @param {Stage} stage @param {World} world @param {Context} context @param {tapes.Group | null} group */
function norms(element, stage, world, context, group) {
  const [said, button] = element.children;
  hide(element, !stage.strips?.carries);
  if (element.hidden || !group) return;
  const rows = read.rows(world, group.owner).filter((_, t) => tapes.computed(world, group, t)).length;
  const since = world.look.lock && tapes.owner(world) === group.owner ? world.look.lock.row : null;
  const wanted = rows > 1 && !!ready(world) && stale(world, group, rows, since) && element.offsetParent !== null;
  const args = { request: read.request(world), ...(since === null ? {} : { since }) };
  const doing = measureWhenIdle(world, context, "state_jacobian", args, wanted, rows * (stage.strips?.width ?? 0) <= SMALL, true);
  text(said, doing.running ? msg`∇ measuring, ${Math.round(doing.progress * 100)} %` : wanted ? doing.failed : since === null ? msg`∇ spectral norm` : msg`∇ dashed: since row ${since}`);
  hide(button, !doing.running && !wanted);
  text(button, doing.running ? msg`Cancel` : msg`Measure ∇`);
  set(button, "disabled", world.role !== "writer");
  button.onclick = () => (doing.running ? context.send({ kind: "cancel" }) : doing.start());
}

/** A locked row that is not there any more, or a tensor of another model, is let go. @param {World} world @param {Context} context */
function unlock(world, context) {
  const { lock, path } = world.look;
  const foreign = path !== null && world.schema && !world.schema.taps.some((/** @type {any} */ t) => t.path === path);
  const gone = lock && world.moved && !tapes.computed(world, tapes.shown(world), lock.row) && !read.rows(world, tapes.owner(world))[lock.row];
  if (tapes.alone(world) && (foreign || gone)) queueMicrotask(() => context.look({ lock: null, path: null, layout: {} }));
}

/** @param {Stage} stage */
function picture(stage) {
  const { pan: p, strips: s, world } = stage;
  if (!s) return void seen(p);
  const row = s.locked?.row ?? s.row;
  follow(p, "row", `${world.moved?.at} ${row} ${s.columns.length} ${s.geo.slot}`, s.geo.long && row >= 0 ? { left: s.geo.x(row - 1) - s.geo.left, right: s.geo.x(row) + 2.4 * s.geo.slot } : null);
  const [g, width, height, scrolled] = seen(p);
  paint(g, s, width, height, scrolled);
}
