/** A small world for tests of views: an encoder-decoder with 2 layers and 2 heads at decode 2. Plain data, as the store keeps it. */

import { firstLook } from "../../../assets/lib/run/store.mjs";

export const causal = { program: "causal", parameter: 0, cells: [] };
export const full = { program: "full", parameter: 0, cells: [] };

const relation = (name, query, key, path, mask) => ({
  name, title: name.replaceAll("_", " "), query, key, path, layers: 2, heads: 2, masks: [{ ...mask, own: false }, { ...mask, own: false }], default: mask,
});

export const row = (token, state = "known", origin = "person", more = {}) => ({ token, id: 9, state, origin, text: null, would: null, ...more });
export const candidate = (id, token, probability, policy = probability) => ({ id, token, logit: 0, probability, policy_probability: policy });

/** Of 20 words, so that 7 has 0.8, 5 has 0.15 and the others share the rest. */
const LOGITS = Float32Array.from({ length: 20 }, (_, id) => Math.log(id === 7 ? 0.8 : id === 5 ? 0.15 : 0.05 / 18));

export const request = (more = {}) => ({
  source: [row("the"), row("black"), row("cat")],
  target: [row("<bos>", "known", "special"), row("le", "known", "model"), row("chat", "new", "model")],
  finished: "", decision_row: 2, choice: 7, candidates: [candidate(7, "noir", 0.8), candidate(5, "dort", 0.15)], rest: 0.05,
  log_probability: Math.log(0.5), unknown: [], logits: LOGITS, log_p: Float32Array.of(Math.log(0.625), Math.log(0.8)), unedited: null, unused: null, ...more,
});

export const node = (id, parent, phase, step, more = {}) => ({ id, parent, phase, step, stage: "", label: "", command: "step", ...more });

const tap = (path, axes, type = "hidden", more = {}) => ({ path, axes: axes.split(" "), shape: [], dtype: "float32", owner: "target row", type, lifetime: "this call", editable: true, gradient: true, ...more });

export const taps = [
  tap("decoder.layer1.cross.k", "b h s e"), tap("decoder.layer1.cross.v", "b h s e"), tap("decoder.embedding.sum", "b t d"),
  tap("decoder.layer0.self.k", "b h t e"), tap("decoder.layer0.self.v", "b h t e"), tap("decoder.layer0.self.q", "b h t e"), tap("decoder.layer0.self.scores", "b h t t'", "scores"),
  tap("decoder.layer0.self.weights", "b h t t'", "weights"), tap("decoder.layer0.self.mixed", "b h t e"), tap("decoder.layer0.self.output", "b t d"),
  tap("decoder.layer1.cross.q", "b h t e"), tap("decoder.layer1.cross.scores", "b h t s", "scores"), tap("decoder.layer1.cross.mask", "b t s", "mask"),
  tap("decoder.layer1.cross.weights", "b h t s", "weights"), tap("decoder.layer1.cross.mixed", "b h t e"), tap("decoder.layer1.cross.output", "b t d"),
  tap("logits", "b t v", "logits"), tap("parameter.decoder.layer1.cross.W_Q.weight", "", "parameter", { axes: [], shape: [8, 8] }),
];

/** A Known from nested arrays, as the store gives it: NaN outside. */
export function known(path, axes, values, side = "value") {
  const shape = [];
  for (let v = values; Array.isArray(v); v = v[0]) shape.push(v.length);
  return { path, side, axes: axes.split(" "), shape, at: (...index) => index.reduce((v, i) => v?.[i], values) ?? NaN };
}

export const world = (more = {}, look = {}) => ({
  connection: "open", reason: "", role: "writer", busy: false, asked: {}, behind: "", refused: null, notices: [], analysis: {}, checked: null,
  held: "", question: [], playing: { playing: false, unit: "step", rate: 2 }, curve: { updates: [], loss: [], norm: [], clipped: [], validation: [], validated_every: 10, held_out: 16 },
  opened: {
    scenario: { masks: [], edits: [], policy: { kind: "greedy", temperature: 1, top_k: null, top_p: 1 }, training: { clip_norm: 1 }, requests: [{}] },
    weights: { kind: "trained", source: { steps: 2000, loss: 0.03, seed: 7 } }, vocabulary: { source: [], target: Array(20).fill("w") },
    relations: [relation("source_self", "s", "s", "encoder.layer{layer}.self", full), relation("target_self", "t", "t", "decoder.layer{layer}.self", causal), relation("cross", "t", "s", "decoder.layer{layer}.cross", full)],
  },
  schema: { taps },
  history: new Map([node(0, null, "decode", 0, { command: "open" }), node(1, 0, "decode", 1, { label: "le" }), node(2, 1, "decode", 2, { label: "chat" })].map((n) => [n.id, n])),
  moved: { at: 2, phase: "decode", step: 2, stage: "", ended: false, requests: [request()], train: null, kept: [], sizes: { b: 1, h: 2, t: 1, s: 3, e: 4 }, forward_ms: 2,
    stages: [{ name: "choose", ms: 0, rows: 0, ops: [] }, { name: "read", ms: 2, rows: 1, ops: ["decoder.embedding", "decoder.layer0.self", "decoder.layer1.cross", "decoder", "logits"] }] },
  look: { ...firstLook(), relation: "cross", layer: 1, ...look },
  values: () => [],
  ...more,
});

export const trainRow = (input, label, more = {}) => ({ input, label, key_valid: true, counts: true, loss: null, gradient: null, ...more });

/** The same world in training: two sequences, the second padded. */
export function training(train = {}, look = {}) {
  const rows = [
    [trainRow("<bos>", "le"), trainRow("le", "chat"), trainRow("chat", "<eos>")],
    [trainRow("<bos>", "merci"), trainRow("merci", "<eos>"), trainRow("<pad>", "<pad>", { key_valid: false, counts: false })],
  ];
  const sources = [[row("the"), row("cat")], [row("thanks"), row("<pad>", "padded", "special")]];
  const view = { update: 4, sources, rows, loss: null, parameter_norms: null, activation_norms: null, norm: null, clip_factor: null, ...train };
  const base = world({}, look);
  return { ...base, moved: { ...base.moved, at: 3, phase: "train", step: 3, requests: [], train: view } };
}
