// @ts-check
/** A tensor laid out for the eye: rows and columns of one picture, a picture for each panel, the other axes at one place. Pure. */

/** @typedef {import("../types").Known} Known @typedef {import("../types").Look["layout"]} Wish */
/** @typedef {{axis: string, size: number}} Axis an axis and how many places it has */
/**
 * @typedef {object} Layout
 * @property {Axis | null} rows @property {Axis | null} columns @property {Axis | null} panels
 * @property {(Axis & {at: number})[]} rest axes of more than one place that stand at one of them
 * @property {Axis[]} choice the axes that may be rows, columns or panels
 * @property {number} bin squares of so many rows and columns are shown as one, their largest; 1: every number
 * @property {number} cut only so many of the rows are shown; 0: all
 */

/** So many numbers of one tensor cross the wire and are drawn. */
export const MOST = 1 << 17;
const PANELS = 16;
const SLOTS = /** @type {const} */ (["columns", "rows", "panels"]);

/** Which axis is what. By themselves the last is columns, the one before rows, the one before that panels; a wish goes first. What is
 * too large gives up its panels, and then is binned.
 * @param {Axis[]} axes in the tensor's order @param {Wish} wish @param {Record<string, number>} here where an axis stands that nobody placed
 * @returns {Layout} */
export function layout(axes, wish = {}, here = {}) {
  const choice = axes.filter((a) => a.size > 1);
  const free = [...choice].reverse();
  /** @type {Record<string, Axis | null>} */
  const slots = { columns: null, rows: null, panels: null };
  const wished = SLOTS.map((slot) => [slot, choice.find((a) => a.axis === wish[slot])]);
  for (const [slot, axis] of /** @type {[string, Axis | undefined][]} */ (wished)) if (axis && free.includes(axis)) slots[slot] = take(free, axis);
  for (const slot of SLOTS) if (!slots[slot] && wish[slot] !== "") slots[slot] = slot === "panels" && free[0]?.axis === "b" ? null : take(free, free[0]);
  const size = () => SLOTS.reduce((n, slot) => n * (slots[slot]?.size ?? 1), 1);
  if (slots.panels && size() > MOST) {
    free.push(slots.panels);
    slots.panels = null;
  }
  const rest = choice.filter((a) => free.includes(a)).map((a) => ({ ...a, at: Math.min(a.size - 1, wish.index?.[a.axis] ?? here[a.axis] ?? 0) }));
  const { rows, columns, panels } = slots;
  const many = size() > MOST && rows && columns;
  const map = many && [rows, columns].every((a) => /^[st]'?$/.test(a.axis));
  return {
    rows, columns, panels, rest, choice,
    bin: map ? Math.ceil(Math.sqrt(size() / MOST)) : 1,
    cut: many && !map ? Math.max(1, Math.floor(MOST / columns.size)) : 0,
  };
}

/** @param {Axis[]} free @param {Axis | undefined} axis @returns {Axis | null} */
function take(free, axis) {
  if (!axis) return null;
  free.splice(free.indexOf(axis), 1);
  return axis;
}

/** The wish that puts an axis into a slot; what was there goes where the axis came from.
 * @param {Layout} now @param {"rows" | "columns" | "panels"} slot @param {string} axis "": none @param {Wish} wish @returns {Wish} */
export function placed(now, slot, axis, wish) {
  const next = { ...wish, rows: now.rows?.axis ?? "", columns: now.columns?.axis ?? "", panels: now.panels?.axis ?? "" };
  const from = SLOTS.find((s) => next[s] === axis && axis);
  if (from) next[from] = next[slot];
  next[slot] = axis;
  return next;
}

/** A selector for what a layout shows. @param {string} path @param {Layout} now @param {import("../types").Look["side"]} side
 * @returns {import("../types").Selector} */
export function selector(path, now, side) {
  const index = Object.fromEntries(now.rest.map((a) => [a.axis, a.at]));
  const size = (now.rows?.size ?? 1) * (now.columns?.size ?? 1) * (now.panels?.size ?? 1);
  return { path, side, index, dtype: size > MOST / 2 ? "f16" : "f32", ...(now.bin > 1 ? { bin: now.bin } : {}), ...(now.cut && now.rows ? { span: { [now.rows.axis]: [0, now.cut] } } : {}) };
}

/** How many panels are drawn, and how many there are. @param {Layout} now @param {Known} known */
export function panelCount(now, known) {
  const all = now.panels ? known.shape[known.axes.indexOf(now.panels.axis)] : 1;
  return { shown: Math.min(PANELS, all), all };
}

/** One panel of a tensor as a matrix of numbers; NaN where nothing is known.
 * @param {Known} known @param {Layout} now @param {number} panel @returns {{rows: number, columns: number, at: (row: number, column: number) => number, unknown: (row: number, column: number) => boolean}} unknown: no number came for it */
export function picture(known, now, panel) {
  const place = (/** @type {Axis | null} */ a) => (a ? known.axes.indexOf(a.axis) : -1);
  const [r, c, p] = [now.rows, now.columns, now.panels].map(place);
  const rest = new Map(now.rest.map((a) => [a.axis, a.at]));
  const index = known.axes.map((axis, i) => (i === p ? panel : Math.min(rest.get(axis) ?? known.shape[i] - 1, known.shape[i] - 1)));
  const size = (/** @type {number} */ i) => (i < 0 ? 1 : known.shape[i]);
  const last = known.axes.length - 1;
  const rows = size(r), columns = size(c);
  const flat = known.plane && r >= 0 && r === last - 1 && c === last ? known.plane(...index.slice(0, -2)) : null;
  const turned = known.plane && c >= 0 && c === last - 1 && r === last ? known.plane(...index.slice(0, -2)) : null;
  const to = (/** @type {number} */ row, /** @type {number} */ column) => index.map((n, i) => (i === r ? row : i === c ? column : n));
  const at = flat ?? (turned ? (/** @type {number} */ row, /** @type {number} */ column) => turned(column, row) : (/** @type {number} */ row, /** @type {number} */ column) => known.at(...to(row, column)));
  return { rows, columns, at, unknown: (row, column) => Number.isNaN(at(row, column)) && !!known.has && !known.has(...to(row, column)) };
}

/** What a place of a picture stands for along an axis, "3"; where squares are binned "4–5". Pure. @param {Layout} now @param {Axis | null} axis @param {number} i */
export const span = (now, axis, i) => (axis && now.bin > 1 && axis !== now.panels ? `${i * now.bin}–${Math.min(axis.size, (i + 1) * now.bin) - 1}` : String(i));

/** Smallest, largest and mean of what is finite; how many numbers there are, how many are not a number, how many are infinite.
 * @param {{rows: number, columns: number, at: (row: number, column: number) => number, unknown?: (row: number, column: number) => boolean}[]} pictures */
export function summary(pictures) {
  let [count, nan, infinite, sum, min, max] = [0, 0, 0, 0, Infinity, -Infinity];
  for (const m of pictures) {
    for (let r = 0; r < m.rows; r++) {
      for (let c = 0; c < m.columns; c++) {
        const v = m.at(r, c);
        if (m.unknown?.(r, c)) continue;
        count++;
        if (Number.isNaN(v)) nan++;
        else if (!Number.isFinite(v)) infinite++;
        else {
          sum += v;
          if (v < min) min = v;
          if (v > max) max = v;
        }
      }
    }
  }
  const finite = count - nan - infinite;
  return { count, nan, infinite, min: finite ? min : NaN, max: finite ? max : NaN, mean: finite ? sum / finite : NaN };
}

/** How panels stand in a box so that their cells are as large as can be: how many side by side, and how tall each picture is.
 * @param {number} width px @param {number} height px @param {number} panels @param {{rows: number, columns: number}} of one panel
 * @param {{caption: number, row: number}} o px over each panel; the tallest row where it need not be as tall as it is wide */
export function arranged(width, height, panels, { rows, columns }, { caption, row }) {
  let best = { across: 1, tall: 0, cell: -1 };
  for (let across = 1; across <= Math.min(panels, 6); across++) {
    const lines = Math.ceil(panels / across);
    const wide = (width - 8 * (across - 1)) / across / Math.max(1, columns);
    const room = (height - 6 * (lines - 1)) / lines - caption;
    const tall = Math.min(room / Math.max(1, rows), Math.max(row, Math.min(wide, 28)));
    const cell = Math.min(wide, tall);
    if (cell > best.cell + 1e-9) best = { across, tall: Math.round(Math.max(tall * rows, Math.min(room, 12))), cell };
  }
  return best;
}
