// @ts-check
/** Measurements that need further model calls: asked for once the run rests, or by a person; never inside the step that one waits for. */

/** @typedef {import("../types").World} World @typedef {import("../types").Context} Context */
/** failed: why it was not measured at this moment, else "". @typedef {{running: boolean, progress: number, failed: string, start: () => void}} Doing */

/** The run must rest so long before anything is measured by itself, ms. */
const REST = 900;

/** By analysis: what is asked now, what was tried, and what waits. @type {Map<string, {asked: string, tried: string, timer: any, due: string, failed: string}>} */
const states = new Map();

/** Where a measurement stands; begins it by itself when it is wanted and small, once for each moment.
 * @param {World} world @param {Context} context @param {string} name @param {Record<string, any>} args
 * @param {boolean} wanted it is not known yet and can be @param {boolean} small it takes no time that a person would notice
 * @param {boolean} [there] a failure is told by who asks, from `failed`, and nowhere else
 * @returns {Doing} */
export function measureWhenIdle(world, context, name, args, wanted, small, there = false) {
  let state = states.get(name);
  if (!state) states.set(name, (state = { asked: "", tried: "", timer: 0, due: "", failed: "" }));
  const own = state;
  const here = () => JSON.stringify([world.moved?.at, world.opened?.scenario, args]);
  const key = here();
  const start = async () => {
    own.asked = own.tried = key;
    const { errors } = await context.send({ kind: "analyse", name, arguments: args }, there);
    own.failed = errors.filter((e) => e.field === "measure").map((e) => e.message)[0] ?? "";
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
  return { running, progress: running && progress && progress.progress < 1 ? progress.progress : 0, failed: own.tried === key && !running ? own.failed : "", start };
}
