// @ts-check
/** A pen that writes SVG: what drawings ask of a canvas (lib/draw/pen.mjs), kept as shapes that grow without blur. */

/** @typedef {[number, number, number, number, number, number]} Matrix as in SVG: a b c d e f */

const SVG = "http://www.w3.org/2000/svg";
const ANCHORS = { left: "start", start: "start", center: "middle", right: "end", end: "end" };
/** From the middle of the letters, and from their top, to the line that they stand on: parts of the size of the font. */
const BASELINES = /** @type {Record<string, number>} */ ({ middle: 0.35, top: 0.8, bottom: -0.2, hanging: 0.8 });
const KEPT = ["fillStyle", "strokeStyle", "lineWidth", "lineJoin", "lineCap", "globalAlpha", "font", "textAlign", "textBaseline", "imageSmoothingEnabled"];

/** Clip paths have names of their own in the whole file. */
let clips = 0;

export class Vector {
  fillStyle = "#000";
  strokeStyle = "#000";
  lineWidth = 1;
  lineJoin = "miter";
  lineCap = "butt";
  globalAlpha = 1;
  font = "10px sans-serif";
  textAlign = "start";
  textBaseline = "alphabetic";
  imageSmoothingEnabled = true;
  /** @type {number[]} */
  dash = [];
  /** @type {Matrix} */
  matrix = [1, 0, 0, 1, 0, 0];
  path = "";
  /** Clips that hold what is drawn now. */
  open = 0;
  /** @type {any[]} */
  saved = [];
  /** @type {string[]} */
  out = [];

  /** @param {HTMLCanvasElement} canvas that it stands for @param {number} width @param {number} height CSS pixels */
  constructor(canvas, width, height) {
    this.canvas = canvas;
    this.width = width;
    this.height = height;
    this.measure = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
  }

  /** All that was drawn, as an element. */
  element() {
    const svg = document.createElementNS(SVG, "svg");
    svg.style.display = "block";
    for (const [name, value] of Object.entries({ width: this.width, height: this.height, viewBox: `0 0 ${this.width} ${this.height}` })) svg.setAttribute(name, String(value));
    svg.innerHTML = this.out.join("") + "</g>".repeat(this.open);
    return svg;
  }

  save() {
    this.saved.push({ ...Object.fromEntries(KEPT.map((name) => [name, /** @type {any} */ (this)[name]])), dash: this.dash, matrix: this.matrix, open: this.open });
  }

  restore() {
    const before = this.saved.pop();
    if (!before) return;
    this.out.push("</g>".repeat(this.open - before.open));
    Object.assign(this, before);
  }

  getTransform() {
    const [a, b, c, d, e, f] = this.matrix;
    return { a, b, c, d, e, f };
  }

  /** @param {number} x @param {number} y */
  translate(x, y) {
    const [e, f] = this.at(x, y);
    this.matrix = /** @type {Matrix} */ ([...this.matrix.slice(0, 4), e, f]);
  }

  /** @param {number} angle */
  rotate(angle) {
    const [a, b, c, d, e, f] = this.matrix, [cos, sin] = [Math.cos(angle), Math.sin(angle)];
    this.matrix = [a * cos + c * sin, b * cos + d * sin, c * cos - a * sin, d * cos - b * sin, e, f];
  }

  /** A place of the drawing. @param {number} x @param {number} y @returns {[number, number]} */
  at(x, y) {
    const [a, b, c, d, e, f] = this.matrix;
    return [a * x + c * y + e, b * x + d * y + f];
  }

  /** @param {number[]} xy pairs */
  points(...xy) {
    const found = [];
    for (let i = 0; i < xy.length; i += 2) found.push(...this.at(xy[i], xy[i + 1]).map(short));
    return found.join(" ");
  }

  beginPath() {
    this.path = "";
  }

  closePath() {
    this.path += "Z";
  }

  /** @param {number} x @param {number} y */
  moveTo(x, y) {
    this.path += `M${this.points(x, y)}`;
  }

  /** @param {number} x @param {number} y */
  lineTo(x, y) {
    this.path += `${this.path ? "L" : "M"}${this.points(x, y)}`;
  }

  /** @param {number[]} xy */
  bezierCurveTo(...xy) {
    this.path += `C${this.points(...xy)}`;
  }

  /** @param {number[]} xy */
  quadraticCurveTo(...xy) {
    this.path += `Q${this.points(...xy)}`;
  }

  /** @param {number} x @param {number} y @param {number} w @param {number} h */
  rect(x, y, w, h) {
    this.path += box(this, x, y, w, h);
  }

  /** @param {number} x @param {number} y @param {number} w @param {number} h @param {number} radius */
  roundRect(x, y, w, h, radius) {
    const r = Math.max(0, Math.min(radius, Math.abs(w) / 2, Math.abs(h) / 2)), [x1, y1] = [x + w, y + h], p = (/** @type {number[]} */ ...xy) => this.points(...xy);
    this.path += `M${p(x + r, y)}L${p(x1 - r, y)}Q${p(x1, y, x1, y + r)}L${p(x1, y1 - r)}Q${p(x1, y1, x1 - r, y1)}L${p(x + r, y1)}Q${p(x, y1, x, y1 - r)}L${p(x, y + r)}Q${p(x, y, x + r, y)}Z`;
  }

  /** @param {number} x @param {number} y @param {number} r @param {number} from @param {number} to angles @param {boolean} [back] */
  arc(x, y, r, from, to, back = false) {
    const turn = Math.max(-2 * Math.PI, Math.min(2 * Math.PI, to - from)), halves = [from, from + turn / 2, from + turn];
    const on = (/** @type {number} */ angle) => this.points(x + r * Math.cos(angle), y + r * Math.sin(angle));
    this.path += `${this.path ? "L" : "M"}${on(halves[0])}` + halves.slice(1).map((angle) => `A${short(r)} ${short(r)} 0 0 ${back ? 0 : 1} ${on(angle)}`).join("");
  }

  clip() {
    const id = `clip-${++clips}`;
    this.out.push(`<clipPath id="${id}"><path d="${this.path}"/></clipPath><g clip-path="url(#${id})">`);
    this.open += 1;
  }

  fill() {
    if (this.path) this.out.push(`<path d="${this.path}" ${this.filled()}/>`);
  }

  stroke() {
    if (this.path) this.out.push(`<path d="${this.path}" fill="none" ${this.stroked()}/>`);
  }

  /** @param {number} x @param {number} y @param {number} w @param {number} h */
  fillRect(x, y, w, h) {
    this.out.push(`<path d="${box(this, x, y, w, h)}" ${this.filled()}/>`);
  }

  /** @param {number} x @param {number} y @param {number} w @param {number} h */
  strokeRect(x, y, w, h) {
    this.out.push(`<path d="${box(this, x, y, w, h)}" fill="none" ${this.stroked()}/>`);
  }

  /** It begins empty. */
  clearRect() {
    if (!this.saved.length) this.out.length = 0;
  }

  /** @param {string} text @param {number} x @param {number} y */
  fillText(text, x, y) {
    this.letters(text, x, y, this.filled());
  }

  /** @param {string} text @param {number} x @param {number} y */
  strokeText(text, x, y) {
    this.letters(text, x, y, `fill="none" ${this.stroked()}`);
  }

  /** @param {string} text @param {number} x @param {number} y @param {string} how */
  letters(text, x, y, how) {
    const [, weight, size, family] = /^(\d+ )?([\d.]+)px (.*)$/.exec(this.font) ?? [, "400", "10", "sans-serif"];
    const [a, b, c, d] = this.matrix, [e, f] = this.at(x, y + Number(size) * (BASELINES[this.textBaseline] ?? 0));
    const turned = a === 1 && !b && !c && d === 1 ? `x="${short(e)}" y="${short(f)}"` : `transform="matrix(${[a, b, c, d, e, f].map(short).join(" ")})"`;
    this.out.push(`<text ${turned} font-family="${escaped(family ?? "")}" font-size="${size}" font-weight="${(weight ?? "400").trim()}" text-anchor="${ANCHORS[/** @type {"left"} */ (this.textAlign)]}" xml:space="preserve" ${how}>${escaped(text)}</text>`);
  }

  /** @param {string} text */
  measureText(text) {
    this.measure.font = this.font;
    return this.measure.measureText(text);
  }

  /** @param {number[]} dash */
  setLineDash(dash) {
    this.dash = dash;
  }

  /** A picture, or a part of it, as it is. @param {any} image a canvas @param {number[]} where x y w h, and before them the part */
  drawImage(image, ...where) {
    const { width, height } = image;
    const [sx, sy, sw, sh, x, y, w, h] = where.length > 4 ? where : [0, 0, width, height, where[0], where[1], where[2] ?? width, where[3] ?? height];
    const whole = Object.assign(document.createElement("canvas"), { width, height });
    whole.getContext("2d")?.drawImage(image, 0, 0);
    const [left, top] = this.at(x, y), sharp = this.imageSmoothingEnabled ? "" : ' style="image-rendering:pixelated"';
    this.out.push(`<svg x="${short(left)}" y="${short(top)}" width="${short(w)}" height="${short(h)}" viewBox="${sx} ${sy} ${sw} ${sh}" preserveAspectRatio="none"><image width="${width}" height="${height}" opacity="${this.globalAlpha}" href="${whole.toDataURL("image/png")}"${sharp}/></svg>`);
  }

  filled() {
    return `fill="${escaped(String(this.fillStyle))}"${this.globalAlpha < 1 ? ` fill-opacity="${short(this.globalAlpha)}"` : ""}`;
  }

  stroked() {
    const dash = this.dash.length ? ` stroke-dasharray="${this.dash.join(" ")}"` : "", join = this.lineJoin === "miter" ? "" : ` stroke-linejoin="${this.lineJoin}"`;
    return `stroke="${escaped(String(this.strokeStyle))}" stroke-width="${short(this.lineWidth)}"${join}${dash}${this.globalAlpha < 1 ? ` stroke-opacity="${short(this.globalAlpha)}"` : ""}`;
  }
}

/** @param {Vector} pen @param {number} x @param {number} y @param {number} w @param {number} h */
const box = (pen, x, y, w, h) => `M${pen.points(x, y)}L${pen.points(x + w, y)}L${pen.points(x + w, y + h)}L${pen.points(x, y + h)}Z`;

/** @param {number} x */
const short = (x) => Math.round(x * 100) / 100;

/** @param {string} text */
export const escaped = (text) => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
