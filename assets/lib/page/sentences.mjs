// @ts-check
/** Sentences that come whole from the server, in the page's language: a sentence is found among the keys of the language, which hold
 * {0}, {1}, ... where the server put something in. What was put in is translated in its turn, unless it was quoted. Pure. */

/** @typedef {{key: string, fixed: string[], order: number[], quoted: boolean[], size: number, fits?: RegExp}} Pattern */

/** A key with fewer fixed letters than this fits too much to mean anything ("{0}: {1}"). */
const FEWEST = 3;
/** Sentences that are remembered. */
const KEPT = 2000;

/** @param {Record<string, string>} words "English with {0}" -> the same in the page's language
 * @returns {(english: string) => string} what is unknown stays English */
export function sentences(words) {
  /** @type {Map<string, string>} */
  const known = new Map();
  /** @type {Pattern[] | null} */
  let patterns = null;
  const found = (/** @type {string} */ english) => {
    if (Object.hasOwn(words, english)) return words[english];
    const list = listed(english, say);
    if (list) return list;
    patterns ??= compiled(Object.keys(words));
    for (const pattern of patterns) {
      const parts = partsOf(english, pattern);
      if (parts) return refilled(words[pattern.key], pattern, parts, say);
    }
    return english;
  };
  const say = (/** @type {string} */ english) => {
    let said = known.get(english);
    if (said === undefined) {
      if (known.size >= KEPT) known.clear();
      known.set(english, (said = found(english)));
    }
    return said;
  };
  return Object.keys(words).length ? say : (english) => english;
}

/** Those with the most fixed text first: they say the most. @param {string[]} keys @returns {Pattern[]} */
function compiled(keys) {
  return keys.filter((key) => key.includes("{0}")).map(pattern).filter((p) => p.size >= FEWEST).sort((a, b) => b.size - a.size);
}

/** @param {string} key @returns {Pattern} */
function pattern(key) {
  const pieces = key.split(/\{(\d)\}/);
  const fixed = pieces.filter((_, i) => i % 2 === 0);
  const order = pieces.filter((_, i) => i % 2).map(Number);
  const quoted = order.map((_, i) => fixed[i].endsWith("“") && fixed[i + 1].startsWith("”"));
  return { key, fixed, order, quoted, size: fixed.join("").replace(/[^\p{L}]/gu, "").length };
}

/** What was put in, or null where the sentence is another one. Most are told by how they begin and end.
 * @param {string} english @param {Pattern} pattern @returns {string[] | null} */
function partsOf(english, pattern) {
  const { fixed, quoted } = pattern;
  if (!english.startsWith(fixed[0]) || !english.endsWith(fixed[fixed.length - 1])) return null;
  pattern.fits ??= expression(fixed, quoted);
  return pattern.fits.exec(english)?.slice(1) ?? null;
}

/** @param {string[]} fixed @param {boolean[]} quoted */
function expression(fixed, quoted) {
  const plain = fixed.map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${plain.reduce((all, text, i) => `${all}${quoted[i - 1] ? "([^”]+)" : "(.+?)"}${text}`)}$`, "s");
}

/** @param {string} text @param {Pattern} pattern @param {string[]} parts @param {(english: string) => string} say */
function refilled(text, { order, quoted }, parts, say) {
  const values = new Map(order.map((n, i) => [n, quoted[i] ? parts[i] : say(parts[i])]));
  return text.replace(/\{(\d)\}/g, (_, n) => values.get(Number(n)) ?? "");
}

/** "masks, learning rate 0.01": a list whose every part is known, or "". @param {string} english @param {(english: string) => string} say */
function listed(english, say) {
  const items = english.split(", ");
  const said = items.length > 1 ? items.map(say) : [];
  return said.length && said.every((item, i) => item !== items[i]) ? said.join(", ") : "";
}
