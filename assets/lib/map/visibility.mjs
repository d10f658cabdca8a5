// @ts-check
/** Who may read whom, as models/parts/visibility.py says it: a program plus single cells. Pure.
 *
 * A mask here is plain data, as it stands in a scenario and in `opened.relations[].masks`: {program, parameter, cells, every,
 * global_rows}. A cell is {query, key, visible}, or with `queries` and `keys` the rectangle that begins there.
 */

import { msg } from "../language.mjs";

/** @typedef {{query: number, key: number, visible: boolean, queries?: number, keys?: number}} Cell */
/** @typedef {{program: string, parameter: number, cells: Cell[], every?: number, global_rows?: number[]}} Mask */
/** @typedef {Mask & {relation: string, layer: number | null}} ScenarioMask */

/** The last row that a mask can name (app/session/methods.py, MAX_TOKENS). */
export const LARGEST = 512;

/** Programs whose rows never read a later one. */
export const CAUSAL = new Set(["causal", "past", "causal_sliding", "causal_block"]);
/** The letter of the parameter, of those that have one. @type {Record<string, string>} */
const LETTERS = { prefix: "P", sliding: "r", causal_sliding: "r", block: "n", causal_block: "n" };

/** The programs in the order in which they are offered, in words. */
export const programs = () => [
  { id: "full", title: msg`full`, why: msg`every row reads every row` },
  { id: "causal", title: msg`causal`, why: msg`a row reads itself and earlier rows` },
  { id: "past", title: msg`past`, why: msg`a row reads earlier rows, not itself; the first reads nothing` },
  { id: "prefix", title: msg`prefix`, why: msg`rows before P read each other freely, later rows are causal` },
  { id: "source_target", title: msg`source-target`, why: msg`rows of the source, up to each request’s own →, read each other freely; later rows are causal` },
  { id: "sliding", title: msg`sliding`, why: msg`a row reads rows at most r away, on both sides` },
  { id: "causal_sliding", title: msg`causal sliding`, why: msg`a row reads itself and at most r rows before it` },
  { id: "block", title: msg`block`, why: msg`rows are cut into blocks of n; a row reads its own block` },
  { id: "causal_block", title: msg`causal block`, why: msg`a row reads itself and earlier rows of its own block of n` },
].map((p) => ({ ...p, letter: LETTERS[p.id] ?? "" }));

/** The programs' names, as a scenario has them. */
export const PROGRAMS = ["full", "causal", "past", "prefix", "source_target", "sliding", "causal_sliding", "block", "causal_block"];

/** The program before dilation and global rows.
 * @param {Mask} mask @param {number} border @returns {(query: number, key: number) => boolean} */
function band({ program, parameter: n, every = 1 }, border) {
  switch (program) {
    case "full": return () => true;
    case "causal": return (q, k) => k <= q;
    case "past": return (q, k) => k < q;
    case "prefix": return (q, k) => k <= q || k < n;
    case "source_target": return (q, k) => k <= q || k < border;
    case "sliding": return (q, k) => Math.abs(q - k) <= n * every;
    case "causal_sliding": return (q, k) => k <= q && q - k <= n * every;
    case "block": return (q, k) => Math.floor(q / n) === Math.floor(k / n);
    case "causal_block": return (q, k) => k <= q && Math.floor(q / n) === Math.floor(k / n);
    default: throw new Error(`mask program "${program}" is unknown; known: ${PROGRAMS.join(", ")}`);
  }
}

/** What the program alone says, by absolute rows.
 * @param {Mask} mask @param {number} border @returns {(query: number, key: number) => boolean} */
function programOf(mask, border = 0) {
  const { every = 1, global_rows: rows = [] } = mask;
  const near = band(mask, border);
  const dilated = every > 1 ? (/** @type {number} */ q, /** @type {number} */ k) => near(q, k) && (q - k) % every === 0 : near;
  if (!rows.length) return dilated;
  const all = new Set(rows);
  const causal = CAUSAL.has(mask.program);
  return (q, k) => dilated(q, k) || ((all.has(q) || all.has(k)) && (!causal || k < q || (k === q && mask.program !== "past")));
}

/** Cells as a grid, 1 shown, -1 hidden, 0 as the program says; a later one overrules an earlier one.
 * @param {Cell[]} cells @param {number} [least] rows and columns that it has room for */
function grid(cells, least = 0) {
  const rows = cells.reduce((n, c) => Math.max(n, c.query + (c.queries ?? 1)), least);
  const columns = cells.reduce((n, c) => Math.max(n, c.key + (c.keys ?? 1)), least);
  const at = new Int8Array(rows * columns);
  for (const c of cells)
    for (let q = c.query; q < c.query + (c.queries ?? 1); q++) at.fill(c.visible ? 1 : -1, q * columns + c.key, q * columns + c.key + (c.keys ?? 1));
  return { rows, columns, at };
}

/** The token that ends the source where source and target are one stream (models/tasks/one_stream.py). */
const SEPARATOR = "→";

/** The first row after the source, 0: none ended. @param {{token: string}[]} rows */
export const border = (rows) => rows.findIndex((r) => r.token === SEPARATOR) + 1;

/** A mask ready to be asked many times. `own` is what a person set a cell to where the program says otherwise, else undefined.
 * @param {Mask} mask @param {number} [border] the first row after the request's source, for the program that has one */
export function compile(mask, border = 0) {
  const program = programOf(mask, border);
  const { rows, columns, at } = grid(mask.cells);
  const causal = CAUSAL.has(mask.program) || mask.program === "prefix" || mask.program === "source_target";
  /** @param {number} query @param {number} key */
  const set = (query, key) => (query < rows && key < columns ? at[query * columns + key] : 0);
  /** @param {number} query @param {number} key */
  const allows = (query, key) => {
    const cell = set(query, key);
    return cell ? cell > 0 : program(query, key);
  };
  return {
    allows, program,
    /** @param {number} query @param {number} key */
    own: (query, key) => {
      const cell = set(query, key);
      return cell && cell > 0 !== program(query, key) ? cell > 0 : undefined;
    },
    /** Hidden because it comes later, not by the pattern. @param {number} query @param {number} key */
    future: (query, key) => causal && key > query,
  };
}

/** How many of queries x keys may be read, after padding.
 * @param {Mask} mask @param {number} queries @param {(key: number) => boolean} valid @param {number} keys @param {number} [border] */
export function count(mask, queries, keys, valid = () => true, border = 0) {
  const { allows } = compile(mask, border);
  const real = Array.from({ length: keys }, (_, k) => k).filter(valid);
  let open = 0;
  for (let q = 0; q < queries; q++) for (const k of real) if (allows(q, k)) open++;
  return open;
}

/** What bounds the cells of a window around each of n rows: n (2r + 1 + 2g). @param {Mask} mask @param {number} n */
export const bound = (mask, n) => n * (2 * mask.parameter + 1 + 2 * (mask.global_rows ?? []).filter((row) => row < n).length);

/** How many single cells these stand for, of the first so many rows. @param {Cell[]} cells @param {number} [rows] */
export function area(cells, rows = Infinity) {
  const { at, columns } = grid(cells);
  return at.subarray(0, Math.min(at.length, rows * columns)).reduce((n, cell) => n + (cell ? 1 : 0), 0);
}

/** The cells of a mask after some were painted; null gives them back to the program. A cell that says what the program says anyway
 * is left out (where it says the same of every request), and the rest is told as few rectangles.
 * @param {Mask} mask @param {{query: number, key: number}[]} places @param {boolean | null} visible @returns {Cell[]} */
export function paint(mask, places, visible) {
  const program = programOf(mask);
  const { columns, rows, at } = grid(mask.cells, 1 + places.reduce((n, p) => Math.max(n, p.query, p.key), 0));
  for (const { query, key } of places) at[query * columns + key] = visible === null ? 0 : visible ? 1 : -1;
  if (mask.program !== "source_target") for (let i = 0; i < at.length; i++) if (at[i] && at[i] > 0 === program(Math.floor(i / columns), i % columns)) at[i] = 0;
  return rectangles(at, rows, columns);
}

/** A grid of 1, -1 and 0 as rectangles: runs of a row, and equal runs of rows that follow each other. Pure.
 * @param {Int8Array} at @param {number} rows @param {number} columns @returns {Cell[]} */
export function rectangles(at, rows, columns) {
  /** @type {Required<Cell>[]} */
  const out = [];
  /** @type {Map<string, Required<Cell>>} */
  let above = new Map();
  for (let query = 0; query < rows; query++) {
    const here = new Map();
    for (let key = 0; key < columns; ) {
      const value = at[query * columns + key];
      let end = key + 1;
      while (end < columns && at[query * columns + end] === value) end++;
      if (value) {
        const name = `${key} ${end} ${value}`;
        const cell = above.get(name) ?? { query, key, visible: value > 0, queries: 0, keys: end - key };
        if (!cell.queries++) out.push(cell);
        here.set(name, cell);
      }
      key = end;
    }
    above = here;
  }
  return out.map(({ queries, keys, ...cell }) => (queries * keys === 1 ? cell : { ...cell, queries, keys }));
}

/** Every cell between two cells (Bresenham), both included: a fast drag leaves no gap.
 * @param {{query: number, key: number}} from @param {{query: number, key: number}} to */
export function line(from, to) {
  let { query, key } = from;
  const [dq, dk] = [Math.abs(to.query - query), Math.abs(to.key - key)];
  const [sq, sk] = [Math.sign(to.query - query), Math.sign(to.key - key)];
  const cells = [{ query, key }];
  let error = dq - dk;
  while (query !== to.query || key !== to.key) {
    const twice = 2 * error;
    if (twice > -dk) { error -= dk; query += sq; }
    if (twice < dq) { error += dq; key += sk; }
    cells.push({ query, key });
  }
  return cells;
}

/** A scenario's masks after one relation was edited, in one layer or in all of them. `edit` turns a mask into another.
 *
 * A layer without a mask of its own follows the relation's; where scope is "all" every mask of the relation is edited, so that
 * layers that differ keep differing. `only` then makes all layers the same again (a preset for all layers).
 *
 * @param {ScenarioMask[]} masks @param {string} relation @param {number | null} layer null: all layers
 * @param {Mask} fallback what holds where nothing is set @param {(mask: Mask) => Mask} edit @param {boolean} [only]
 * @returns {ScenarioMask[]} */
export function withMask(masks, relation, layer, fallback, edit, only = false) {
  const others = masks.filter((m) => m.relation !== relation);
  const mine = masks.filter((m) => m.relation === relation);
  const shared = mine.find((m) => m.layer === null);
  const base = plain(shared ?? fallback);
  if (layer !== null) {
    const before = plain(mine.find((m) => m.layer === layer) ?? base);
    const rest = mine.filter((m) => m.layer !== layer);
    const after = plain(edit(before));
    return [...others, ...rest, ...(equal(after, base) ? [] : [{ relation, layer, ...after }])];
  }
  const all = plain(edit(base));
  const keptShared = equal(all, plain(fallback)) ? [] : [{ relation, layer: null, ...all }];
  if (only) return [...others, ...keptShared];
  const layers = mine.filter((m) => m.layer !== null).map((m) => ({ relation, layer: m.layer, ...plain(edit(plain(m))) }));
  return [...others, ...keptShared, ...layers.filter((m) => !equal(m, all))];
}

/** @param {Mask} m @returns {Required<Mask>} */
export const plain = (m) => ({ program: m.program, parameter: m.parameter ?? 0, cells: [...(m.cells ?? [])], every: m.every ?? 1, global_rows: [...(m.global_rows ?? [])] });

/** Two masks that say the same. The parameter counts only for a program that has one.
 * @param {Mask} a @param {Mask} b */
export function equal(a, b) {
  const [one, other] = [plain(a), plain(b)];
  if (one.program !== other.program || one.every !== other.every || one.global_rows.join() !== other.global_rows.join()) return false;
  if (LETTERS[one.program] && one.parameter !== other.parameter) return false;
  if (!one.cells.length && !other.cells.length) return true;
  const least = Math.max(...[one, other].flatMap((m) => m.cells.flatMap((c) => [c.query + (c.queries ?? 1), c.key + (c.keys ?? 1)])));
  const [x, y] = [grid(one.cells, least), grid(other.cells, least)];
  return x.at.every((cell, i) => cell === y.at[i]);
}

/** Whether two lists of masks say the same of every relation and layer.
 * @param {ScenarioMask[]} a @param {ScenarioMask[]} b */
export const sameMasks = (a, b) => a.length === b.length && a.every((m) => b.some((n) => n.relation === m.relation && n.layer === m.layer && equal(m, n)));

/** Typed rows as a range, both ends included: "3", "3-7", "3–7", "" or "all". A text or a row that is not there: what is wrong. Pure.
 * @param {string} text @param {number} size how many rows there are @returns {[number, number] | string} */
export function range(text, size) {
  if (/^(\s*|\s*all\s*)$/i.test(text)) return [0, size - 1];
  const found = text.match(/^\s*(\d+)\s*(?:[-–—:]|\.\.)?\s*(\d+)?\s*$/);
  if (!found) return msg`“${text.slice(0, 40)}” is no range; allowed: one row, 3, or two, 3–7`;
  const [from, to] = [Number(found[1]), Number(found[2] ?? found[1])];
  if (from > to || to >= size) return msg`rows ${from} to ${to} are not there; allowed: from 0 to ${size - 1}`;
  return [from, to];
}

/** Typed row numbers: "0, 97". @param {string} text @param {number} most @returns {number[] | string} */
export function rowNumbers(text, most) {
  const words = text.split(/[\s,;]+/).filter(Boolean);
  const bad = words.find((word) => !/^\d+$/.test(word) || Number(word) > most);
  if (bad !== undefined) return msg`“${bad.slice(0, 40)}” is no row; allowed: numbers from 0 to ${most}`;
  if (words.length > 32) return msg`${words.length} rows were given; allowed: at most 32`;
  return [...new Set(words.map(Number))].sort((a, b) => a - b);
}
