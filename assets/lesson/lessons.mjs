// @ts-check
/** The lessons, in the order in which they are offered. */

import { adjective } from "./lessons/adjective.mjs";
import { bottleneck } from "./lessons/bottleneck.mjs";
import { gradient } from "./lessons/gradient.mjs";
import { loss } from "./lessons/loss.mjs";
import { memory } from "./lessons/memory.mjs";
import { mask } from "./lessons/mask.mjs";
import { prefill } from "./lessons/prefill.mjs";

/** @type {import("./types").Lesson[]} */
export const lessons = [adjective, mask, prefill, loss, memory, bottleneck, gradient];
