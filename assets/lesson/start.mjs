// @ts-check
/** The stage with a lesson beside it: /lesson?n=ID&step=K. */

import { h } from "../lib/dom.mjs";
import { msg } from "../lib/language.mjs";
import { lessons } from "./lessons.mjs";
import { last, walked } from "./progress.mjs";
import { Walk } from "./walk.mjs";

/** @param {any} page the store, the run, what a person can do, the views, and where a sentence is said */
export function begin(page) {
  const address = new URLSearchParams(location.search);
  const asked = address.get("n") ?? "";
  const number = Math.max(asked ? -1 : 0, lessons.findIndex((lesson) => lesson.id === (asked || last())));
  pick(lessons[number]?.id ?? "");
  if (number < 0) return unknown(asked);
  const walk = new Walk(page, { lesson: lessons[number], number, following: lessons[number + 1] ?? null, step: stepOf(address.get("step")) });
  walk.own();
  /** @type {any} */ (window).lookbackLesson = walk;
}

/** How wide the lesson is on paper, px. */
const WIDE = 392;

/** What of the lesson is printed beside the stage: its open step, with its checks as they are now. */
export function paper() {
  const lesson = document.getElementById("lesson");
  const now = /** @type {HTMLElement | null | undefined} */ (lesson?.querySelector(".lstep.now"));
  if (!lesson || !now) return null;
  const copy = /** @type {HTMLElement} */ (lesson.cloneNode(true));
  for (const one of [copy, ...copy.querySelectorAll("[id]")]) one.removeAttribute("id");
  return { copy, width: WIDE, height: /** @type {HTMLElement} */ (lesson.firstElementChild).offsetHeight + now.scrollHeight + 40 };
}

/** No lesson has this name: which there are. @param {string} asked */
function unknown(asked) {
  const link = (/** @type {import("./types").Lesson} */ lesson) => h("li", null, h("a", { href: `?n=${lesson.id}` }, lesson.title()), h("p", { class: "note" }, lesson.about()));
  document.getElementById("lesson")?.replaceChildren(h("div", { class: "lesson-none" },
    h("h2", null, msg`There is no lesson “${asked.slice(0, 60)}”.`), h("p", null, msg`These are the lessons:`), h("ol", null, lessons.map(link))));
}

/** @param {string | null} text counts from 1 */
const stepOf = (text) => (/^\d{1,3}$/.test(text ?? "") ? Number(text) - 1 : null);

/** The list of lessons in the top bar. @param {string} now */
function pick(now) {
  const select = /** @type {HTMLSelectElement} */ (document.getElementById("lesson-pick"));
  select.replaceChildren(...(now ? [] : [h("option", { value: "" }, msg`Choose a lesson`)]), ...lessons.map((lesson, i) => h("option", { value: lesson.id }, `${msg`Lesson ${i + 1}: ${lesson.title()}`}${walked(lesson) ? " ✓" : ""}`)));
  select.value = now;
  select.before(h("span", { class: "lesson-short", "aria-hidden": "true" }, now ? msg`Lesson ${lessons.findIndex((lesson) => lesson.id === now) + 1}` : msg`Lesson`));
  select.onchange = () => select.value && location.assign(`?n=${select.value}`);
}
