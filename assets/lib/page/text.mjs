// @ts-check
/** What the sheet of keys says. */

import { msg } from "../language.mjs";

/** What is pressed, and what it does. @returns {[string, string][]} */
export const keys = () => [
  [msg`→ or .`, msg`Step`],
  [msg`← or ,`, msg`Back`],
  [msg`Space`, msg`Play or pause`],
  ["1 2 3", msg`Move by step, stage, op`],
  ["T P D", msg`Train, Prefill, Decode`],
  ["A", msg`All architectures`],
  ["B", msg`Play stops here, or does so no more`],
  ["M", msg`Edit the mask, or stop editing`],
  ["L", msg`Linear or logarithmic scale`],
  ["[ ]", msg`Layer before, next layer`],
  ["{ }", msg`Head before, next head`],
  [msg`Arrows in the map`, msg`Move the cell; Enter locks it, X hides or shows it, R its row, C its column`],
  [msg`Arrows on a token`, msg`Go on; with Shift they move the token, Enter edits it`],
  ["Esc", msg`Unlock`],
  ["Ctrl+Z", msg`Undo the last change of the set-up`],
  ["Ctrl+Y", msg`Make the change again that was taken back; so does Ctrl+Shift+Z`],
  ["?", msg`These keys`],
];
