// The contract between the socket, the store and the views. Event and command shapes: app/session/events.py, commands.py.

export interface Tensor {
  dtype: "U8" | "F16" | "F32" | "I32" | "BOOL";
  shape: number[];
  /** Numbers ready to use: U8 scaled by low and high, F16 widened. */
  data: Float32Array | Int32Array | Uint8Array;
}

/** Values of one tap for one of a view's selectors, merged from keyframes and deltas: always the whole of what is known. */
export interface Known {
  path: string;
  side: "value" | "unedited" | "gradient";
  axes: string[];
  /** Sizes along `axes`, up to the largest row known. */
  shape: number[];
  /** One number; NaN when that place is not known yet. Index in the order of `axes`. */
  at(...index: number[]): number;
  /** Another number after each change. */
  version?: number;
  /** The last two axes at one place of the others: (row, column) to a number; faster than `at` for a whole map. */
  plane?(...lead: number[]): (row: number, column: number) => number;
  /** Whether a number came for that place: elsewhere NaN means that nothing is known. Left out: one came for each. */
  has?(...index: number[]): boolean;
}

export interface Selector {
  path: string;
  side?: "value" | "unedited" | "gradient";
  index?: Record<string, number>;
  dtype?: "u8" | "f16" | "f32";
  reduce?: "none" | "norm";
  /** {axis letter: [first, end]}: those in between, as far as they are there. */
  span?: Record<string, [number, number]>;
  /** Only the largest value of each square of so many rows and keys; places then count squares. */
  bin?: number;
}

/** Where Play stops: `Stop` of commands.py. */
export type PlayStop =
  | { kind: "step"; phase: "train" | "prefill" | "decode"; step: number }
  | { kind: "stage"; phase: "train" | "prefill" | "decode"; stage: string }
  | { kind: "op"; phase: "train" | "prefill" | "decode"; scope: string }
  | { kind: "token"; token: number }
  | { kind: "loss"; side: "below" | "above"; value: number };

/** What the page looks at. Mirrored with `look`; a plain JSON object of at most 8 KiB. */
export interface Look {
  request: number;
  /** A relation's name; of a model without reads "s" or "t": whose states are looked at. */
  relation: string;
  layer: number;
  head: number;
  /** What the map shows; of a model without reads that has kernels: these in place of its states. */
  show: "weights" | "scores" | "mask" | "kernel";
  scale: "linear" | "log";
  /** A locked cell of the map, or null; of a model without reads a row with one unit of its state. */
  lock: { row: number; key: number } | null;
  /** The tap that the inspector shows, or null for the read of the map. */
  path: string | null;
  editing: boolean;
  /** "layer" edits the shown layer alone, "all" every layer. */
  scope: "layer" | "all";
  /** In training: what stands beside the gradient's maps, the list of parameters or the map of who may read. */
  pane: "gradient" | "map" | "time";
  theme: "auto" | "light" | "dark";
  /** The op cursor: a scope inside the current step, or null. */
  op: string | null;
  /** Which side of the chosen tensor is shown, where it has that side. */
  side: "value" | "unedited" | "gradient";
  /** How the chosen tensor is laid out: which axes are rows, columns and panels ("": none), and where the others stand. */
  layout: { rows?: string; columns?: string; panels?: string; index?: Record<string, number> };
  /** Where Play stops. */
  stops: PlayStop[];
  /** What the width of a ribbon is: the weight, or the length of weight × value vector. */
  ribbon: "weight" | "value";
  /** What stands beside the map: the next token, or the score of a text. */
  decision: "next" | "score";
  /** Where a beam decides: its tree stands where the map stands otherwise. */
  tree: boolean;
  /** In a model with reads and states: whose states stand in the map's place; "" for none. */
  states: "" | "s" | "t";
  /** In training: the curves of this path, or exact match by the number of clauses. */
  chart: "curves" | "clauses";
  /** After how many merges of the tokenizer the pieces of a text are shown; null: after all. */
  merge: number | null;
  /** The gold alignment is drawn over the map, where one is known. */
  gold: boolean;
}

/** What the pointer or the keys are on in one view, so that the others light it too: a query row and a key row of the shown read. */
export interface Hover {
  row: number;
  key: number;
}

/** Where others stand in the run: a mark on its block of the timeline. `strong`: more than the others, in ink. */
export interface Pin {
  phase: "train" | "prefill" | "decode";
  step: number;
  text: string;
  title: string;
  strong: boolean;
}

/** Everything that a view may draw from. Plain data: latest events by kind, the look, and recorded values. */
export interface World {
  connection: "connecting" | "open" | "offline" | "closed";
  /** Why it is closed, or since when offline (ms since epoch). */
  reason: string;
  role: "writer" | "reader";
  /** This page plays a recording: one can move in it, and change nothing (role is reader). */
  recording: boolean;
  /** A command is under way that was not answered yet. */
  busy: boolean;
  /** Fields of the scenario that were changed and not answered yet: the next change begins from them. */
  asked: Record<string, any>;
  /** Why nothing computes on now, a sentence, or "": the page asks something first (assets/lesson/). */
  held: string;
  /** What is asked, for the sentence, its tokens in the hue of their role; empty where nothing is asked (in a class one only follows). */
  question: { text: string; role?: "q" | "k" | "v" | "g" | "d" | "p" }[];
  /** The analysis that a command of this page waits behind, or "". */
  behind: string;
  opened: any | null;
  schema: any | null;
  moved: any | null;
  history: Map<number, any>;
  /** The end of the line of moments that is followed (lib/deck/moments.mjs). */
  line?: number;
  /** `norm` of all gradients before, `clipped` after clipping; validation [update, loss] on `held_out` examples, every `validated_every` updates; written [update, loss row by row, share right so, share right with labels in sight], where there are any in sight. */
  curve: { updates: number[]; loss: number[]; norm: number[]; clipped: number[]; validation: [number, number][]; validated_every: number; held_out: number; written?: [number, number, number, number][] };
  checked: any | null;
  playing: any;
  notices: any[];
  /** The last refusal (errors of a reply), or null. Cleared by the next command that succeeds. */
  refused: any[] | null;
  analysis: Record<string, any>;
  look: Look;
  /** Passing, never mirrored: a lock stays, a hover goes. */
  hover: Hover | null;
  /** Of a page with a class around it. `follows`: the run is the teacher's, who alone steps it; `over`: it was. */
  people: { follows: boolean; over: boolean; pins: Pin[] } | null;
  /** Values for a view's own selectors, in the order of `wants`; a glob may give several. */
  values(view: string, selector: number): Known[];
}

export interface Context {
  /** Send a command; resolves with the reply. Never throws. there: who asks tells itself, at its own place, that a measuring failed. */
  send(command: Record<string, any>, there?: boolean): Promise<{ ok: boolean; errors: any[] }>;
  /** Change what the page looks at; redraws and mirrors it. */
  look(change: Partial<Look>): void;
  /** Say in the sentence what cannot be taken, before it is sent. */
  refuse(errors: { field: string; given: any; allowed: string; message: string }[]): void;
  /** What was refused is read and need not be shown any longer. */
  dismiss(): void;
  /** Light a read in every view, or none. */
  hover(place: Hover | null): void;
  /** Announce to a screen reader (polite). */
  say(text: string): void;
}

/** What a view shows, as a table: for a reader of tables and for a CSV file. Numbers are whole (not rounded); null is unknown. */
export interface Table {
  columns: string[];
  rows: (string | number | boolean | null)[][];
}

/** One view, one file in assets/views/: `export default {…} satisfies View`. `draw` depends on its arguments alone. */
export interface View {
  /** Unique, also the id of its element: `view-ID`. */
  id: string;
  title: string;
  /** Where it goes: a region of the page. */
  slot: "sentence" | "track" | "read" | "map" | "next" | "memory" | "training" | "charts" | "inspector" | "checks";
  /** In which phases it is shown. */
  phases: ("train" | "prefill" | "decode")[];
  /** Whether it has something to show of the opened model; left out: it always has. Another view may take its slot. */
  applies?(world: World): boolean;
  /** What it watches while it is shown. Called again when the look or the opened scenario changes. */
  wants(world: World): Selector[];
  /** Called once with the empty element, before the first draw. */
  mount?(element: HTMLElement, context: Context): void;
  /**
   * Paint. Called in an animation frame, at most once a frame. Never rebuild the DOM when only numbers changed. Canvases are best
   * painted in a function that is returned: it is called when every view has changed its part of the page, so that the browser
   * lays the page out once (to set a canvas's font makes it do so).
   */
  draw(element: HTMLElement, world: World, context: Context): void | (() => void);
  /** The same values as a table. Every view that draws numbers or tokens has one. */
  table?(world: World): Table;
}
