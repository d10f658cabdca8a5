// @ts-check
/** The lessons, in the order in which they are offered. */

import { adjective } from "./lessons/adjective.mjs";

/** @type {import("./types").Lesson[]} */
export const lessons = [adjective];
