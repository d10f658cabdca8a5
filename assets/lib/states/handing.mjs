// @ts-check
/** How a source comes to the target through one vector: what makes the summary, the summary itself, and where it is handed over. */

import * as draw from "../canvas.mjs";

/** @typedef {CanvasRenderingContext2D} Canvas @typedef {import("./chains.mjs").Chain} Chain @typedef {import("./chains.mjs").Line} Line */

/** What makes the summary, and where it goes. @param {Canvas} g @param {Chain} c @param {Line} source */
export function delivery(g, c, source) {
  const { geo, y, summary, target } = c;
  if (!summary || source.last < 0) return;
  const [left, right, middle] = [geo.x(source.rows.length) + 6, geo.x(target.at) - 6, y.bottom + y.chip / 2];
  const known = source.rows.flatMap((p, i) => (source.done(i) && p.kind !== "padded" ? [i] : []));
  const last = source.back ? known[0] : known[known.length - 1];
  const ends = summary.from === "last" ? [last] : summary.from === "ends" ? [known[0], known[known.length - 1]] : [];
  const fill = draw.alpha(draw.css("--v-fill"), target.last < 0 ? 0.88 : 0.3);
  if (summary.from === "all") for (const i of known) draw.ribbon(g, geo.middle(i), source.group ? y.bottom : y.top + y.chip + 2, left + 8, y.bottom + (source.group ? -8 : 0), 3, fill);
  for (const i of ends) lane(g, geo.middle(i), left, middle, i === source.rows.length - 1 ? 0 : -y.chip / 2 - 8);
  if (summary.start && target.rows.length) lane(g, right, geo.middle(target.at), middle, 0);
  if (!summary.every) return;
  const above = y.bottom - 7;
  target.rows.forEach((_, i) => {
    if (!target.done(i)) return;
    const on = i === c.row;
    g.fillStyle = on ? draw.css("--v-fill") : draw.css("--line-2");
    const x = geo.middle(target.at + i) - geo.slot * 0.22;
    if (on) g.fillRect(right - 12, above - 1, x - right + 12, 2.4);
    else g.fillRect(geo.x(target.at + i) - geo.slot * 0.3, above - 0.5, geo.slot * 0.58, 1.4);
    g.fillRect(x - 1, above, 2.4, 8);
  });
}

/** A line in ink from one box to another, straight or past those between. @param {Canvas} g @param {number} from @param {number} to @param {number} y @param {number} down */
function lane(g, from, to, y, down) {
  g.strokeStyle = draw.css("--ink-2");
  g.lineWidth = 2.2;
  g.beginPath();
  g.moveTo(from, y);
  if (down) g.lineTo(from, y + down);
  if (down) g.lineTo(to - 4, y + down);
  if (down) g.lineTo(to - 4, y);
  g.lineTo(to, y);
  g.stroke();
}

/** The summary: the one thing that the target learns of the source. @param {Canvas} g @param {Chain} c @param {Line} source */
export function summaryBox(g, c, source) {
  const { geo, y, summary } = c;
  if (!summary) return;
  const [x, w] = [geo.x(source.rows.length) + 6, 2 * geo.slot - 12];
  const done = source.last >= 0;
  if (!done) draw.dashed(g, x, y.bottom - 3, w, y.chip + 6, 6);
  else {
    const here = summary.kept || c.target.last < 0;
    g.fillStyle = draw.css(here ? "--surface" : "--sunk");
    draw.roundRect(g, x, y.bottom - 3, w, y.chip + 6, 6);
    g.fill();
    g.setLineDash(here ? [] : [1, 2]);
    g.strokeStyle = draw.css(here ? "--ink" : "--line-2");
    g.lineWidth = here ? 2.2 : 1;
    g.stroke();
    g.setLineDash([]);
  }
  const said = summary.width ? `c [${summary.width}]` : "c";
  draw.label(g, said, x + w / 2, y.bottom + y.chip / 2, { size: 12.5, mono: true, weight: 700, align: "center", color: done ? "--ink" : "--ink-3" });
  const lines = [summary.made, ...summary.handed.map((h) => `→ ${h}`)];
  const [from, room] = [y.top + 6, y.bottom - y.top - 14];
  const step = Math.min(14, room / lines.length);
  draw.font(g, 480, 10.5);
  lines.forEach((said, i) => draw.label(g, draw.clip(g, said, w + 10), x + w / 2, from + i * step, { size: 10.5, weight: i ? 480 : 560, align: "center", color: i ? "--ink-2" : "--ink" }));
}
