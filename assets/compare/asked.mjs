// @ts-check
/** One sentence asked of models that learned it in other words: each is given what its own task makes of it. Pure. */

/** A task that has another one's sentences says so: `restates`, with the words that stand before and after what is asked.
 * @typedef {{id: string, name: string, source: boolean, restates: {task: string, before: string[], after: string[]} | null}} Task
 * @typedef {{tasks: string[]}} Architecture */

/** The task in which a model learned the sentences of this one; null: in none.
 * @param {Architecture} architecture @param {string} task @param {Task[]} tasks @returns {string | null} */
export function taskOf(architecture, task, tasks) {
  if (architecture.tasks.includes(task)) return task;
  return architecture.tasks.find((id) => tasks.find((t) => t.id === id)?.restates?.task === task) ?? null;
}

/** What a model is given of an input of that task, which has a source or only a prompt.
 * @param {Task | undefined} own its task @param {string} task @param {{source: any[] | null, target: any[]}} input @returns {{source?: any[], target: any[]}} */
export function requestOf(own, task, { source, target }) {
  if (!own?.restates || own.id === task || !source) return { ...(source ? { source } : {}), target };
  const all = [...own.restates.before, ...source, ...own.restates.after];
  return own.source ? { source: all, target } : { target: [...all, ...target] };
}
