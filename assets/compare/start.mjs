// @ts-check
/** The comparison: columns that share an input, a seed and a clock. A page of its own; a link holds it. */

import { data } from "../lib/data.mjs";
import { copied } from "../lib/copying.mjs";
import { h, text } from "../lib/dom.mjs";
import { msg } from "../lib/language.mjs";
import { acting } from "../lib/page/acting.mjs";
import { sayWhole } from "../lib/draw/whole.mjs";
import { speak } from "../lib/page/speak.mjs";
import { theming } from "../lib/page/theme.mjs";
import { resting } from "../lib/run/socket.mjs";
import { splittingOf, tokenize } from "../lib/setup/tokens.mjs";
import { requestOf, taskOf } from "./asked.mjs";
import { Clock } from "./clock.mjs";
import { Column } from "./columns.mjs";
import { drawDeck, LONGEST, place } from "./deck.mjs";
import { pick, preset } from "./examples.mjs";
import { apart, FEWEST, isComparison, MOST, pack, unpack } from "./link.mjs";
import { ALL, Grid } from "./grid.mjs";
import { sets } from "./sets.mjs";
import { taking } from "./taking.mjs";
import { phaseOf } from "./said.mjs";

/** @typedef {import("./link.mjs").Comparison} Comparison */

const REST = 220; // ms after which the address and the reach follow

/** @returns {Comparison} */
const first = () => ({ task: "translation", models: ["cho_2014", "bahdanau", "encoder_decoder"], configs: [{}, {}, {}], weights: "trained", source: preset("translation").source, target: [], seed: 7, lead: "own", phase: "decode" });

const page = { now: first(), columns: /** @type {Column[]} */ ([]), refused: "", playing: 0, busy: false, painting: 0, owed: false, resting: /** @type {any} */ (0) };
const grid = new Grid(place("compare-grid"), { architectures: data.architectures, tasks: data.tasks, replace, remove, add, open: openStage, fields: data.fields, vary, task: () => page.now.task, changed: () => paint() });

const column = (/** @type {string} */ id, /** @type {number} */ i) => new Column(id, page.now.configs[i] ?? {}, (c, parts) => { c.due.push(...parts); paint([]); });
const withId = (/** @type {any[]} */ list, /** @type {string | null} */ id) => list.find((x) => x.id === id);
/** The task in which a column learned what is asked. */
const learned = (/** @type {string} */ architecture) => taskOf(withId(data.architectures, architecture), page.now.task, data.tasks) ?? page.now.task;
const scenarioOf = (/** @type {Column} */ c) => ({
  architecture: c.architecture, config: c.config, task: learned(c.architecture), weights: page.now.weights, seed: page.now.seed, phase: page.now.phase, policy: { limit: LONGEST }, training: page.now.training ?? {},
  requests: [requestOf(withId(data.tasks, learned(c.architecture)), page.now.task, page.now)],
});

const clock = new Clock(page, { paint, rested });
const refuse = (/** @type {string} */ why) => clock.refuse(why);

/** @param {Comparison} next all anew */
async function begin(next) {
  clock.stop();
  page.now = next;
  page.refused = "";
  for (const c of page.columns) c.close();
  page.columns = next.models.map(column);
  paint();
  await Promise.all(page.columns.map((c) => c.open(scenarioOf(c))));
  rested();
}

/** @param {number} i @param {string} id */
async function replace(i, id) {
  page.now = { ...page.now, models: page.now.models.map((m, n) => (n === i ? id : m)), configs: page.now.configs.map((f, n) => (n === i ? {} : f)) };
  page.columns[i].close();
  page.columns[i] = column(id, i);
  await restart([page.columns[i]]);
}

/** Another value of one field of a set-up. @param {number} i @param {string} name @param {any} value */
async function vary(i, name, value) {
  const c = page.columns[i];
  c.config = { ...c.config, [name]: value };
  page.now = { ...page.now, configs: page.columns.map((x) => x.config) };
  await restart([c]);
}

/** @param {number} i */
function remove(i) {
  if (page.columns.length <= FEWEST) return;
  page.now = { ...page.now, models: page.now.models.filter((_, n) => n !== i), configs: page.now.configs.filter((_, n) => n !== i) };
  page.columns.splice(i, 1)[0].close();
  rested();
  paint();
}

async function add() {
  if (page.columns.length >= MOST) return;
  const free = data.architectures.find((/** @type {any} */ a) => !page.now.models.includes(a.id) && !apart(a, page.now.task, data.tasks));
  const id = free?.id ?? page.now.models.at(-1); // the same once more: its variant may differ
  page.now = { ...page.now, models: [...page.now.models, id], configs: [...page.now.configs, {}] };
  page.columns.push(column(id, page.columns.length));
  await restart(page.columns.slice(-1));
}

/** New columns begin, and all stand at the first step again. @param {Column[]} fresh */
async function restart(fresh) {
  clock.stop();
  paint();
  await Promise.all(page.columns.map((c) => (fresh.includes(c) ? c.open(scenarioOf(c)) : c.commands.enter(page.now.phase))));
  rested();
}

/** After a rest: the address holds what is shown, and the reach of every choice is measured. */
function rested() {
  clearTimeout(page.resting);
  page.resting = setTimeout(() => {
    page.now = { ...page.now, phase: phaseOf(page) };
    history.replaceState(null, "", pack(page.now));
    for (const c of page.columns) c.ask();
  }, REST);
}

/** What is typed is the source where there is one, else the prompt. @param {string} typed */
async function retext(typed) {
  const side = page.now.source ? "source" : "target";
  const known = page.columns.find((c) => c.world.opened?.vocabulary[side])?.world.opened;
  const words = known?.vocabulary[side]?.slice(known.vocabulary.specials?.[side]?.length ?? 0);
  const tokens = tokenize(typed, splittingOf(words ?? null, known?.task?.tokenizer));
  if (side === "source" && !tokens.length) return refuse(msg`The source is empty; allowed: 1 token or more. Type a sentence.`);
  clock.stop();
  await clock.reads({ ...page.now, [side]: tokens }, (c) => scenarioOf(c).requests);
}

/** @param {string} chosen "task 2" */
function example(chosen) {
  const [task, at] = chosen.split(" ");
  if (task === "set") return begin({ ...first(), ...sets(preset)[Number(at)].holds });
  const found = data.tasks.find((/** @type {any} */ t) => t.id === task)?.presets[Number(at)];
  if (!found) return;
  const fits = page.now.models.filter((id) => !apart(data.architectures.find((/** @type {any} */ a) => a.id === id), task, data.tasks));
  const others = data.architectures.filter((/** @type {any} */ a) => !apart(a, task, data.tasks) && !fits.includes(a.id)).map((/** @type {any} */ a) => a.id);
  const models = [...fits, ...others].slice(0, Math.max(FEWEST, fits.length));
  while (models.length < FEWEST) models.push(models[0]); // one model alone, in two variants
  const configs = models.map((id, i) => (page.now.models[i] === id ? page.now.configs[i] : {}));
  const left = page.now.models.filter((id) => !models.includes(id)).map((id) => apart(data.architectures.find((/** @type {any} */ a) => a.id === id), task, data.tasks));
  begin({ ...page.now, task, models, configs, source: found.source, target: found.target ?? [] }).then(() => left.length && refuse(`${left.join("; ")}.`));
}

const copy = () => copied(location.origin + location.pathname + pack(page.now)).then((done) => text(place("compare-copied"), done ? msg`Copied` : ""));

/** Open one column as a stage of its own. @param {Column} c */
async function openStage(c) {
  const tab = window.open("about:blank", "_blank");
  await c.commands.share({});
  if (tab) tab.location.href = c.share ? `./${c.share}` : "./";
}

/** What the page says, what changed, and all of some columns; while a step is on its way they wait for each other. @param {Column[]} [whole] */
function paint(whole = page.columns) {
  for (const c of whole) c.due.push(ALL);
  page.owed = page.columns.some((c) => c.awaited);
  if (!page.owed) page.painting ||= requestAnimationFrame(() => {
    page.painting = 0;
    draw();
  });
}

function draw() {
  drawDeck(page, clock);
  grid.draw(page.columns, page.now.phase === "train" ? "train" : "decode");
}

/** @type {Record<string, (value: string) => any>} */
const acts = {
  step: () => { clock.stop(); clock.step(); }, back: () => { clock.stop(); clock.back(); }, play: () => clock.play(), theme: theming(() => { paint(); draw(); }), speak: () => speak(place("language").dataset.language ?? ""),
  phase: (value) => clock.enter(/** @type {any} */ (value)), weights: (value) => begin({ ...page.now, weights: /** @type {any} */ (value) }), lead: (value) => { page.now = { ...page.now, lead: /** @type {any} */ (value) }; rested(); paint([]); },
  take: taking(place("compare-take"), page, { grid: place("compare-grid"), copy, redraw: () => (paint(), draw()), refuse }),
};
acting(acts);
sayWhole(document);
place("compare-input").append(h("input", { id: "compare-text", autocomplete: "off", spellcheck: "false", "aria-label": msg`The input that all models read`, onchange: (/** @type {any} */ event) => retext(event.target.value) }));
addEventListener("hashchange", () => location.hash !== pack(page.now) && follow());
addEventListener("online", () => page.columns.forEach((c) => c.socket.connect()));
resting(() => page.columns.map((c) => c.socket));
document.addEventListener("box", () => paint());
document.fonts.ready.then(() => paint());

function follow() {
  if (!isComparison(location.hash)) return begin(page.now);
  try {
    return begin(unpack(location.hash, data));
  } catch (error) {
    const why = /** @type {Error} */ (error).message;
    return begin(page.now).then(() => refuse(why));
  }
}

pick(place("compare-presets"), example);
Object.assign(window, { lookbackCompare: page });
await follow();
document.documentElement.dataset.ready = "";
