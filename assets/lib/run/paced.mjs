// @ts-check
/** One at a time, the newest wins: what a person drags through quickly is asked for as quickly as it is answered. */

/** @template T @param {(value: T) => Promise<any>} act @returns {(value: T) => Promise<void>} resolves when nothing waits any more */
export function paced(act) {
  /** @type {{value: T} | null} */
  let next = null;
  /** @type {Promise<void> | null} */
  let flying = null;
  const fly = async () => {
    while (next) {
      const { value } = next;
      next = null;
      await act(value);
    }
    flying = null;
  };
  return (value) => {
    next = { value };
    return (flying ??= fly());
  };
}
