// @ts-check
/** What a lesson may see of the run: all of it as it stands now, nothing that is not computed. Pure. */

import { beside, distribution } from "../lib/next/candidates.mjs";
import * as read from "../lib/reads.mjs";
import { number } from "../lib/words.mjs";

/** @typedef {import("../lib/types").World} World @typedef {import("./types").Lesson} Lesson @typedef {import("./types").Kept} Kept @typedef {import("./types").Read} Read */
/** @typedef {import("../lib/next/candidates.mjs").Candidate} Candidate */

/** Whose values they are: the name under which the page asks for them (lib/page/registry.mjs). */
export const ASKER = "lesson";

/** What a lesson asks of the server. @param {Lesson} lesson @param {World} world @returns {import("../lib/types").Selector[]} */
export const wants = (lesson, world) => [...(lesson.reads ?? []).map((r) => selector(world, r)), ...(lesson.wants?.(world) ?? [])];

/** Where the model has no such read, a path that no tap has. @param {World} world @param {Read} r @returns {import("../lib/types").Selector} */
function selector(world, { relation, layer, head, request = 0 }) {
  const info = world.opened?.relations.find((/** @type {any} */ one) => one.name === relation);
  const path = info && layer < info.layers ? read.tapsOf(world, info, layer).weights : `no.${relation}`;
  return { path, index: { b: request, h: head }, dtype: "f32" };
}

export class See {
  /** @param {World} world @param {Lesson} lesson @param {Kept} [kept] what is kept of the step @param {Record<string, number | string>} [notes] of all steps */
  constructor(world, lesson, kept = {}, notes = {}) {
    this.world = world;
    this.lesson = lesson;
    this.kept = kept;
    this.notes = notes;
  }

  // ---- where the run stands

  /** "train", "prefill" or "decode". @returns {string} */
  get phase() {
    return read.phase(this.world);
  }

  /** Of decode: how many tokens were taken; of training: updates of this run of the phase. @returns {number} */
  get step() {
    return this.world.moved?.step ?? 0;
  }

  /** Inside a step the stage that ran last, "" at its end. @returns {string} */
  get stage() {
    return this.world.moved?.stage ?? "";
  }

  /** How often the weights were updated since they were built or loaded. @returns {number} */
  get updates() {
    return this.world.moved?.updates ?? 0;
  }

  /** @returns {any} all that is set */
  get scenario() {
    return this.world.opened?.scenario ?? {};
  }

  /** Where it stood when the step of the lesson began; as now, before it did. @returns {{at: number, step: number, phase: string, updates: number}} */
  get from() {
    return this.kept.from ?? { at: this.world.moved?.at ?? -1, step: this.step, phase: this.phase, updates: this.updates };
  }

  /** What a step of this lesson noted when it was done; null before. @param {string} name @returns {number | string | null} */
  note(name) {
    return this.notes[name] ?? null;
  }

  /** Whether it is the run that the lesson opened: nothing hidden, edited or drawn by hand, words taken greedily at T 1, weights as they were loaded
   * (in training they change). @returns {boolean} */
  get untouched() {
    const { masks, edits, draws, policy } = this.scenario;
    const by = [masks, edits, draws].some((list) => list?.length);
    return !by && (policy?.kind ?? "greedy") === "greedy" && (policy?.temperature ?? 1) === 1 && (this.phase === "train" || !this.updates);
  }

  // ---- rows

  /** The tokens of the rows that are known. @param {"s" | "t"} [owner] @param {number} [request] @returns {string[]} */
  tokens(owner = "t", request = 0) {
    return this.rows(owner, request).filter(read.known).map((row) => row.token);
  }

  /** @param {"s" | "t"} owner @param {number} [request] @returns {read.Row[]} */
  rows(owner, request = 0) {
    return read.rows(this.of(request), owner);
  }

  /** Of training: each row of a sequence with its input, label, whether it counts, its loss and gradient (null: not computed).
   * @param {number} [request] @returns {any[]} */
  trained(request = 0) {
    return read.trainRows(this.of(request));
  }

  /** The row that decides what is written next, -1 where none is computed. @param {number} [request] */
  deciding(request = 0) {
    return read.requestView(this.of(request))?.decision_row ?? -1;
  }

  // ---- what is decided

  /** Every word with its probability, the most probable first; none before the row that decides is computed. `unedited`: without masks and edits, null
   * where there are none. @param {number} [request] @returns {Candidate[]} */
  words(request = 0) {
    const { opened } = this.world;
    const policy = opened?.scenario.policy;
    return policy ? distribution(read.requestView(this.of(request)), opened.vocabulary.target, policy) : [];
  }

  /** What Step takes. @param {number} [request] @returns {Candidate | null} */
  lead(request = 0) {
    return this.words(request).find((c) => c.lead) ?? null;
  }

  /** The probability of a word, NaN where none has one. @param {string} token @param {number} [request] */
  p(token, request = 0) {
    return this.words(request).find((c) => c.token === token)?.probability ?? NaN;
  }

  /** The same without masks and edits, where there are any. @param {string} token @param {number} [request] */
  unedited(token, request = 0) {
    return this.words(request).find((c) => c.token === token)?.unedited ?? NaN;
  }

  /** How far what is decided is from the unedited: KL in nats, as Next token writes it; "" where nothing is edited. @param {number} [request] @returns {string} */
  apart(request = 0) {
    const { opened } = this.world;
    return (opened && beside(read.requestView(this.of(request)), opened.vocabulary.target, opened.scenario.policy)?.kl) ?? "";
  }

  // ---- who reads whom

  /** A row's weights over all keys, as recorded; null while that row is not computed. @param {Read} of one of the lesson's `reads` @param {number} row @returns {number[] | null} */
  weights(of, row) {
    const at = (this.lesson.reads ?? []).findIndex((r) => JSON.stringify(r) === JSON.stringify(of));
    const info = this.relation(of.relation);
    const found = at < 0 || !info ? undefined : this.world.values(ASKER, at)[0];
    const keys = info ? this.rows(info.key, of.request) : [];
    if (!found || !keys.length || !this.computed(info, row, of.request)) return null;
    const value = read.cells(found, of.request ?? 0, of.head);
    const line = keys.map((_, key) => value(row, key));
    return line.some(Number.isFinite) ? line.map((w) => (Number.isFinite(w) ? w : 0)) : null;
  }

  /** What a row reads most: its number, token and weight. @param {Read} of @param {number} row */
  most(of, row) {
    const line = this.weights(of, row);
    if (!line) return null;
    const key = line.indexOf(Math.max(...line));
    return { key, token: this.rows(this.relation(of.relation).key, of.request)[key].token, weight: line[key] };
  }

  /** How many keys a row may read, of how many. @param {string} relation @param {number} layer @param {number} row @param {number} [request] */
  reads(relation, layer, row, request = 0) {
    const info = this.relation(relation);
    const keys = info ? this.rows(info.key, request) : [];
    const mask = info && read.visibility(info, layer, keys);
    const real = keys.map((_, key) => key).filter((key) => read.known(keys[key]));
    return { open: real.filter((key) => mask?.allows(row, key)).length, of: real.length };
  }

  /** The cells that are hidden by hand, in whichever layer; `layers` says in which. @param {string} relation @returns {{query: number, key: number, layers: number[]}[]} */
  hidden(relation) {
    return this.byHand(relation, false);
  }

  /** The cells that are shown by hand, though the mask's program hides them. @param {string} relation */
  uncovered(relation) {
    return this.byHand(relation, true);
  }

  /** @param {string} relation @param {boolean} visible @returns {{query: number, key: number, layers: number[]}[]} */
  byHand(relation, visible) {
    const info = this.relation(relation);
    /** @type {Map<string, {query: number, key: number, layers: number[]}>} */
    const found = new Map();
    const [rows, keys] = info ? [this.rows(info.query), this.rows(info.key)] : [[], []];
    for (let layer = 0; layer < (info?.layers ?? 0); layer++) {
      const mask = read.visibility(info, layer, keys);
      rows.forEach((_, query) => keys.forEach((_, key) => {
        if (mask.own(query, key) !== visible) return;
        const cell = found.get(`${query} ${key}`) ?? { query, key, layers: [] };
        cell.layers.push(layer);
        found.set(`${query} ${key}`, cell);
      }));
    }
    return [...found.values()];
  }

  /** @param {string} name @returns {any} */
  relation(name) {
    return this.world.opened?.relations.find((/** @type {any} */ r) => r.name === name) ?? null;
  }

  // ---- what it costs

  /** What is kept for later steps, bytes, and what one more row adds. */
  get kept_bytes() {
    const all = this.world.moved?.kept ?? [];
    return { now: sum(all, "bytes"), row: sum(all.filter((/** @type {any} */ k) => k.grows), "bytes_per_row") };
  }

  /** The loss of this update's batch, NaN before it is known. */
  get loss() {
    return number(this.world.moved?.train?.loss);
  }

  /** A check of this moment, by its name: whether it holds, and its figure; null before it was made. @param {string} id @returns {{status: string, measured: string} | null} */
  check(id) {
    const { checked, moved } = this.world;
    return checked?.at === moved?.at ? (checked?.checks.find((/** @type {any} */ c) => c.id === id) ?? null) : null;
  }

  /** Values for one of the lesson's own `wants`. @param {number} at @returns {import("../lib/types").Known[]} */
  values(at) {
    return this.world.values(ASKER, (this.lesson.reads ?? []).length + at);
  }

  /** The world, looking at a request. @param {number} [request] @returns {World} */
  of(request = 0) {
    return { ...this.world, look: { ...this.world.look, request, op: null } };
  }

  /** @param {any} info a relation @param {number} row @param {number} [request] */
  computed(info, row, request = 0) {
    const one = this.rows(info.query, request)[row];
    return !!one && read.known(one);
  }
}

/** @param {any[]} list @param {string} field */
const sum = (list, field) => list.reduce((all, one) => all + (one[field] ?? 0), 0);
