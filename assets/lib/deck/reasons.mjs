// @ts-check
/** Why a button of the deck cannot be pressed now. Pure. */

import { writes } from "../answers.mjs";
import { msg } from "../language.mjs";

/** Each a sentence, or "" where the button can be pressed.
 * @param {import("../types").World} world @returns {{step: string, back: string, pause: string}} */
export function reasons(world) {
  const { moved } = world;
  const off = world.connection !== "open" ? msg`Not connected to the server` : world.role !== "writer" && !world.recording ? reading(world) : !world.opened || !moved ? msg`The model is starting` : "";
  if (off || !moved) return { step: off, back: off, pause: off };
  const ended = moved.phase === "train" ? msg`This update is not finite, so it is not carried out. Go back.` : moved.unreadable ? msg`There is no distribution to choose from. Go back, or take the edit back.` : !writes(world) ? msg`The whole input was read in one call, and nothing is written. Change the input, or go back.` : msg`Every request has ended. Go back to choose another token.`;
  return { step: world.held || (moved.ended ? ended : ""), back: world.history.get(moved.at)?.parent === null ? msg`The run begins here` : "", pause: "" };
}

/** Why who reads along cannot step. @param {import("../types").World} world */
const reading = ({ people }) => (people?.follows ? msg`The teacher steps and sets. Explore on your own to do so yourself.` : people?.over ? msg`The class is over. Keep this run to go on by yourself.` : msg`Read only: another page is in control`);
