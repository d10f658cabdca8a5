// @ts-check
/** Questions made from the run, about the row that the next step computes, and what was measured when it has. Pure. */

import { writes } from "../lib/answers.mjs";
import { msg, parts } from "../lib/language.mjs";
import * as read from "../lib/reads.mjs";
import { figure, number, probability, relationName, shown } from "../lib/words.mjs";

/** @typedef {import("../lib/types").World} World */
/** @typedef {{text: string, key: string | null}} Option @typedef {Record<string, string | number | boolean | null>} About */
/** @typedef {{question: string, options: Option[], about?: About}} Asked */
/** @typedef {{asked: Asked, why: ""} | {asked: null, why: string}} Made a question, or why there is none */

const MOST = 12;
const LONGEST = 60;
/** The option for what is none of the others. */
export const OTHER = "other";

/** @param {string} why @returns {Made} */
const none = (why) => ({ asked: null, why });

/** The target row that the next step computes, with its token: not computed yet, so that nobody can look. @param {World} world
 * @returns {{row: number, token: string} | string} or why there is none */
export function nextRow(world) {
  const view = read.requestView(world);
  if (read.phase(world) === "train" || !view) return msg`In training there is no next row to ask about.`;
  if (!writes(world)) return msg`This model writes nothing: there is no next row.`;
  const list = read.rows(world, "t");
  const last = read.lastKnown(list);
  const unread = world.moved.stage === "choose" || world.moved.stage === "encode" || (world.moved.phase === "prefill" && !world.moved.step);
  if (unread) return last < 0 ? msg`There is no row yet.` : { row: last, token: list[last].token };
  const choice = read.choice(view);
  return !choice || world.moved.ended ? msg`Nothing goes on from here: go back, or ask something of your own.` : { row: last + 1, token: choice.token };
}

/** "Which source word will row 3 noir read most?", for the shown relation, layer and head. @param {World} world @returns {Made} */
export function readPoll(world) {
  const at = read.relation(world);
  if (!at) return none(msg`This model has no reads to ask about.`);
  const next = nextRow(world);
  if (typeof next === "string") return none(next);
  if (at.info.query !== "t") return none(msg`The rows of ${relationName(at.info.name)} are read already: show another relation.`);
  const own = at.info.key === "t";
  const rows = read.rows(world, at.info.key);
  const keys = own ? [...rows.slice(0, next.row), { token: next.token, state: "known" }] : rows.filter(read.known);
  if (keys.length > MOST) return none(msg`There are ${keys.length} rows to read; a question has at most ${MOST} answers.`);
  if (keys.length < 2) return none(msg`There is one row to read: nothing to guess.`);
  const options = keys.map((k, i) => ({ text: named(keys, i), key: String(i) }));
  const about = { kind: "read", row: next.row, token: cut(next.token), relation: at.info.name, layer: at.layer, head: at.head, own, request: read.request(world), subject: subject(world) };
  return { asked: { question: words({ question: "", about }), options, about }, why: "" };
}

/** "Which token comes after noir?", with words that it may be. @param {World} world @returns {Made} */
export function nextPoll(world) {
  const next = nextRow(world);
  if (typeof next === "string") return none(next);
  const request = read.request(world);
  const gold = world.opened?.gold?.[request]?.target ?? [];
  const others = (read.requestView(world)?.candidates ?? []).map((/** @type {any} */ c) => c.token);
  const some = [gold[next.row], ...gold.slice(next.row + 1), ...others].filter((t) => typeof t === "string" && t && t !== next.token && t.length <= LONGEST);
  const tokens = [...new Set(some)].slice(0, 5).sort((a, b) => a.localeCompare(b)); // in an order that tells nothing
  const options = [...tokens.map((t) => ({ text: shown(t), key: t })), { text: msg`another one`, key: OTHER }];
  const about = { kind: "next", row: next.row, token: cut(next.token), request, subject: subject(world) };
  return options.length < 2 ? none(msg`There is nothing to choose between.`) : { asked: { question: words({ question: "", about }), options, about }, why: "" };
}

/** What a question is about beside its row: the model and what it is given. A measurement of anything else answers nothing.
 * @param {World} world @returns {string} */
export function subject(world) {
  const { architecture, task, requests } = world.opened?.scenario ?? {};
  let hash = 0x811c9dc5; // FNV-1a
  for (const unit of JSON.stringify([architecture, task, requests])) hash = Math.imul(hash ^ /** @type {number} */ (unit.codePointAt(0)), 0x01000193);
  return (hash >>> 0).toString(36);
}

/** Whether the run is still what the question is about. @param {World} world @param {About | null | undefined} about */
export const meant = (world, about) => !about?.kind || about.subject === subject(world);

/** @param {string} token */
const cut = (token) => [...token].slice(0, LONGEST).join("");

/** A key's word; with its row where two have the same. @param {{token: string}[]} keys @param {number} i */
function named(keys, i) {
  const word = shown(keys[i].token);
  return cut(keys.some((k, j) => j !== i && k.token === keys[i].token) ? `${word} (${i})` : word);
}

/** The question in the language of this page, in pieces: words, and the token that it is about.
 * @param {{question: string, about?: About | null}} poll @returns {(string | {token: string})[]} */
export function pieces({ question, about }) {
  const token = { token: shown(String(about?.token ?? "")) };
  if (about?.kind === "read") return about.own ? parts`Which row will row ${String(about.row)} ${token} read most?` : parts`Which source word will row ${String(about.row)} ${token} read most?`;
  if (about?.kind === "next") return parts`Which token comes after row ${String(about.row)} ${token}?`;
  return [question];
}

/** @param {{question: string, about?: About | null}} poll */
export const words = (poll) => pieces(poll).map((p) => (typeof p === "string" ? p : p.token)).join("");

/** In which read it is: "L2 H3, cross". @param {About | null | undefined} about @returns {string} */
export const inside = (about) => (about?.kind === "read" ? `L${Number(about.layer) + 1} H${Number(about.head) + 1}, ${relationName(String(about.relation))}` : "");

/** Whether the row that was asked about is there, with the token that was asked about, and computed. @param {World} world @param {About} about */
function computed(world, about) {
  if (read.phase(world) === "train" || !meant(world, about)) return false;
  const view = world.moved?.requests?.[Number(about.request)];
  const row = view?.target?.[Number(about.row)];
  const read_ = world.moved?.phase === "decode" || world.moved?.step > 0;
  return !!row && read.known(row) && cut(row.token) === about.token && read_ && world.moved.stage !== "choose";
}

/** Which key got most, and how much: null while that is not known.
 * @param {World} world @param {About} about @param {number} options @param {(row: number, key: number) => number} weight of the read that was asked about
 * @returns {{option: number, measured: string} | null} */
export function measuredRead(world, about, options, weight) {
  if (!computed(world, about)) return null;
  const all = Array.from({ length: options }, (_, key) => weight(Number(about.row), key));
  const most = Math.max(...all.filter(Number.isFinite));
  const option = all.indexOf(most);
  return option < 0 ? null : { option, measured: figure(most) };
}

/** What the row decided, and with which probability. @param {World} world @param {About} about @param {Option[]} options
 * @returns {{option: number | null, measured: string} | null} */
export function measuredNext(world, about, options) {
  const view = world.moved?.requests?.[Number(about.request)];
  if (!computed(world, about) || view?.decision_row !== about.row) return null;
  const choice = read.choice(view);
  if (!choice) return null;
  const found = options.findIndex((o) => (o.key ?? o.text) === choice.token);
  const other = options.findIndex((o) => o.key === OTHER);
  const option = found >= 0 ? found : other >= 0 ? other : null;
  const p = probability(number(choice.probability));
  return { option, measured: found >= 0 ? p : `${shown(choice.token)} ${p}` };
}

/** What a person typed as a question of his own. @param {string} question @param {string} lines one answer a line @returns {Made} */
export function ownPoll(question, lines) {
  const given = question.trim();
  const all = lines.split("\n").map((l) => l.trim()).filter(Boolean);
  if (!given) return none(msg`Type the question.`);
  if ([...given].length > 200) return none(msg`The question has ${[...given].length} characters; allowed: 200.`);
  if (all.length < 2 || all.length > MOST) return none(tooMany(all.length));
  const long = all.find((l) => [...l].length > LONGEST);
  if (long) return none(msg`An answer has ${[...long].length} characters; allowed: ${LONGEST}.`);
  if (new Set(all).size < all.length) return none(msg`Two answers are the same.`);
  return { asked: { question: given, options: all.map((text) => ({ text, key: null })) }, why: "" };
}

/** @param {number} count */
const tooMany = (count) => msg`There are ${count} answers, one a line; allowed: 2 to ${MOST}.`;

/** How many said what was measured. @param {{counts: number[] | null, answer: number | null}} poll */
export const right = ({ counts, answer }) => (answer === null || !counts ? 0 : counts[answer]);
