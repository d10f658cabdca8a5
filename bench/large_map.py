"""One map of 1024 x 1024 weights while it is panned and zoomed: the page's own map, and a bare canvas of its size that draws an
image of as many pixels. In turns in one page, a change in every frame."""

from __future__ import annotations

from bench import browser, servers
from bench.report import Line, p50_p95

SIZE = 1024
FRAMES = 150
ROUNDS = 5
# The map as the page draws it, with a world made here, in a section over the page; beside it a bare canvas of the same size.
PAGE = """async (size) => {
  const { default: view } = await import("/assets/views/map.mjs");
  const { Block } = await import("/assets/lib/run/block.mjs");
  const { firstLook } = await import("/assets/lib/run/store.mjs");
  const place = "position:fixed;inset:0 auto auto 0;background:var(--surface);z-index:99;";
  const section = Object.assign(document.createElement("section"), { id: "view-map-bench", className: "view view-map" });
  section.style.cssText = `${place}width:1100px;height:760px`;
  document.body.append(section);
  const path = "decoder.layer0.self.weights";
  const weights = new Block(path, "value", ["b", "h", "t", "t'"], 0);
  const data = Float32Array.from({ length: size * size }, (_, i) => (((Math.imul(i, 2654435761) >>> 0) % 997) / 997) ** 4);
  weights.put({ dtype: "F32", shape: [1, 1, size, size], data }, [0, 0, 0, 0]);
  const mask = { program: "causal", parameter: 0, cells: [], every: 1, global_rows: [] };
  const relation = { name: "target_self", title: "target reads target", query: "t", key: "t", path: "decoder.layer{layer}.self" };
  const row = (_, i) => ({ token: `word${i}`, id: i, state: "known", origin: "person", text: null });
  const target = Array.from({ length: size }, row);
  const request = { target, source: null, decision_row: size - 1, choice: null, candidates: [] };
  const world = {
    ...lookback.store.world, look: { ...firstLook(), relation: "target_self" }, hover: null,
    opened: {
      scenario: { masks: [], edits: [], phase: "decode", policy: { limit: 0 }, requests: [{ target: target.slice(1) }] },
      relations: [{ ...relation, layers: 1, heads: 1, masks: [mask], default: mask }],
    },
    schema: { taps: [{ path, axes: ["b", "h", "t", "t'"], type: "weights" }] },
    moved: { at: 1, phase: "decode", step: 1, stages: [], requests: [request] },
    values: (_view, selector) => (selector === 2 ? [] : [weights]),
  };
  const context = { send: async () => ({ ok: true, errors: [] }), look() {}, hover() {}, say() {}, dismiss() {} };
  view.mount(section, context);
  const draw = () => view.draw(section, world, context)?.();
  section.addEventListener("box", draw);
  const began = performance.now();
  draw();
  const first = performance.now() - began;
  await new Promise((r) => setTimeout(r, 500));
  draw();
  const pan = section.querySelector(".map-pan");
  const canvas = pan.querySelector("canvas");
  const { width, height } = canvas.getBoundingClientRect();
  const bare = document.createElement("canvas");
  bare.style.cssText = `${place}width:${width}px;height:${height}px`;
  [bare.width, bare.height] = [canvas.width, canvas.height];
  bare.hidden = true;
  document.body.append(bare);
  const image = new OffscreenCanvas(size, size);
  const pixels = new ImageData(size, size);
  data.forEach((v, i) => pixels.data.set([v * 255, 120, 160, 255], i * 4));
  image.getContext("2d").putImageData(pixels, 0, 0);
  const g = bare.getContext("2d");
  const wheel = { ctrlKey: true, clientX: 700, clientY: 400, bubbles: true, cancelable: true };
  const ways = {
    map: {
      pan: (i) => pan.scrollTo(2000 + 1500 * Math.sin(i / 25), 2000 + 1500 * Math.cos(i / 31)),
      zoom: (i) => canvas.dispatchEvent(new WheelEvent("wheel", { ...wheel, deltaY: i % 100 < 50 ? 12 : -12 })),
    },
    bare: {
      pan: (i) => paint(15, 130 + 100 * Math.sin(i / 25), 130 + 100 * Math.cos(i / 31)),
      zoom: (i) => paint(15 * Math.exp(-12 / 200 * (i % 100 < 50 ? i % 50 : 50 - (i % 50))), 200, 200),
    },
  };
  const paint = (cell, x, y) => {
    g.clearRect(0, 0, bare.width, bare.height);
    g.imageSmoothingEnabled = false;
    g.drawImage(image, x, y, bare.width / cell, bare.height / cell, 0, 0, bare.width, bare.height);
  };
  window.largeMap = {
    first, box: [width, height],
    async run(which, how, frames) {
      [bare.hidden, section.style.visibility] = [which !== "bare", which === "bare" ? "hidden" : ""];
      const times = [];
      let last = 0;
      for (let i = 0; i < frames + 10; i++) {
        const now = await new Promise(requestAnimationFrame);
        if (i >= 10) times.push(now - last);
        last = now;
        ways[which][how](i);
      }
      return times;
    },
  };
}"""


def measure() -> list[Line]:
    with servers.lookback(), browser.chromium() as chromium:
        page = browser.open_lookback(chromium)
        page.evaluate(PAGE, SIZE)
        first, box = page.evaluate("() => [largeMap.first, largeMap.box]")
        times: dict[tuple[str, str], list[float]] = {}
        for turn in range(ROUNDS + 1):  # the first warms up
            for how in ("pan", "zoom"):
                for which in ("map", "bare"):
                    took = page.evaluate("([which, how, frames]) => largeMap.run(which, how, frames)", [which, how, FRAMES])
                    if turn:
                        times.setdefault((which, how), []).extend(took)
    return [_line(how, times["map", how], times["bare", how], first, box) for how in ("pan", "zoom")]


def _line(how: str, ours: list[float], bare: list[float], first: float, box: list[float]) -> Line:
    mean, plain = (sum(t) / len(t) for t in (ours, bare))
    measured = (
        f"{1000 / mean:.1f} frames/s, {p50_p95(ours)}; bare {1000 / plain:.1f} frames/s, {p50_p95(bare)} (p50/p95 of a frame, "
        f"{len(ours)} each, {box[0]:.0f} x {box[1]:.0f} px; first drawn in {first:.0f} ms)"
    )
    return Line(f"A {SIZE} x {SIZE} map, {how}: frame to a bare canvas's", "≤ 1.2", measured, mean / plain, 1.2)
