// @ts-check
/** What just happened, in one sentence, from the recording: who read whom, what was decided, which row is hardest. Pure. */

import { label, objective, writes } from "../answers.mjs";
import { msg, counted, parts } from "../language.mjs";
import * as read from "../reads.mjs";
import { placeSet } from "../picture/draws.mjs";
import { location, place as drawnPlace } from "../picture/looking.mjs";
import { isLookedAt } from "../picture/source.mjs";
import { patterned, reached } from "../map/reach.mjs";
import { keyReads } from "../read/ribbons.mjs";
import { windowed } from "../read/windows.mjs";
import { statePart } from "./happened-states.mjs";
import { isTurn, promptRows } from "../deck/turns.mjs";
import { part, place, token, told } from "./states.mjs";
import { BREAK } from "../setup/pieces.mjs";
import { cutShown } from "../setup/cut.mjs";
import { cutterOf, textOf } from "../setup/together.mjs";
import { cut } from "./cutting.mjs";
import { alone } from "../states/tapes.mjs";
import { capital, figure, number, opName, percent, probability, requestName, severalStacks, shown } from "../words.mjs";

/** @typedef {import("../types").World} World @typedef {import("./states.mjs").Part} Part */
/** @typedef {(row: number, key: number) => number} Cells */

const SPREAD = 0.3; // a row whose largest share is below it spreads
const MOST = 0.9; // what the rows that are counted then give together
const ALSO = 0.25; // a second share from which it is named too

/** Outside training.
 * @param {World} world @param {Cells} weight @returns {Part[]} */
export function reading(world, weight) {
  const view = read.requestView(world);
  const locked = !!world.look.lock;
  const turn = locked ? [] : turned(world);
  if (turn.length) return turn;
  if (view.finished && !locked) return ended(view, world.opened);
  if (read.before(world, "logits") && !locked) return operation(world, weight);
  const requests = read.requests(world);
  if (cutShown(world)) return cut(world);
  if (read.phase(world) === "prefill" && requests.length > 1 && !locked && writes(world)) return decisions(requests);
  const said = alone(world) ? statePart(world) : readPart(world, weight);
  const lead = writes(world) ? leads(world, view) : answers(world, view);
  const newest = read.rows(world, "t")[view.decision_row];
  const apart = locked && writes(world) && newest && read.focus(world).row !== view.decision_row; // the locked row decides something else
  if (said.length && lead.length) return apart ? told(parts`${said}; after row ${String(view.decision_row)} ${token(newest.token, "q")}, ${lead}.`) : told(parts`${said}; ${lead}.`);
  if (said.length) return [...said, part(".")];
  const where = capital(place(world));
  if (!writes(world)) return lead.length ? told(parts`${where}: ${lead}.`) : [part(msg`${where}: nothing is computed yet. Step reads the whole input in one call.`)];
  if (lead.length && newest) return told(parts`${where}: after target row ${String(view.decision_row)} ${token(newest.token, "q")}, ${lead}.`);
  if (world.moved.stage === "choose") return told(parts`${where}: ${token(view.target.findLast((/** @type {any} */ r) => r.state !== "padded")?.token ?? "", "d")} is chosen. Step reads its row.`);
  if (world.moved.stage === "encode") return [part(msg`${where}: the source is encoded, once. Step reads the target rows.`)];
  return [part(msg`${where}: nothing is computed yet. Step reads the known rows.`)];
}

/** What Step takes: it leads, or it was drawn.
 * @param {World} world @param {any} view @returns {Part[]} */
function leads(world, view) {
  const lead = read.choice(view);
  if (!lead) return [];
  const drawn = world.opened.scenario.policy?.kind === "sample" && lead.id !== view.candidates[0]?.id;
  const [word, share] = [token(lead.token, "d"), probability(lead.probability)];
  return told(drawn ? parts`${word} is drawn at ${share}` : parts`${word} leads at ${share}`);
}

/** What is said of the whole source: its class, a word at a mask, what the frames say together; and the label, if it has one.
 * @param {World} world @param {any} view @returns {Part[]} */
function answers(world, view) {
  const lead = read.choice(view);
  if (!lead) return view?.output && !view.answers.length && objective(world) === "masked" ? [part(msg`no word is masked`)] : [];
  const true_ = label(world, read.request(world));
  const more = true_ ? told(parts`, labelled ${part(true_, "q")}`) : [];
  if (!view.output) return []; // the model is there before what it says
  if (objective(world) === "ctc") return told(parts`the frames say ${part(view.output.join(" ") || msg`nothing`, "d")}${more}`);
  return told(parts`${token(lead.token, "d")} leads at ${probability(lead.probability)}${more}`);
}

/** At the op cursor: what this operation read, or that it was computed; nothing of what comes after it.
 * @param {World} world @param {Cells} weight @returns {Part[]} */
function operation(world, weight) {
  const all = read.operations(world);
  const op = world.look.op ?? "";
  const name = part(opName(op, severalStacks(all)), "p");
  const [where, at] = [capital(place(world)), `${all.indexOf(op) + 1}/${all.length}`];
  if (/\.tile\.\d+$/.test(op)) return told(parts`${where}, operation ${at}: ${name} scores its keys and corrects what earlier tiles left.`);
  const said = read.readAt(world.opened?.relations ?? [], op) ? readPart(world, weight) : [];
  if (said.length) return [...said, part(".")];
  if (/(^|\.)ffn$/.test(op)) return told(parts`${where}, operation ${at}: ${name} changes each row on its own; no row reads another here.`);
  if (/(^|\.)embedding$/.test(op)) return told(parts`${where}, operation ${at}: ${name} turns each token and its position into a row.`);
  return told(parts`${where}, operation ${at}: ${name} is computed.`);
}

/** One row's read: from one key, from two alike, spread over many, from itself alone.
 * @param {World} world @param {Cells} weight @returns {Part[]} */
function readPart(world, weight) {
  const at = read.relation(world);
  if (!at) return [];
  const { row, key: locked } = read.focus(world);
  const [keys, asker] = [read.rows(world, at.info.key), read.rows(world, at.info.query)[row]];
  if (!asker) return [];
  const all = keyReads(world, weight, row);
  const own = at.info.key === at.info.query;
  const bare = (/** @type {string} */ name, /** @type {number} */ i) => name === String(i); // rows of features have no other name
  const placed = at.info.key === "s" && isLookedAt(world); // its rows are places of a picture
  const name = (/** @type {number} */ key) => {
    if (placed || bare(keys[key].token, key)) return [part(placed ? msg`place ${keys[key].token}` : msg`row ${key}`, "k")];
    const twice = keys.some((k, i) => i !== key && k.token === keys[key].token && read.known(k)); // its number says which of them
    return twice && !(own && key === row) ? told(parts`row ${String(key)} ${token(keys[key].token, "k")}`) : [token(keys[key].token, "k")];
  };
  const word = (/** @type {number} */ key) => [...name(key), ...(own && key === row ? [part(msg`, itself`)] : [])];
  const owner = at.info.query === "s" ? msg`source row ${row}` : msg`target row ${row}`;
  const who = at.info.query === "r" ? [token(asker.token, "q")] : told(bare(asker.token, row) ? parts`Layer ${String(at.layer + 1)} head ${String(at.head + 1)}: ${owner}` : parts`Layer ${String(at.layer + 1)} head ${String(at.head + 1)}: ${owner} ${token(asker.token, "q")}`);
  if (locked !== null) return lockedPart(who, all[locked], word, all[locked]?.state === "model" ? hiddenBy(world, weight, row, locked) : []);
  const drawn = location(world) ? drawnPlace(world, "sentence", row) : null;
  if (drawn !== null && all[drawn]) return drawnPart(who, all[drawn], word(drawn), placeSet(world, row) !== null);
  if (all.some((r) => r.state === "nan")) return told(parts`${who} reads ${part(msg`numbers that are none`, "d")}`);
  const top = all.filter((r) => r.weight > 0).sort((a, b) => b.weight - a.weight);
  if (!top.length) return all.some((r) => r.weight === 0 && r.state === "open") ? told(parts`${who} reads nothing: its weights are all 0`) : [];
  const open = all.filter((r) => r.state === "open");
  if (open.length === 1) return own && open[0].key === row ? told(parts`${who} reads only itself: ${onlyOne(world, at, all)}`) : told(parts`${who} reads only ${word(open[0].key)}: ${onlyOne(world, at, all)}`);
  return shares(who, top, word);
}

/** @param {Part[]} who @param {import("../read/ribbons.mjs").KeyRead[]} top largest first @param {(key: number) => Part[]} word @returns {Part[]} */
function shares(who, top, word) {
  const [first, second] = top;
  const share = part(percent(first.weight), "v");
  if (first.weight < SPREAD && top.length > 2) {
    let [sum, count] = [0, 0];
    while (sum < MOST && count < top.length) sum += top[count++].weight;
    return told(parts`${who} spreads over ${part(counted(count, "{0} row", "{0} rows"), "v")}, most from ${word(first.key)}: ${share}`);
  }
  if (second && percent(first.weight) === percent(second.weight)) return told(parts`${who} takes ${share} each from ${word(first.key)} and ${word(second.key)}`);
  if (second?.weight >= ALSO) return told(parts`${who} takes ${share} from ${word(first.key)}, ${part(percent(second.weight), "v")} from ${word(second.key)}`);
  return told(parts`${who} takes ${share} from ${word(first.key)}`);
}

/** Of a read that draws one key. @param {Part[]} who @param {import("../read/ribbons.mjs").KeyRead} r @param {Part[]} key @param {boolean} set by a person @returns {Part[]} */
function drawnPart(who, r, key, set) {
  const chance = part(probability(r.weight), "v");
  return told(set ? parts`${who} reads only ${key}, which you set; its chance was ${chance}` : parts`${who} drew ${key} with chance ${chance} and reads only that`);
}

/** Of a read through a pattern: how far all layers together reach, or in how many a way leads to a row that one may not read itself.
 * @param {World} world @param {number} row @param {number} key @returns {Part[]} */
function beyond(world, row, key) {
  const at = patterned(world);
  if (!at) return [];
  const layers = reached(at.info.masks, row, read.rows(world, at.info.key));
  const first = layers.findIndex((seen) => seen.has(key));
  const all = counted(layers.length, "{0} layer of this pattern reaches only rows", "{0} layers of this pattern reach only rows");
  if (first >= 0) return told(parts`a way there takes ${part(counted(first + 1, "{0} layer", "{0} layers"), "v")} of this pattern`);
  return told([`${all} `, part(`${Math.min(...layers[layers.length - 1])}–${Math.max(...layers[layers.length - 1])}`, "v")]);
}

/** Why a row reads one key alone. @param {World} world @param {{info: any, layer: number}} at @param {import("../read/ribbons.mjs").KeyRead[]} all */
function onlyOne(world, at, all) {
  if (all.filter((r) => r.state !== "padded" && r.state !== "unknown").length === 1) return msg`there is no other row`;
  return windowed(world, at.info, at.layer) ? msg`its mask and its window leave no other row` : msg`its mask allows no other row`;
}

/** Why a cell that its mask opens is not read, or how far its pattern reaches. @param {World} world @param {Cells} weight @param {number} row @param {number} key @returns {Part[]} */
function hiddenBy(world, weight, row, key) {
  const at = read.relation(world);
  const open = at && read.visibility(at.info, at.layer, read.rows(world, at.info.key)).allows(row, key);
  return open ? told(parts`it lies outside the window`) : beyond(world, row, key);
}

/** @param {Part[]} who @param {import("../read/ribbons.mjs").KeyRead | undefined} r @param {(key: number) => Part[]} word @param {Part[]} why it is hidden by its pattern @returns {Part[]} */
function lockedPart(who, r, word, why) {
  if (!r) return [];
  const key = word(r.key);
  if (r.state === "user") return told(parts`${who} may not read ${key}: you hid it`);
  if (r.state === "model" && why.length) return told(parts`${who} cannot read ${key}: ${why}`);
  if (r.state === "model") return told(parts`${who} may not read ${key}: the mask’s program hides it`);
  if (r.state === "padded") return told(parts`${who} never reads ${key}: it is padding`);
  if (r.state === "nan") return told(parts`${who} reads ${key} with a weight that is no number`);
  return Number.isFinite(r.weight) ? told(parts`${who} takes ${part(percent(r.weight), "v")} from ${key}`) : [];
}

/** A request joined or left just now; at the op cursor it is told what its own pass computed. @param {World} world @returns {Part[]} */
function turned(world) {
  const node = world.history.get(world.moved?.at);
  if (!node || !isTurn(node) || world.look.op) return [];
  const name = part(requestName(Number(node.label)), "q");
  const view = world.moved.requests[Number(node.label)];
  const others = counted(read.presentCount(world) - (node.command === "join" ? 1 : 0), "{0} other", "{0} others");
  if (node.command === "leave") return told(parts`${name} leaves after step ${String(node.step)}: its rows are freed; nothing changes for ${others}.`);
  const lead = read.choice(view);
  const rows = part(counted(promptRows(view), "{0} row", "{0} rows"), "q");
  if (!lead) return told(parts`${name} joins after step ${String(node.step)}: prefill of ${rows} on its own.`);
  return told(parts`${name} joins after step ${String(node.step)}: prefill of ${rows} on its own; ${token(lead.token, "d")} leads at ${probability(lead.probability)}.`);
}

/** @param {any} view @param {any} opened @returns {Part[]} */
function ended(view, opened) {
  const written = view.target.filter((/** @type {any} */ r) => r.origin === "model" || r.origin === "chosen").map((/** @type {any} */ r) => r.token);
  const text = (/** @type {string[]} */ some) => (cutterOf(opened) ? shown(textOf(opened, some).replaceAll("\n", BREAK)).replaceAll("␣", " ") : some.map(shown).join(" "));
  const said = part(written.length > 7 ? `… ${text(written.slice(cutterOf(opened) ? -24 : -6))}` : text(written) || msg`no word`, "q");
  const whole = part(probability(Math.exp(number(view.log_probability))), "d");
  if (view.finished === "left") return told(parts`Left after step ${String(view.left)}: ${said}; probability of it all ${whole}.`);
  return told(view.finished === "eos" ? parts`Finished: ${said}; probability of it all ${whole}.` : parts`Stopped at the limit: ${said}; probability of it all ${whole}.`);
}

/** @param {any[]} requests @returns {Part[]} */
function decisions(requests) {
  const all = requests.map((r, i) => ({ name: requestName(i), row: r.decision_row, lead: read.choice(r) })).filter((r) => r.lead);
  if (!all.length) return [part(msg`One pass over ${requests.length} requests. Each is decided by its last valid row.`)];
  const each = all.slice(0, 3).map((r) => (all.length > 2 ? told(parts`${r.name} takes ${token(r.lead.token, "d")} (row ${String(r.row)})`) : told(parts`${r.name} takes ${token(r.lead.token, "d")} from its row ${String(r.row)}`)));
  const listed = each.flatMap((p, i) => (i ? [part(", "), ...p] : p));
  return told(all.length > 3 ? parts`${listed}, …: each from its last valid row.` : parts`${listed}: each from its last valid row.`);
}

/** In training.
 * @param {World} world @param {Cells} weight @returns {Part[]} */
export function training(world, weight) {
  const { train } = world.moved;
  const rows = read.trainRows(world);
  const where = capital(place(world));
  if (!train || !rows.length) return [part(msg`Update ${(world.moved.step ?? 0) + 1}: Step draws its batch.`)];
  const atOp = trainOperation(world, weight);
  if (atOp.length) return atOp;
  const worst = read.hardest(world);
  if (worst === null) return counting(world, where);
  const many = train.rows.length > 1;
  const name = requestName(read.request(world));
  const [input, label] = [token(rows[worst].input, "q"), token(rows[worst].label, "d")];
  if (rows.length === 1 && !writes(world)) return wholeLoss(many ? name : "", rows[0], part(rows[worst].label, "d"));
  const who = told(many ? parts`${name}: hardest to predict is ${label}, in row ${String(worst)} ${input}` : parts`Hardest to predict is ${label}, in row ${String(worst)} ${input}`);
  const most = read.largest(rows, "gradient");
  const gradient = part(msg`gradient`, "g");
  if (most === null) return told(parts`${who}: loss ${figure(number(rows[worst].loss), 2)}.`);
  if (most === worst) return told(parts`${who}; its logits have the largest ${gradient} too.`);
  return told(parts`${who}; the largest ${gradient} is at the logits of row ${String(most)} ${token(rows[most].input, "q")}.`);
}

/** Of a class or a string of labels: the loss of the whole sequence. @param {string} name @param {any} row @param {Part[] | Part} label */
function wholeLoss(name, row, label) {
  const loss = part(figure(number(row.loss), 2), "d");
  return told(name ? parts`${name}: saying ${label} costs ${loss} nats.` : parts`Saying ${label} costs ${loss} nats.`);
}

/** @param {World} world @param {string} where */
function counting(world, where) {
  const all = world.moved.train.rows.flat();
  const counts = all.filter((/** @type {any} */ r) => r.counts).length;
  const pass = world.moved.stages.find((/** @type {any} */ s) => s.ms !== null && s.rows);
  if (pass) return [part(msg`${where}: one pass computed all ${pass.rows} rows; ${counts} of them count in the loss.`)];
  return [part(msg`${where}: ${counted(world.moved.train.rows.length, "{0} sequence", "{0} sequences")}, ${counts} of ${all.length} rows count in the loss.`)];
}

/** At the op cursor of a forward or backward pass.
 * @param {World} world @param {Cells} weight @returns {Part[]} */
function trainOperation(world, weight) {
  const stage = world.moved.stages.findLast((/** @type {any} */ s) => s.ms !== null);
  const { op } = world.look;
  if (!op || !stage?.ops.includes(op)) return [];
  if (stage.name !== "backward") return operation(world, weight);
  const name = part(opName(op, severalStacks(stage.ops)), "p");
  const reached = world.moved.train.activation_norms?.findLast((/** @type {any} */ [path]) => path === op || path.startsWith(`${op}.`));
  if (!reached) return told(parts`Backward reaches ${name}.`);
  return told(parts`Backward reaches ${name}: its output has a ${part(msg`gradient`, "g")} of norm ${part(figure(number(reached[1])), "g")}.`);
}
