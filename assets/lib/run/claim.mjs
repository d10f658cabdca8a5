// @ts-check
/** A tab's hold on its session, so that a duplicated tab (which copies the storage) begins its own. */

/** Hold this session while the page lives. Empty when another tab has it.
 * @param {string} session @returns {Promise<string>} */
export async function claim(session) {
  if (!session || !navigator.locks) return session;
  for (let attempt = 0; attempt < 5; attempt++) {
    if (await held(session)) return session;
    await new Promise((resolve) => setTimeout(resolve, 60)); // a page that reloads lets go a moment later
  }
  return "";
}

/** @param {string} session @returns {Promise<boolean>} */
const held = (session) =>
  new Promise((resolve) => {
    navigator.locks.request(`lookback-${session}`, { ifAvailable: true }, (lock) => {
      resolve(!!lock);
      return lock ? new Promise(() => {}) : undefined;
    });
  });

/** Whether another tab has it. @param {string} session @returns {Promise<boolean>} */
export async function heldElsewhere(session) {
  const found = await navigator.locks?.query();
  return !!found?.held?.some((lock) => lock.name === `lookback-${session}`);
}
