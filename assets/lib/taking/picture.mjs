// @ts-check
/** A view as a picture: its elements with the styles that they have now, its canvases sharper or as shapes, a caption below. */

import { drawWith, sharpen } from "../canvas.mjs";
import { msg } from "../language.mjs";
import { escaped, Vector } from "./vector.mjs";

const SCALE = 2;
const MARGIN = 16;
const LINE = 16;
const SVG = "http://www.w3.org/2000/svg";
const HTML = "http://www.w3.org/1999/xhtml";
/** Styles that make no difference in a still picture, or would move it, or say again what others say. */
const LEFT_OUT = /^(--|transition|animation|cursor|pointer-events|contain|container|will-change|-webkit-locale|user-select|touch-action|scroll|overscroll|inline-size|block-size|min-|max-|perspective-origin|transform-origin|view-transition|interactivity|timeline|anchor|app-region|offset|corner|ruby|math|page|position-(anchor|area|try|visibility)|(border|margin|padding|inset|overflow)-(block|inline)|border-(start|end)-)/;
/** Styles that an element has from those around it, or that are nothing only while another one is nothing: always written. */
const TOLD = /^(width|height|display|color|font-(family|size|style|weight|variant-numeric|feature-settings)|line-height|letter-spacing|text-(align|indent|transform|wrap-mode|shadow)|white-space.*|visibility|list-style-type|direction|(border|outline)-.*width)$/;
/** The same of shapes. */
const SHAPED = /^(fill|stroke)/;
/** Styles that are each element's own; what is left many have alike. */
const OWN = /^(width|height|left|top|right|bottom|transform|translate)$|^grid-template-/;

/** A copy of an element as it is now, and the style sheet that it needs. `redraw` paints its canvases anew at once; as shapes they grow without blur.
 * @param {HTMLElement} element @param {() => void} redraw @param {boolean} [shapes] @returns {{copy: any, styles: string, width: number, height: number}} */
export function copyOf(element, redraw, shapes = false) {
  sharpen(SCALE);
  /** @type {Kit} */
  const kit = { pens: new Map(), sheet: new Map() };
  try {
    if (shapes) drawWith(penIn(kit.pens));
    redraw();
    const { width, height } = extent(element);
    const copy = copied(element, kit);
    Object.assign(copy.style, { margin: "0", width: `${width}px`, height: `${height}px` });
    if (getComputedStyle(element).display === "contents") copy.style.display = "block";
    return { copy, styles: [...kit.sheet].map(([said, name]) => `.${name}{${said}}`).join(""), width, height };
  } finally {
    sharpen(0);
    drawWith(null);
    redraw();
  }
}

/** The picture as SVG text. @param {HTMLElement} element @param {string} caption @param {() => void} redraw @param {boolean} [shapes] @returns {Promise<{text: string, width: number, height: number}>} */
export async function svgOf(element, caption, redraw, shapes = false) {
  const { copy, styles, width, height } = copyOf(element, redraw, shapes);
  const body = getComputedStyle(document.body);
  const colour = getComputedStyle(element).color;
  const background = ground(element);
  const w = Math.max(320, Math.ceil(width)) + 2 * MARGIN;
  const lines = broken([caption, held(element)].filter(Boolean).join(". "), (w - 2 * MARGIN) / 6.2);
  const h = Math.ceil(height) + 3 * MARGIN + LINE * lines.length;
  const words = lines.map((line, i) => `<text x="${MARGIN}" y="${Math.ceil(height) + 2 * MARGIN + 11 + LINE * i}" font-size="11" font-family='${escaped(body.fontFamily)}' fill="${colour}">${escaped(line)}</text>`).join("");
  const inside = new XMLSerializer().serializeToString(copy);
  const text = `<svg xmlns="${SVG}" width="${w}" height="${h}" viewBox="0 0 ${w} ${h}"><title>${escaped(caption)}</title><style>${await fonts()}${escaped(styles)}</style>` +
    `<rect width="100%" height="100%" fill="${background}"/><foreignObject x="${MARGIN}" y="${MARGIN}" width="${Math.ceil(width)}" height="${Math.ceil(height)}">${inside}</foreignObject>${words}</svg>`;
  return { text, width: w, height: h };
}

/** The same as PNG, twice as large as on the page.
 * @param {{text: string, width: number, height: number}} svg @returns {Promise<Blob>} */
export async function pngOf({ text, width, height }) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width * SCALE, height * SCALE];
  const g = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  g.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error(msg`This browser could not make the picture.`))), "image/png"));
}

/** Where it lies, also when its box is that of its children alone. @param {HTMLElement} element */
function extent(element) {
  const boxes = [element, ...element.children].filter((e) => e.getClientRects().length && !e.classList.contains("sr")).map((e) => e.getBoundingClientRect());
  const over = (/** @type {"left" | "right" | "top" | "bottom"} */ side, /** @type {(...all: number[]) => number} */ most) => most(...boxes.map((b) => b[side]));
  return boxes.length ? { width: over("right", Math.max) - over("left", Math.min), height: over("bottom", Math.max) - over("top", Math.min) } : { width: 0, height: 0 };
}

/** A pen for each canvas that is drawn. @param {Map<HTMLCanvasElement, Vector>} pens @returns {(canvas: HTMLCanvasElement, size?: [number, number]) => Vector | undefined} */
const penIn = (pens) => (canvas, size) => {
  if (size) pens.set(canvas, new Vector(canvas, ...size));
  return pens.get(canvas);
};

/** What a copy is made with: what was drawn as shapes, and the styles that elements have alike, each with the class that stands for it.
 * @typedef {{pens: Map<HTMLCanvasElement, Vector>, sheet: Map<string, string>}} Kit */

/** @param {Element} element @param {Kit} kit @param {number} [edge] what begins below it is not in sight @returns {any} */
function copied(element, kit, edge = Infinity) {
  const style = getComputedStyle(element);
  if (element instanceof HTMLCanvasElement) return imageOf(element, style, kit);
  const copy = /** @type {any} */ (element.cloneNode(false));
  copy.removeAttribute("id");
  if (copy.namespaceURI === HTML) copy.removeAttribute("hidden");
  dress(copy, style, kit);
  if (/auto|scroll/.test(style.overflow)) copy.style.overflow = "hidden"; // no bars
  else if (inOneLine(element)) Object.assign(copy.style, { ...(style.whiteSpace === "normal" && { whiteSpace: "nowrap" }), ...(element.scrollWidth <= element.clientWidth + 1 && { textOverflow: "clip", overflow: "visible" }) });
  if (element instanceof HTMLInputElement) {
    copy.setAttribute("value", element.value);
    if (element.checked) copy.setAttribute("checked", "");
  }
  const scrolled = element.scrollLeft || element.scrollTop;
  const low = /auto|scroll/.test(style.overflowY) && element.scrollHeight > element.clientHeight ? Math.min(edge, element.getBoundingClientRect().bottom) : edge;
  const before = pseudo(element, "::before", kit);
  if (before) copy.append(before);
  for (const child of element.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) copy.append(child.cloneNode());
    else if (child instanceof Element && seen(child) && !(child.getBoundingClientRect().top > low)) copy.append(copied(child, kit, low));
  }
  const after = pseudo(element, "::after", kit);
  if (after) copy.append(after);
  if (scrolled) for (const child of copy.children) child.style.translate = `${-element.scrollLeft}px ${-element.scrollTop}px`;
  return copy;
}

/** Whether it has words of its own, all in one line: letters of another size are somewhat wider or narrower, and neither break it nor are cut.
 * @param {Element} element */
function inOneLine(element) {
  if (!(element instanceof HTMLElement) || ![...element.childNodes].some((n) => (n instanceof Element ? getComputedStyle(n).display === "inline" : n.nodeValue?.trim()))) return false;
  const range = document.createRange();
  range.selectNodeContents(element);
  const boxes = [...range.getClientRects()];
  return boxes.length > 0 && Math.max(...boxes.map((b) => b.top)) < Math.min(...boxes.map((b) => b.bottom));
}

/** @param {any} element */
function seen(element) {
  if (element instanceof HTMLOptionElement || element instanceof HTMLOptGroupElement) return element.matches(":checked, :has(:checked)"); // of a list its choice
  if (element instanceof HTMLElement && (element.hidden || element.classList.contains("sr"))) return false;
  return getComputedStyle(element).display === "contents" || element.checkVisibility?.() !== false;
}

/** A canvas that sticks to what is in sight stays there: what it shows is scrolled already.
 * @param {HTMLCanvasElement} canvas @param {CSSStyleDeclaration} style @param {Kit} kit */
function imageOf(canvas, style, kit) {
  const drawn = kit.pens.get(canvas);
  const image = document.createElement(drawn ? "div" : "img");
  dress(image, style, kit);
  const scroller = style.position === "sticky" ? canvas.closest(".pan") : null;
  if (scroller) Object.assign(image.style, { position: "relative", top: `${scroller.scrollTop}px`, left: `${scroller.scrollLeft}px` });
  if (drawn) image.append(drawn.element());
  if (image instanceof HTMLImageElement) image.src = canvas.width && canvas.height ? canvas.toDataURL("image/png") : "data:,";
  return image;
}

/** Give a copy the styles that a file does not give it by itself: its own, and the class of those that others have too.
 * @param {any} copy @param {CSSStyleDeclaration} style @param {Kit} kit */
function dress(copy, style, { sheet }) {
  const graphic = copy instanceof SVGElement, plain = unstyled(copy);
  /** @type {string[][]} */
  const [own, alike] = [[], []];
  for (const name of names(style)) {
    if (graphic && /^(width|height|x|y|cx|cy|r|rx|ry|d)$/.test(name)) continue;
    const value = style.getPropertyValue(name);
    if (plain.get(name) !== value || TOLD.test(name) || (graphic && SHAPED.test(name))) (OWN.test(name) ? own : alike).push(`${name}:${value}`);
  }
  if (style.transform !== "none") own.push(`transform-origin:${style.transformOrigin}`);
  const said = alike.join(";");
  if (!sheet.has(said)) sheet.set(said, `s${sheet.size}`);
  copy.setAttribute("class", sheet.get(said));
  copy.setAttribute("style", own.join(";"));
}

/** @type {string[]} */
let told = [];

/** The styles that make a difference. @param {CSSStyleDeclaration} style */
function names(style) {
  if (!told.length) told = Array.from(style).filter((name) => !LEFT_OUT.test(name));
  return told;
}

/** @type {Map<string, Map<string, string>>} */
const unstyleds = new Map();

/** What each style of such an element is where nobody says anything: in a tree of its own the page's rules do not hold. @param {Element} like */
function unstyled(like) {
  const type = like.getAttribute("type") ?? "", key = `${like.tagName} ${type}`, known = unstyleds.get(key);
  if (known) return known;
  const nobody = document.createElement("div");
  nobody.style.cssText = "all: initial; display: none";
  document.body.append(nobody);
  const alone = document.createElementNS(like.namespaceURI, like.localName);
  if (type) alone.setAttribute("type", type);
  nobody.attachShadow({ mode: "open" }).append(alone);
  const style = getComputedStyle(alone), found = new Map(names(style).map((name) => [name, style.getPropertyValue(name)]));
  unstyleds.set(key, found);
  nobody.remove();
  return found;
}

/** What CSS puts before or after, as an element. @param {Element} element @param {"::before" | "::after"} which @param {Kit} kit */
function pseudo(element, which, kit) {
  const style = getComputedStyle(element, which);
  const { content } = style;
  if (content === "none" || content === "normal" || style.display === "none") return null;
  const made = document.createElement("span");
  dress(made, style, kit);
  made.textContent = JSON.parse(/^"(?:[^"\\]|\\.)*"/.exec(content)?.[0] ?? '""'); // without what is said in its place, after a slash
  return made;
}

/** The first surface behind it. @param {Element | null} element @returns {string} */
function ground(element) {
  for (let e = element; e; e = e.parentElement) {
    const { backgroundColor } = getComputedStyle(e);
    if (backgroundColor !== "transparent" && !/, 0\)$/.test(backgroundColor)) return backgroundColor;
  }
  return "#fff";
}

/** What a picture of a view that is scrolled does not hold. @param {HTMLElement} element */
function held(element) {
  let [wide, tall] = [1, 1];
  for (const inner of element.querySelectorAll("*")) {
    if (!/auto|scroll/.test(getComputedStyle(inner).overflow) || !inner.clientWidth || !inner.clientHeight) continue;
    wide = Math.min(wide, inner.clientWidth / inner.scrollWidth);
    tall = Math.min(tall, inner.clientHeight / inner.scrollHeight);
  }
  if (wide > 0.99 && tall > 0.99) return "";
  return msg`Holds what was in sight: ${Math.round(100 * wide)} % of the width, ${Math.round(100 * tall)} % of the height.`;
}

/** @type {Promise<string> | null} */
let kept = null;

/** The page's own faces as addresses, because a picture may load nothing; none while the server is not reached. */
function fonts() {
  kept ??= Promise.all([...document.styleSheets].flatMap((sheet) => faces(sheet)).map(async ({ rule, base }) => {
    const [, file] = /url\("?([^")]+)"?\)/.exec(rule.style.getPropertyValue("src")) ?? [];
    if (!file) return "";
    const found = file.startsWith("data:") ? file : await asAddress(new URL(file, base).href);
    return `@font-face{font-family:${rule.style.getPropertyValue("font-family")};font-weight:${rule.style.getPropertyValue("font-weight")};src:url(${found}) format("woff2")}`;
  })).then((all) => all.join(""), () => ((kept = null), ""));
  return kept;
}

/** @param {CSSStyleSheet} sheet @returns {{rule: any, base: string}[]} */
function faces(sheet) {
  try {
    return [...sheet.cssRules].filter((r) => r instanceof CSSFontFaceRule).map((rule) => ({ rule, base: sheet.href ?? document.baseURI }));
  } catch {
    return []; // a sheet of somebody else (an extension)
  }
}

/** @param {string} url @returns {Promise<string>} */
async function asAddress(url) {
  const blob = await (await fetch(url)).blob();
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(blob);
  });
}

/** @param {string} text @param {number} most characters in a line */
function broken(text, most) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = `${lines.at(-1)} ${word}`.trim();
    if (line.length > most && lines.at(-1)) lines.push(word);
    else lines[lines.length - 1] = line;
  }
  return lines;
}
