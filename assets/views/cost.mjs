// @ts-check
/** What this run costs: work, steps that wait for each other, the longest way between rows, what is kept; beside them the papers' terms and
 * the time. Counted when it is asked for. */

import { h, hide, list, set, text } from "../lib/dom.mjs";
import { charts, count, largest, lines, terms } from "../lib/inspect/costs.mjs";
import { drawCrossings } from "../lib/inspect/crossings.mjs";
import { msg } from "../lib/language.mjs";
import { measureWhenIdle } from "../lib/run/measuring.mjs";
import * as read from "../lib/reads.mjs";
import { opName, percent, severalStacks } from "../lib/words.mjs";

/** What was counted of the request that is looked at, at this moment, or null. @param {import("../lib/types").World} world */
function measured(world) {
  const found = world.analysis.cost?.result;
  return found && found.moment === world.moved?.at && found.request === read.request(world) ? found : null;
}

/** @type {import("../lib/types").View} */
export default {
  id: "cost",
  title: "Cost and ways",
  slot: "checks",
  phases: ["prefill", "decode"],
  wants: () => [],

  mount(element) {
    element.append(h("details", { class: "cost" },
      h("summary", null, h("h2", { class: "h" }, msg`Cost and ways`), h("span", { class: "note" })),
      h("div", { class: "row" }, h("button", { type: "button", class: "btn sm" }), h("button", { type: "button", class: "btn sm" }), h("progress", { max: 1, value: 0, "aria-label": msg`Progress`, hidden: true })),
      h("ul", { class: "costs" }), h("ul", { class: "costs by-op" }), h("ul", { class: "costs papers" }), h("canvas", { role: "img", class: "crossings", hidden: true }),
      h("canvas", { role: "img", hidden: true }), h("p", { class: "note" })));
  },

  draw(element, world, context) {
    const details = /** @type {any} */ (element.firstElementChild);
    const [summary, bar, main, ops, papers, crossings, canvas, note] = details.children;
    const result = measured(world), here = !!result;
    const args = { request: read.request(world) };
    const once = measureWhenIdle(world, context, "cost", args, details.open && !here, Math.max(world.moved?.sizes.t ?? 0, world.moved?.sizes.s ?? 0) <= 64);
    const sweep = () => context.send({ kind: "analyse", name: "cost", arguments: { ...args, sweep: true } });
    const progress = world.analysis.cost?.progress ?? 1, running = progress < 1;
    text(summary.lastElementChild, here ? msg`${count(result.macs)} MAC, ${result.sequential} in a row` : "");
    text(bar.children[0], msg`count`);
    text(bar.children[1], msg`for other n`);
    bar.children[0].onclick = once.start;
    bar.children[1].onclick = sweep;
    for (const button of [bar.children[0], bar.children[1]]) button.disabled = running || world.role !== "writer";
    hide(bar.children[2], !running);
    bar.children[2].value = progress;
    details.ontoggle = () => details.open && this.draw(element, world, context);
    each(main, here ? lines(result) : []);
    const several = here && severalStacks(result.by_op.map((/** @type {any} */ o) => o[0]));
    each(ops, here ? largest(result.by_op).map(([name, macs]) => ({ name: opName(name, several), value: count(macs), note: percent(macs / result.macs), mark: /** @type {const} */ ("e") })) : []);
    each(papers, here ? terms(result) : []);
    const crossed = here && result.terms?.crossovers;
    hide(crossings, !crossed);
    if (crossed) set(crossings, "aria-label", msg`The leading terms over n: n²·d is larger than n·d² from n = ${crossed.recurrent}, than k·n·d² from ${crossed.convolutional}, than r·n·d from ${crossed.restricted}`);
    const swept = here && result.sweep.length > 1;
    hide(canvas, !swept);
    text(note, here ? msg`Work is matrix products and convolutions of these shapes, hidden cells too. The last lines are the papers' leading terms: they say how work grows, not how much there is.` : msg`Counted from this run's own shapes, masks and loops.`);
    if (swept) set(canvas, "aria-label", result.sweep.map((/** @type {any} */ p) => msg`${p.n} rows: ${count(p.macs)} MAC, ${p.sequential} in a row`).join("; "));
    return () => {
      if (crossed && details.open) drawCrossings(crossings, result.terms);
      if (swept && details.open) charts(canvas, result.sweep);
    };
  },

  table(world) {
    const result = measured(world);
    const columns = ["n", msg`work (MAC)`, msg`steps in a row`, msg`longest way`, msg`kept (bytes)`, msg`time (ms)`];
    if (!result) return { columns, rows: [] };
    const row = (/** @type {any} */ p) => [p.n ?? p.rows, p.macs, p.sequential, p.longest, p.bytes, p.ms];
    return { columns, rows: [row(result), ...result.sweep.map(row)] };
  },
};

/** @param {HTMLElement} element @param {import("../lib/inspect/costs.mjs").Line[]} found */
function each(element, found) {
  list(element, found, (l) => l.name, () => h("li", null, h("span"), h("b", { class: "mono" }), h("span", { class: "dim" }), h("i")), (line, l) => {
    text(line.children[0], l.name);
    text(line.children[1], l.value);
    text(line.children[2], l.note);
    set(line.children[2], "title", l.note);
    line.children[3].className = `pv ${l.mark}`;
  });
}
