// @ts-check
/** Who may read whom, as models/parts/visibility.py says it: a program plus single cells. Pure.
 *
 * A mask here is plain data, as it stands in a scenario and in `opened.relations[].masks`:
 * {program, parameter, cells: [{query, key, visible}]}.
 */

/** @typedef {{query: number, key: number, visible: boolean}} Cell */
/** @typedef {{program: string, parameter: number, cells: Cell[]}} Mask */
/** @typedef {{relation: string, layer: number | null, program: string, parameter: number, cells: Cell[]}} ScenarioMask */

/** The programs in the order in which they are offered. `letter` names the parameter of those that have one. */
export const PROGRAMS = [
  { id: "full", title: "full", letter: "", why: "every row reads every row" },
  { id: "causal", title: "causal", letter: "", why: "a row reads itself and earlier rows" },
  { id: "past", title: "past", letter: "", why: "a row reads earlier rows, not itself; the first reads nothing" },
  { id: "prefix", title: "prefix", letter: "P", why: "rows before P read each other freely, later rows are causal" },
  { id: "sliding", title: "sliding", letter: "r", why: "a row reads rows at most r away, on both sides" },
  { id: "causal_sliding", title: "causal sliding", letter: "r", why: "a row reads itself and at most r rows before it" },
];

/** What the program alone says.
 * @param {Mask} mask @param {number} query @param {number} key absolute rows */
function programAllows(mask, query, key) {
  const p = mask.parameter;
  switch (mask.program) {
    case "full": return true;
    case "causal": return key <= query;
    case "past": return key < query;
    case "prefix": return key <= query || (key < p && query < p);
    case "sliding": return Math.abs(query - key) <= p;
    case "causal_sliding": return key <= query && query - key <= p;
    default: throw new Error(`mask program "${mask.program}" is unknown; known: ${PROGRAMS.map((x) => x.id).join(", ")}`);
  }
}

/** Cells by place; a later one overrules an earlier one.
 * @param {Cell[]} cells @returns {Map<number, boolean>} */
const index = (cells) => new Map(cells.map((c) => [place(c.query, c.key), c.visible]));

/** @param {number} query @param {number} key */
const place = (query, key) => query * 1024 + key;

/** A mask ready to be asked many times. `own` is what a cell was set to, or undefined.
 * @param {Mask} mask */
export function compile(mask) {
  const cells = index(mask.cells);
  /** @param {number} query @param {number} key */
  const own = (query, key) => (cells.size ? cells.get(place(query, key)) : undefined);
  return {
    own,
    /** @param {number} query @param {number} key */
    allows: (query, key) => own(query, key) ?? programAllows(mask, query, key),
    /** @param {number} query @param {number} key */
    program: (query, key) => programAllows(mask, query, key),
  };
}

/** How many of queries x keys may be read, after padding.
 * @param {Mask} mask @param {number} queries @param {(key: number) => boolean} valid @param {number} keys */
export function count(mask, queries, keys, valid = () => true) {
  const { allows } = compile(mask);
  let open = 0;
  for (let q = 0; q < queries; q++) for (let k = 0; k < keys; k++) if (valid(k) && allows(q, k)) open++;
  return open;
}

/** The cells of a mask after some were painted. A cell that says what the program says anyway is left out.
 * @param {Mask} mask @param {{query: number, key: number}[]} places @param {boolean} visible @returns {Cell[]} */
export function paint(mask, places, visible) {
  const cells = index(mask.cells);
  for (const { query, key } of places) {
    if (programAllows(mask, query, key) === visible) cells.delete(place(query, key));
    else cells.set(place(query, key), visible);
  }
  return [...cells].map(([at, value]) => ({ query: Math.floor(at / 1024), key: at % 1024, visible: value }));
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
    const after = edit(before);
    return [...others, ...rest, ...(equal(after, base) ? [] : [{ relation, layer, ...after }])];
  }
  const all = edit(base);
  const keptShared = equal(all, plain(fallback)) ? [] : [{ relation, layer: null, ...all }];
  if (only) return [...others, ...keptShared];
  const layers = mine.filter((m) => m.layer !== null).map((m) => ({ relation, layer: m.layer, ...edit(plain(m)) }));
  return [...others, ...keptShared, ...layers.filter((m) => !equal(m, all))];
}

/** @param {Mask} m @returns {Mask} */
const plain = (m) => ({ program: m.program, parameter: m.parameter ?? 0, cells: [...(m.cells ?? [])] });

/** Two masks that say the same. The parameter counts only for a program that has one.
 * @param {Mask} a @param {Mask} b */
export function equal(a, b) {
  if (a.program !== b.program || a.cells.length !== b.cells.length) return false;
  if (PROGRAMS.find((p) => p.id === a.program)?.letter && a.parameter !== b.parameter) return false;
  const cells = index(a.cells);
  return b.cells.every((c) => cells.get(place(c.query, c.key)) === c.visible);
}
