// @ts-check
/** How probable a text is where a label or blank stands at every frame (CTC, Graves et al. 2006): the sum over all paths that collapse to it,
 * by the forward algorithm (section 4.1), its best paths, and how many there are. All in logarithms (nats). Label 0 is blank. Pure. */

/** The logarithm of softmax. @param {number[]} scores @returns {number[]} */
export function logSoftmax(scores) {
  const most = Math.max(...scores);
  const sum = Math.log(scores.reduce((all, z) => all + Math.exp(z - most), 0));
  return scores.map((z) => z - most - sum);
}

/** A text with a blank before, between and behind its labels. @param {number[]} text */
const spaced = (text) => [0, ...text.flatMap((label) => [label, 0])];

/** Where a path can come from: the same place, the one before, and over a blank between two labels that differ.
 * @param {number[]} places @param {number} s */
const sources = (places, s) => [s, s - 1, ...(places[s] !== 0 && places[s] !== places[s - 2] ? [s - 2] : [])].filter((from) => from >= 0);

/** log(e^a + e^b). @param {number} a @param {number} b */
const both = (a, b) => (a === -Infinity ? b : b === -Infinity ? a : Math.max(a, b) + Math.log1p(Math.exp(-Math.abs(a - b))));

/** What each place of the spaced text has at the last frame. `one`: what a label costs at a frame; `joined`: two ways to the same place.
 * @template T @param {number} frames @param {number[]} text @param {{start: (t: number, label: number) => T, none: T, further: (ways: T, t: number, label: number) => T, join: (a: T, b: T) => T}} o @returns {T} */
function along(frames, text, { start, none, further, join }) {
  const places = spaced(text);
  let now = places.map((label, s) => (s < 2 ? start(0, label) : none));
  for (let t = 1; t < frames; t++) {
    const before = now;
    now = places.map((label, s) => further(sources(places, s).map((from) => before[from]).reduce(join), t, label));
  }
  return now.length > 1 ? join(now[now.length - 1], now[now.length - 2]) : now[0];
}

/** log p(text): the sum over all its paths; −∞ if it has none. @param {number[][]} logs of each frame and label, one frame or more @param {number[]} text */
export const textLog = (logs, text) => along(logs.length, text, { start: (t, label) => logs[t][label], none: -Infinity, further: (ways, t, label) => ways + logs[t][label], join: both });

/** How many paths spell a text in so many frames. @param {number} frames @param {number[]} text */
export const pathCount = (frames, text) => along(frames, text, { start: () => 1, none: 0, further: (ways) => ways, join: (a, b) => a + b });

/** Its most probable paths, best first.
 * @param {number[][]} logs @param {number[]} text @param {number} most @returns {{path: number[], log: number}[]} */
export function bestPaths(logs, text, most) {
  /** @typedef {{log: number, label: number, before: Way | null}} Way */
  const better = (/** @type {Way[]} */ a, /** @type {Way[]} */ b) => [...a, ...b].sort((x, y) => y.log - x.log).slice(0, most);
  /** @type {(before: Way | null, t: number, label: number) => Way} */
  const way = (before, t, label) => ({ log: (before?.log ?? 0) + logs[t][label], label, before });
  const ends = along(logs.length, text, /** @type {{start: (t: number, label: number) => Way[], none: Way[], further: (ways: Way[], t: number, label: number) => Way[], join: typeof better}} */ ({
    start: (t, label) => [way(null, t, label)], none: [], further: (ways, t, label) => ways.map((w) => way(w, t, label)), join: better,
  }));
  return ends.filter((w) => w.log > -Infinity).map((end) => {
    const path = [];
    for (let at = /** @type {Way | null} */ (end); at; at = at.before) path.push(at.label);
    return { path: path.reverse(), log: end.log };
  });
}

/** Where two paths differ, as runs of frames. @param {number[]} path @param {number[]} other @returns {{from: number, to: number, was: number, is: number}[]} */
export function differences(path, other) {
  /** @type {{from: number, to: number, was: number, is: number}[]} */
  const found = [];
  other.forEach((label, t) => {
    const last = found.at(-1);
    if (label === path[t]) return;
    if (last && last.to === t - 1 && last.was === path[t] && last.is === label) last.to = t;
    else found.push({ from: t, to: t, was: path[t], is: label });
  });
  return found;
}
