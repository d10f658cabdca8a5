// The contract between a lesson (data and small pure functions, one file in lessons/) and the page that walks through it.

import type { Look, Selector, World } from "../lib/types";
import type { See } from "./see.mjs";

/** Text, and text that means something: a query (q), key (k), value (v), decision (d), gradient (g) or parameter (p) in its hue; b, i, mono; a mark of
 * where a number comes from: measured (m), exact (e), by formula (f). See said.mjs. */
export type Piece = string | number | { text: string; role: "q" | "k" | "v" | "d" | "g" | "p" | "b" | "i" | "mono" | "m" | "e" | "f" };

/** A paragraph. */
export type Said = Piece[];

/** A run as a lesson begins it: a scenario (what is left out is as on the stage's first visit; another architecture than the encoder-decoder names its task,
 * phase and requests too), what is then done, and what is looked at. */
export interface Start {
  scenario: Record<string, any>;
  /** As a link has them: {command: {kind: "step", unit: "step"}, times?: 2}; step, choose, enter, change. */
  log?: Record<string, any>[];
  look?: Partial<Look>;
}

/** One head's read, for `see.weights`. `layer` counts from 0. */
export interface Read {
  relation: string;
  layer: number;
  head: number;
  /** Left out: 0. */
  request?: number;
}

/** Where a step begins. Somebody who stands elsewhere is offered to go there; nothing is forbidden meanwhile but the question. */
export interface At {
  /** In a few words: "decode 1". */
  says(): string;
  here(see: See): boolean;
  /** Its look is also what is looked at when one comes here by Next. */
  start: Start;
}

/** What is asked before it is computed. While it is open nothing computes on: Step, Play, choices and changes say why; Back is free. */
export interface Question {
  /** It stands behind "Predict:" and "Answer first:", so it begins small: "which word will row 2 read most?" */
  asks(see: See): Said;
  /** role: the hue of the words, and, with `bar`, of the bars ("v" left out). */
  options(see: See): { key: string; label: string; role?: "q" | "k" | "d" | "p" }[];
  bar?: "v" | "d" | "g" | "p";
  /** One number for each option, as the run has it (NaN: no number for this one); null while it is not computed. */
  measured(see: See): number[] | null;
  /** How a number is written; left out: with two digits. The largest of all fills its bar, but a share of at most 1 fills its part. */
  shows?(value: number): string;
  /** What Reveal does. "step": the same command as Step. "stage": one stage after another, until it is measured. "you": nothing, the person does it
   * then (the text says what). */
  reveal: "step" | "stage" | "you";
  /** Said when the numbers are here: what was right, and what the person had said. */
  verdict(see: See, said: string): Said;
}

/** One condition of a step: done where the run is so. */
export interface Check {
  says(see: See): Said;
  done(see: See): boolean;
  /** The live value beside it: short, in the same few words each time. */
  now(see: See): string;
  /** Where that value comes from: measured, exact, by formula, or none. */
  mark: "m" | "e" | "f" | "";
  /** It stays done in this step when it was done once: "press Step once". */
  once?: boolean;
}

/** A sentence of one's own: nothing grades it; ours stands beside it afterwards. */
export interface Writing {
  asks(see: See): Said;
  ours(see: See): Said;
}

export interface Step {
  title(): string;
  /** Paragraphs. */
  text(see: See): Said[];
  at?: At;
  /** What carries the ink ring: a CSS selector, "" for nothing. */
  ring?(see: See): string;
  predict?: Question;
  /** All of them done: the step is done. A question adds its own ("you predicted"), and so does a text ("you wrote it"). */
  checks: Check[];
  /** Stands below when the step is done; before, the hint is offered in its place. */
  verdict?(see: See): Said;
  hint?(see: See): Said;
  write?: Writing;
  /** Kept when the step is done, for later steps, which may stand in another run: `see.note("p")`. */
  note?(see: See): Record<string, number | string>;
}

export interface Lesson {
  /** The name of its file and in the address. */
  id: string;
  title(): string;
  /** One line: what one can say afterwards. */
  about(): string;
  begin: Start;
  /** Whose weights it speaks of. */
  reads?: Read[];
  /** Other recorded values that it needs: `see.values(i)`. */
  wants?(world: World): Selector[];
  steps: Step[];
}

/** What is kept of a lesson in this browser. By step: what was said, written, met once, where the run stood when it began. */
export interface Progress {
  /** The step that is shown, from 0. */
  step: number;
  /** How many steps are done. */
  done: number;
  steps: Record<number, Kept>;
}

export interface Kept {
  /** The run stood where the step begins; and there: its moment, step and updates. */
  from?: { at: number; step: number; phase: string; updates: number };
  chosen?: string;
  /** Revealed with this. */
  said?: string;
  wrote?: string;
  /** The text was given. */
  given?: boolean;
  /** Checks that stay done. */
  met?: number[];
  /** What the step noted when it was done. */
  note?: Record<string, number | string>;
}

/** What a check is now. */
export interface Judged {
  says: Said;
  now: string;
  mark: "m" | "e" | "f" | "";
  done: boolean;
}
