// @ts-check
/** Examples of the catalogue: which one a request is, and with which architecture and weights one opens. Pure. */

/** The architecture with which an example of this task opens: the own one if it has the task, else a trained one, of its family if there is one.
 * @param {any} task @param {any} own what is set @param {any[]} all @returns {any} */
export function opening(task, own, all) {
  if (own.tasks.includes(task.id)) return own;
  const trained = (/** @type {any} */ a) => Number(!!a.checkpoints?.some((/** @type {any} */ c) => c.task === task.id));
  const fit = (/** @type {any} */ a) => 2 * trained(a) + Number(a.family === own.family);
  return all.filter((a) => a.tasks.includes(task.id)).reduce((best, a) => (fit(a) > fit(best) ? a : best));
}

/** What of an architecture's config becomes other so that its trained weights have learned this task: nothing where those of `config` have.
 * @param {any} architecture @param {string} task @param {Record<string, any>} config @returns {{config?: Record<string, any>}} */
export function variantFor(architecture, task, config) {
  const shipped = (architecture.checkpoints ?? []).filter((/** @type {any} */ c) => c.task === task);
  const same = (/** @type {any} */ c) => Object.entries(config).every(([name, value]) => c.config[name] === value);
  return !shipped.length || shipped.some(same) ? {} : { config: shipped[0].config };
}

/** The number of the example that these requests are, or -1 where a person wrote them. @param {any} task @param {any[]} requests */
export function exampleOf(task, [only, ...more]) {
  const said = (/** @type {any} */ r) => JSON.stringify([r?.source ?? null, r?.target, r?.features ?? null]);
  const text = said(only);
  return more.length ? -1 : (task?.presets.findIndex((/** @type {any} */ p) => said(p) === text) ?? -1);
}
