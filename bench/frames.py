"""Bytes of a decode step and of a keyframe, for what the page itself asks for with all its views open."""

from __future__ import annotations

import asyncio

from app.session.commands import Selector
from bench import browser, servers
from bench.client import client
from bench.report import Line
from bench.runs import scenario

ALLOWED = {16: 10.0, 64: 20.0}  # kB
KEYFRAME = 150.0
ARCHITECTURES = ("decoder_only", "encoder_decoder")


def measure() -> list[Line]:
    with servers.lookback():
        watches = {a: browser.plain_watch(a) for a in ARCHITECTURES}
        found = {(a, t): asyncio.run(_sizes(t, a, watches[a])) for a in ARCHITECTURES for t in ALLOWED}
    lines = [_line(found, size) for size in ALLOWED]
    keyframes = {a: found[a, 64]["keyframe"] for a in ARCHITECTURES}
    both = ", ".join(f"{a} {n:.1f} kB" for a, n in keyframes.items())
    return [*lines, Line("Keyframe, all views open, T=64", "≤ 150 kB", both, max(keyframes.values()) / KEYFRAME, 1.0)]


def _line(found: dict[tuple[str, int], dict[str, float]], size: int) -> Line:
    kinds = {a: {k: n for k, n in found[a, size].items() if k != "keyframe"} for a in ARCHITECTURES}
    parts = ", ".join(f"{k} {n:.1f}" for k, n in kinds["encoder_decoder"].items())
    sums = {a: sum(k.values()) for a, k in kinds.items()}
    measured = f"decoder-only {sums['decoder_only']:.1f} kB, encoder-decoder {sums['encoder_decoder']:.1f} kB ({parts})"
    allowed = ALLOWED[size]
    return Line(
        f"All frames of a decode step, all views open, T={size}",
        f"≤ {allowed:.0f} kB",
        measured,
        max(sums.values()) / allowed,
        1.0,
    )


async def _sizes(rows: int, architecture: str, watch: tuple[Selector, ...]) -> dict[str, float]:
    """kB by kind of the step that reads row number `rows`, and of a keyframe after it."""
    async with client() as it:
        await it.begin(scenario(rows - 2, architecture), watch)
        await it.step()
        sizes = {kind: len(frame) / 1e3 for kind, frame in await it.send(kind="step")}
        keyframe = dict(await it.watch(watch))["values"]
        return {**sizes, "keyframe": len(keyframe) / 1e3}
