// @ts-check
/** Frames of the wire (docs/wire.md): u64 length, JSON header, tensors; the safetensors layout. */

/** @typedef {import("../types").Tensor} Tensor */
/** @typedef {{kind: string, session: string, epoch: number, seq: number, event: any, tensors: Map<string, Tensor>}} Frame */

const HALF = halves();

/** Every value of a half-precision float, by its bits. */
function halves() {
  const table = new Float32Array(65536);
  for (let bits = 0; bits < 65536; bits++) {
    const sign = bits & 0x8000 ? -1 : 1;
    const exponent = (bits >> 10) & 31;
    const fraction = bits & 1023;
    if (exponent === 31) table[bits] = fraction ? NaN : sign * Infinity;
    else table[bits] = sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : 2 ** -14 * (fraction / 1024));
  }
  return table;
}

const ITEM = { U8: 1, BOOL: 1, F16: 2, F32: 4, I32: 4 };

/** One binary message as a frame. Throws when it is not one.
 * @param {ArrayBuffer} buffer @returns {Frame} */
export function decode(buffer) {
  const view = new DataView(buffer);
  const length = Number(view.getBigUint64(0, true));
  if (8 + length > buffer.byteLength) throw new RangeError(`a frame's header of ${length} bytes does not fit ${buffer.byteLength} bytes`);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
  const { kind, session, epoch, seq, event } = header.__metadata__;
  delete header.__metadata__;
  const content = revive(JSON.parse(event));
  const scales = scalesOf(content);
  const tensors = new Map();
  for (const [name, about] of Object.entries(header)) tensors.set(name, tensor(buffer, 8 + length, about, scales.get(name)));
  for (const request of content.requests ?? []) {
    place(request, tensors);
    [request.source, request.target] = [rows(request.source), rows(request.target)];
    request.candidates = listed(request.candidates);
  }
  if (content.train?.features) content.train.features = content.train.features.map((/** @type {any} */ f) => tensors.get(f.tensor));
  if (content.train?.sources) content.train.sources = content.train.sources.map(rows);
  return { kind, session, epoch: Number(epoch), seq: Number(seq), event: content, tensors };
}

/** @type {Record<string, string>} */
const STATES = { k: "known", n: "new", p: "padded", u: "unknown" };
/** @type {Record<string, string>} */
const ORIGINS = { p: "person", t: "task", s: "special", m: "model", c: "chosen" };

/** The rows of a strip, which travel column by column.
 * @param {any} columns @returns {any[] | null} */
function rows(columns) {
  if (!columns) return null;
  const { token, id, state, origin, text = {}, would = {} } = columns;
  return id.map((/** @type {number} */ n, /** @type {number} */ i) => ({
    token: token[i], id: n, state: STATES[state[i]], origin: ORIGINS[origin[i]],
    ...(i in text ? { text: text[i] } : {}), ...(i in would ? { would: would[i] } : {}),
  }));
}

/** Candidates, which travel field by field.
 * @param {Record<string, any[]>} fields @returns {Record<string, any>[]} */
function listed(fields) {
  const names = Object.keys(fields);
  return fields.id.map((_, i) => Object.fromEntries(names.map((name) => [name, fields[name][i]])));
}

/** A request's arrays in place of their names: logits, log_p, and those of its unedited distribution.
 * @param {any} holder @param {Map<string, Tensor>} tensors */
function place(holder, tensors) {
  for (const name of ["logits", "log_p"]) if (holder[name]) holder[name] = tensors.get(holder[name].tensor)?.data;
  if (holder.unedited) place(holder.unedited, tensors);
}

/** The scale of each U8 tensor, from the pieces that name it.
 * @param {any} event @returns {Map<string, {low: number, high: number}>} */
function scalesOf(event) {
  return new Map((event.pieces ?? []).map((/** @type {any} */ p) => [p.array.tensor, p.array]));
}

/** @param {ArrayBuffer} buffer @param {number} base @param {any} about @param {{low: number, high: number} | undefined} scale @returns {Tensor} */
function tensor(buffer, base, about, scale) {
  const { dtype, shape, data_offsets: [begin, end] } = about;
  const item = ITEM[/** @type {keyof typeof ITEM} */ (dtype)];
  const size = shape.reduce((/** @type {number} */ a, /** @type {number} */ b) => a * b, 1);
  if (!item || size * item !== end - begin || base + end > buffer.byteLength)
    throw new RangeError(`a tensor of ${dtype} [${shape}] does not fit bytes ${begin} to ${end} of ${buffer.byteLength - base}`);
  return { dtype, shape, data: numbers(buffer, base + begin, size, dtype, scale) };
}

/** @param {ArrayBuffer} buffer @param {number} at @param {number} size @param {string} dtype
 * @param {{low: number, high: number} | undefined} scale */
function numbers(buffer, at, size, dtype, scale) {
  if (dtype === "F16") {
    const bits = new Uint16Array(...aligned(buffer, at, size, 2));
    const out = new Float32Array(size);
    for (let i = 0; i < size; i++) out[i] = HALF[bits[i]];
    return out;
  }
  if (dtype === "F32") return new Float32Array(...aligned(buffer, at, size, 4));
  if (dtype === "I32") return new Int32Array(...aligned(buffer, at, size, 4));
  const bytes = new Uint8Array(buffer, at, size);
  if (dtype === "BOOL") return bytes;
  const { low = 0, high = 1 } = scale ?? {};
  const table = Float32Array.from({ length: 256 }, (_, b) => low + ((high - low) * b) / 255);
  const out = new Float32Array(size);
  for (let i = 0; i < size; i++) out[i] = table[bytes[i]];
  return out;
}

/** Where a typed array can begin: in the buffer itself, or in a copy of the part where that is not aligned to its item size.
 * @param {ArrayBuffer} buffer @param {number} at @param {number} size @param {number} item bytes @returns {[ArrayBuffer, number, number]} */
const aligned = (buffer, at, size, item) => (at % item ? [buffer.slice(at, at + size * item), 0, size] : [buffer, at, size]);

/** Fields whose numbers may be infinite or not a number; JSON carries these as text. Words of a person are never touched. */
const NUMERIC = new Set([
  "loss", "unedited_loss", "kl", "gradient", "norm", "validation", "logit", "probability", "policy_probability", "rest", "log_probability",
  "parameter_norms", "activation_norms", "parameter_moves", "clipped", "clip_factor", "ms", "forward_ms", "low", "high",
]);
/** @type {Record<string, number>} */
const SPECIAL = { NaN: NaN, Infinity: Infinity, "-Infinity": -Infinity };

/** @param {any} value */
function revive(value) {
  if (Array.isArray(value)) value.forEach(revive);
  else if (value && typeof value === "object")
    for (const [key, inner] of Object.entries(value)) {
      if (NUMERIC.has(key)) value[key] = number(inner);
      else revive(inner);
    }
  return value;
}

/** @param {any} value @returns {any} */
function number(value) {
  if (Array.isArray(value)) return value.map(number);
  return typeof value === "string" && value in SPECIAL ? SPECIAL[value] : value;
}
