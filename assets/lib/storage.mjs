// @ts-check
/** What the browser keeps: for good, or as long as the tab is open. Where it refuses (blocked, or full), the page keeps it while it is there. */

/** @typedef {{getItem: (key: string) => string | null, setItem: (key: string, value: string) => void, removeItem: (key: string) => void}} Kept */

/** @param {() => Storage | undefined} storage to name it may already be refused @returns {Kept} */
function kept(storage) {
  /** @type {Map<string, string>} */
  const here = new Map();
  /** @template T @param {(storage: Storage) => T} act @param {() => T} instead @returns {T} */
  const within = (act, instead) => {
    try {
      const there = storage();
      return there ? act(there) : instead();
    } catch {
      return instead();
    }
  };
  return {
    getItem: (key) => here.get(key) ?? within((s) => s.getItem(key), () => null),
    setItem(key, value) {
      here.delete(key); // it may have been refused before
      within((s) => s.setItem(key, value), () => void here.set(key, value));
    },
    removeItem(key) {
      here.delete(key);
      within((s) => s.removeItem(key), () => {});
    },
  };
}

export const lasting = kept(() => globalThis.localStorage);
export const passing = kept(() => globalThis.sessionStorage);
