// @ts-check
/** What the page knows of one tap's values: pieces that arrive are put together into one rectangle. */

/** @typedef {import("../types").Known} Known @typedef {import("../types").Tensor} Tensor */

/** Of all blocks together. */
let changes = 0;

/** Values of one tap, as a rectangle that grows; NaN where nothing is known. */
export class Block {
  /** @param {string} path @param {Known["side"]} side @param {string[]} axes @param {number} epoch */
  constructor(path, side, axes, epoch) {
    /** Another number after each change. */
    this.version = 0;
    this.path = path;
    this.side = side;
    this.axes = axes;
    this.epoch = epoch;
    /** @type {number[]} */
    this.shape = axes.map(() => 0);
    /** @type {number[]} */
    this.strides = axes.map(() => 0);
    /** @type {Float32Array} */
    this.data = new Float32Array(0);
    /** What came, but for what lay in it already: first places and sizes. @type {{start: number[], shape: number[]}[]} */
    this.came = [];
  }

  /** Whether a number came for this place. @param {...number} index */
  has(...index) {
    return this.came.some(({ start, shape }) => index.every((n, i) => n >= start[i] && n < start[i] + shape[i]));
  }

  /** @param {...number} index */
  at(...index) {
    let place = 0;
    for (let i = 0; i < this.shape.length; i++) {
      if (!(index[i] >= 0 && index[i] < this.shape[i])) return NaN;
      place += index[i] * this.strides[i];
    }
    return this.data[place];
  }

  /** The last two axes at one place of the others, to be asked often: (row, column) to a number, NaN outside.
   * @param {...number} lead @returns {(row: number, column: number) => number} */
  plane(...lead) {
    const n = this.shape.length - 2;
    const inside = lead.length === n && lead.every((at, i) => at >= 0 && at < this.shape[i]);
    const [rows, columns, rowStride, columnStride] = inside ? [this.shape[n], this.shape[n + 1], this.strides[n], this.strides[n + 1]] : [0, 0, 0, 0];
    const { data } = this;
    const base = lead.reduce((sum, at, i) => sum + at * this.strides[i], 0);
    return (row, column) => (row >= 0 && row < rows && column >= 0 && column < columns ? data[base + row * rowStride + column * columnStride] : NaN);
  }

  /** Copy a tensor to where it begins, growing as needed. largest: where a number is known already, the larger one stays.
   * @param {Tensor} tensor @param {number[]} start @param {boolean} [largest] */
  put(tensor, start, largest = false) {
    this.version = ++changes;
    const shape = this.shape.map((n, i) => Math.max(n, start[i] + tensor.shape[i]));
    if (tensor.data.length && ![start, start.map((n, i) => n + tensor.shape[i] - 1)].every((corner) => this.has(...corner))) this.came.push({ start: [...start], shape: [...tensor.shape] });
    if (!this.data.length && start.every((s) => s === 0)) {
      this.resize(tensor.shape, Float32Array.from(tensor.data));
      return;
    }
    if (shape.some((n, i) => n !== this.shape[i])) this.grow(shape);
    copy(tensor.data, tensor.shape, this.data, this.strides, start, largest);
  }

  /** @param {number[]} shape */
  grow(shape) {
    const [data, old] = [this.data, this.shape];
    this.resize(shape, new Float32Array(shape.reduce((a, b) => a * b, 1)).fill(NaN));
    copy(data, old, this.data, this.strides, shape.map(() => 0));
  }

  /** @param {number[]} shape @param {Float32Array} data */
  resize(shape, data) {
    this.shape = [...shape];
    this.data = data;
    this.strides = shape.map((_, i) => shape.slice(i + 1).reduce((a, b) => a * b, 1));
  }
}

/** Copy a dense rectangle into a larger one, whole last-axis runs at a time.
 * @param {ArrayLike<number>} from @param {number[]} shape @param {Float32Array} to @param {number[]} strides @param {number[]} start @param {boolean} [largest] */
function copy(from, shape, to, strides, start, largest = false) {
  const size = shape.reduce((a, b) => a * b, 1);
  if (!size) return;
  const run = shape.length ? shape[shape.length - 1] : 1;
  const index = shape.map(() => 0);
  for (let at = 0; at < size; at += run) {
    let place = 0;
    for (let i = 0; i < shape.length; i++) place += (start[i] + index[i]) * strides[i];
    if (largest) for (let j = 0; j < run; j++) to[place + j] = from[at + j] <= to[place + j] ? to[place + j] : from[at + j];
    else for (let j = 0; j < run; j++) to[place + j] = from[at + j];
    for (let i = shape.length - 2; i >= 0 && ++index[i] === shape[i]; i--) index[i] = 0;
  }
}
