// @ts-check
/** Measurements that need further model calls: asked for once the run rests, or by a person; never inside the step that one waits for. */

/** @typedef {import("../types").World} World @typedef {import("../types").Context} Context */
/** @typedef {{running: boolean, progress: number, start: () => void}} Doing */

/** The run must rest so long before anything is measured by itself, ms. */
const REST = 900;

/** By analysis: what is asked now, what was tried, and what waits. @type {Map<string, {asked: string, tried: string, timer: any, due: string}>} */
const states = new Map();

/** Where a measurement stands; begins it by itself when it is wanted and small, once for each moment.
 * @param {World} world @param {Context} context @param {string} name @param {Record<string, any>} args
 * @param {boolean} wanted it is not known yet and can be @param {boolean} small it takes no time that a person would notice
 * @returns {Doing} */
export function measureWhenIdle(world, context, name, args, wanted, small) {
  let state = states.get(name);
  if (!state) states.set(name, (state = { asked: "", tried: "", timer: 0, due: "" }));
  const own = state;
  const here = () => JSON.stringify([world.moved?.at, world.opened?.scenario, args]);
  const key = here();
  const start = async () => {
    own.asked = own.tried = key;
    await context.send({ kind: "analyse", name, arguments: args });
    own.asked = "";
  };
  const rests = wanted && small && world.role === "writer" && world.connection === "open" && !world.playing.playing && !world.busy;
  if (!rests) clearTimeout(own.timer);
  if (!rests) own.due = "";
  else if (own.due !== key && own.tried !== key && !own.asked) {
    clearTimeout(own.timer);
    own.due = key;
    own.timer = setTimeout(() => here() === key && start(), REST); // a view that is gone is not drawn again: the run may have gone on
  }
  const progress = world.analysis[name];
  const running = own.asked === key;
  return { running, progress: running && progress && progress.progress < 1 ? progress.progress : 0, start };
}
