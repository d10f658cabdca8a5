// @ts-check
/** The page begins here: data from the server, the run, the views, the controls. */

import { Actions } from "./lib/run/actions.mjs";
import { data } from "./lib/data.mjs";
import { whenIdle } from "./lib/dom.mjs";
import { Controls } from "./lib/page/controls.mjs";
import { Frame } from "./lib/page/frame.mjs";
import { Hints } from "./lib/page/hints.mjs";
import { helpSheet, listenToKeys } from "./lib/page/keys.mjs";
import { msg } from "./lib/language.mjs";
import { plotly, plotlyAt } from "./lib/page/plotly.mjs";
import { onPrint } from "./lib/page/printing.mjs";
import { sayWhole } from "./lib/draw/whole.mjs";
import { loadViews, Registry } from "./lib/page/registry.mjs";
import { Run } from "./lib/run/run.mjs";
import { speak, spoke } from "./lib/page/speak.mjs";
import { Store } from "./lib/run/store.mjs";
import { Told } from "./lib/page/told.mjs";
import { viewMenus } from "./lib/taking/menu.mjs";
import { Share } from "./lib/taking/share.mjs";
import { onSystemChange, remembered, scheme } from "./lib/page/theme.mjs";
import { passing } from "./lib/storage.mjs";

const RATE = "lookback-rate";
/** Dash's controls wait for the first values, but no longer than this, ms. */
const PATIENCE = 3000;
/** Asked for before anything is laid out with them, so that the first picture has them; without them the page stands in the system's. */
for (const font of ["Inter Variable", "JetBrains Mono Variable"]) document.fonts.load(`1em "${font}"`).catch(() => {});
const page = /** @type {any} */ (window);
const store = new Store();
/** A page that holds a recording plays it, and needs neither Dash nor a server. */
const replay = document.getElementById("lookback-run") ? await import("./lib/taking/playback.mjs") : null;
const run = new (replay?.Playback ?? Run)({ store, first: data.scenario, onWelcome: (known) => registry.rewatch(known) });
const registry = new Registry({
  store,
  context: { send: (command, there) => run.send(command, there), look: (change) => run.look(change), hover, refuse: (errors) => run.refuse(errors), dismiss: () => store.set({ refused: null }), say },
  watch: (selectors) => watch(selectors),
  drawn: (seq) => {
    run.socket.ack(seq);
    run.painted(registry.selectors);
    whenIdle(() => controls.bring());
  },
  menu: viewMenus({ world: () => store.world, say, refuse: (errors) => run.refuse(errors), redraw: (placed) => registry.drawNow(placed), architecture: () => actions.architecture()?.name ?? "" }),
});
const share = new Share({ run, say, contents: replay ? () => /** @type {any} */ (run).contents() : null });
const actions = new Actions({ run, catalogue: data.catalogue, repaint: () => registry.repaint() });

/** @param {import("./lib/types").Selector[]} selectors */
async function watch(selectors) {
  store.watches(selectors.map((s) => JSON.stringify(s)), store.mark + 1);
  const reply = await run.commands.watch(selectors, store.mark);
  if (!reply.ok && reply.errors.length) console.error("The views cannot be watched:", reply.errors);
}

/** @param {import("./lib/types").Hover | null} place */
function hover(place) {
  const now = store.world.hover;
  if (now?.row !== place?.row || now?.key !== place?.key) store.set({ hover: place });
}

/** @param {string} sentence */
function say(sentence) {
  const place = document.getElementById(data.ids.SAID);
  if (place) place.textContent = sentence;
}

/** What a control does when a person sets it. @type {Record<string, (value: any) => any>} */
const set = {
  [data.ids.UNIT]: (value) => actions.granularity(value),
  [data.ids.RATE]: (value) => {
    passing.setItem(RATE, value);
    actions.speed(value);
  },
  [data.ids.PHASE]: (value) => actions.phase(value),
  [data.ids.PRESET]: (value) => actions.preset(value),
};
const controls = new Controls((id, value, mark) => told.chose(id, value, mark) && set[id](value), (example) => actions.opens(example));
const told = new Told({ set: (id, props) => controls.set(id, props) });
told.listen(window);
/** What the bindings of app/ui/bindings.py call, by the id of the control. */
page.dash_clientside = { lookback: Object.fromEntries(Object.keys(set).map((id) => [id, (/** @type {any} */ value, /** @type {any} */ mark) => controls.chosen(id, value, mark)])) };

/** What the page's buttons do. @type {Record<string, () => any>} */
const acts = {
  step: () => actions.step(), back: () => actions.back(), play: () => actions.play(), before: () => actions.beforeUpdates(), undo: () => actions.undo(), redo: () => actions.redo(),
  reset: () => frame.askReset(), resetNow: () => frame.answerReset(true), keep: () => frame.answerReset(false),
  startNew: () => location.assign(location.pathname),
  nextTheme: () => actions.nextTheme(), speak: () => speak(document.getElementById(data.ids.LANGUAGE)?.dataset.language ?? ""), retry: () => run.socket.connect(), share: () => share.open(), help: () => help(),
  architectures: () => frame.gallery.paged.open(), deckMore: () => frame.deckMore(),
};
/** A click on the scenario's name marks all of it, so that typing searches. @param {any} field */
const markAll = (field) => field?.matches?.(`#${data.ids.PRESET}`) && field.selectionStart === field.selectionEnd && field.select();
addEventListener("click", (event) => markAll(event.target));
// Before Mantine looks at the click, which takes it 2 ms: meanwhile the server works.
addEventListener("click", (event) => acts[/** @type {any} */ (event.target).closest?.("[data-act]")?.dataset.act]?.(), true);

/** Charts come with training; their library is loaded then. */
function chartsWhenTraining() {
  if (!replay) plotlyAt(data.plotly);
  store.listen((parts) => {
    if (!parts.includes("moved") || store.world.moved.phase !== "train" || page.Plotly) return;
    plotly().then(() => registry.repaint(), (error) => console.error(error));
  });
}

const frame = new Frame({ actions, ids: data.ids, fields: data.fields, told });
const hints = new Hints(/** @type {HTMLElement} */ (document.getElementById(data.ids.HINTS)), store);
const help = helpSheet(() => hints.show());
/** The views by their file names, where this very file holds them (app/ui/gathered.py). */
const inHere = page.lookbackViews;
const views = loadViews(data.views, inHere && (async (address) => ({ default: inHere[address] })));
await replay?.inlineCharts();
actions.speed(passing.getItem(RATE) ?? actions.rate);
/** On a page that is the stage with something beside it (app/ui/index.py): assets/PAGE/start.mjs. */
if (page.lookbackBeside?.begin({ store, run, actions, registry, say }) !== "later") run.begin();
if (replay) /** @type {any} */ (document.getElementById(data.ids.SHARE)).textContent = msg`Recording`;
if (replay) document.querySelector(".setup")?.setAttribute("tabindex", "0"); // nothing in it takes the focus, and it scrolls
listenToKeys(actions, help, acts.architectures);
onPrint(/** @type {HTMLElement} */ (document.getElementById(data.ids.STAGE)), (light) => {
  document.documentElement.setAttribute("data-mantine-color-scheme", light ? "light" : scheme(remembered()));
  registry.repaint();
  registry.frame(true);
}, () => page.lookbackBeside?.paper?.() ?? null);
actions.theme(remembered());
sayWhole(document);
onSystemChange(() => actions.theme(remembered()));
chartsWhenTraining();
registry.place(await views);
document.fonts.ready.then(() => registry.repaint());
page.lookback = { store, run, actions, registry };
document.documentElement.dataset.ready = "";
spoke(document.getElementById(data.ids.LANGUAGE));
setTimeout(() => controls.bring(), PATIENCE);
