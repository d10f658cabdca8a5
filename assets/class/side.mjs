// @ts-check
/** Beside the stage of a class: pieces that the teacher's page and a student's have, and the people. */

import { h, hide, list, text } from "../lib/dom.mjs";
import { msg } from "../lib/language.mjs";
import { doing, grouped, lasting, together } from "./people.mjs";

/** @typedef {import("./people.mjs").Person} Person */

/** @param {string} name @param {string} title @param {...any} children */
export const section = (name, title, ...children) =>
  h("section", { class: name }, h("div", { class: "hh" }, h("h2", { class: "h" }, title), h("span", { class: "note" })), ...children);

/** Who may do what: "hover and read numbers: yours". @param {[string, string, boolean][]} rights what, whose, and whether it is one's own */
export const rightsList = (rights) =>
  h("ul", { class: "rights" }, rights.map(([what, whose, mine]) => h("li", { class: mine ? "mine" : "" }, h("span", { class: "sign", "aria-hidden": "true" }), what, h("span", { class: "mono" }, whose))));

export class PeopleBox {
  /** @param {(name: string) => void} pick a name was pressed */
  constructor(pick) {
    this.pick = pick;
    this.own = section("own", msg`On their own`, h("div", { class: "pp-list" }));
    this.following = section("following", msg`Following`, h("p", { class: "names" }), h("div", { class: "pp-list" }));
    text(this.own.querySelector(".note"), msg`where, for how long`);
    /** @type {Person[]} */
    this.people = [];
    this.at = 0;
    setInterval(() => this.draw(), 5000);
  }

  get elements() {
    return [this.own, this.following];
  }

  /** @param {Person[]} people as they are told now */
  told(people) {
    [this.people, this.at] = [people, performance.now()];
    this.draw();
  }

  draw() {
    const { following, own, lost } = grouped(this.people);
    const since = performance.now() - this.at;
    hide(this.own, !own.length);
    hide(this.following, !following.length && !lost.length);
    list(this.own.lastElementChild, own, name, (p) => this.person(p), (e, p) => fill(e, p, doing(p), since));
    text(this.following.querySelector(".note"), following.length ? together(following) : "");
    list(this.following.children[1], following, name, (p) => h("span", null, this.named(p)), () => {});
    hide(this.following.children[1], !following.length);
    list(this.following.lastElementChild, lost, name, (p) => this.person(p), (e, p) => fill(e, p, msg`connection lost`, since));
  }

  /** @param {Person} p @returns {HTMLElement} */
  person(p) {
    return h("div", { class: "pp" }, h("span", { class: "f", "aria-hidden": "true" }), h("span", null, this.named(p), " ", h("span", { class: "note" })), h("span", { class: "mono" }));
  }

  /** @param {Person} p @returns {HTMLElement} */
  named(p) {
    return h("button", { class: "name", type: "button", title: msg`Take ${p.name} out of the class`, onclick: () => this.pick(p.name) }, h("bdi", null, p.name));
  }
}

/** @param {Person} p */
const name = (p) => p.name;

/** @param {any} element @param {Person} p @param {string} note @param {number} since */
function fill(element, p, note, since) {
  element.className = `pp ${p.state}`;
  text(element.children[1].lastElementChild, note);
  text(element.lastElementChild, lasting(p, since));
}
