"""Nothing moves while stepping: the box of every region, header and control stays as it was, in every phase."""

from __future__ import annotations

from typing import Any

import pytest

from app.session import link
from app.session.scenario import defaults
from tests.browser.conftest import Window

pytestmark = pytest.mark.browser

# What has a place of its own. What lies inside a list, a map or a line of time (`MOVING`) comes and goes with the run.
FIXED = """
.top, .top > *, .setup, .setup section, .setup .field, .setup .hh, .setup .btn, .setup .link, .request, .request .hh,
.stage, .deck, .deck-bar, .deck .btn, #phase, #unit, .where, .scrub, .track, .ops, .ops > button,
.read, .say-line, .say, .say-note, .read-pan, .ribbon-switch, .work, .slot, .view, .ph, .ph > *, .hh, .hh > *,
.view .seg, .view .seg > *, .view .btn, .view summary, .mask-line, .maskbar, .zoom, .mapbody, .mini-col, .panes, .readout,
.blocks, .find, .whole, .outcome, .banks, .bank, .bank figcaption, .inspect, .insp, .lock, .formula, .mixture,
.checks, .checks > *, .todo, .batch-pan, .batch-line, .norms, .clip-set, [data-part], [data-part] > *, .plot, .legend,
.looks, .looks-foot, .places-list li, .places-list .others, .status, .status > *
"""
MOVING = ".track > *, .op-list > *, .pan-space > *, .blocks > *, .norms > *, .arith *, .terms *, .say > *, .where > *"
WATCH = """([fixed, moving]) => {
  const name = (e) => `${e.closest('.slot')?.id ?? ''} ${e.tagName.toLowerCase()}.${[...e.classList].join('.')}#${e.id}`;
  const shown = (e) => e.getClientRects().length > 0 && getComputedStyle(e).visibility === 'visible';
  const words = (e) => e.matches('p, span, .where, h2, h3, figcaption, .note, .sub') && !e.querySelector('button, input');
  const box = (e) => {
    // How wide words are depends on them alone, where their line is does not. The last region may get longer: nothing is below.
    const r = e.getBoundingClientRect();
    if (e.matches('.slot-checks')) return [r.x, r.y, r.width];
    return (words(e) ? [r.y, r.height] : [r.x, r.y, r.width, r.height]).map((n) => Math.round(n * 2) / 2);
  };
  const there = (e) => shown(e) && !(words(e) && !e.textContent.trim());
  const found = () => [...document.querySelectorAll(fixed)].filter((e) => there(e) && !e.closest(moving));
  const frame = () => new Promise(requestAnimationFrame);
  const first = new Map(found().map((e) => [e, box(e)])), moved = new Map();
  const look = (when) => {
    for (const e of found()) {
      const [before, now] = [first.get(e), box(e)];
      if (!before) first.set(e, now);
      else if (before.some((n, i) => Math.abs(n - now[i]) > 0.5)) moved.set(e, `${when}: ${name(e)} from ${before} to ${now}`);
    }
  };
  window.still = async (times, act) => {
    for (let i = 0; i < times; i++) {
      const { at, stage } = lookback.store.world.moved, op = lookback.store.world.look.op;
      const same = ({ moved, look } = lookback.store.world) => moved.at === at && moved.stage === stage && look.op === op;
      await act();
      for (let n = 0; same() && n < 600; n++) await frame();
      if (same()) throw new Error('no step was made');
      await frame(), await frame();
      look(`${i + 1}. ${lookback.store.world.moved.phase} ${lookback.store.world.moved.stage}`);
    }
    return { count: first.size, moved: [...moved.values()] };
  };
}"""
SIZES = ((1440, 900), (1280, 720))


def _address(architecture: str, **changes: Any) -> str:
    scenario = {**defaults(architecture).model_dump(mode="json"), **changes}
    return "/#s=" + link.pack({"v": 1, "scenario": scenario, "log": [], "view": {}})


def _still(window: Window, times: int, act: str, least: int = 100) -> None:
    found = window.page.evaluate("([times, act]) => still(times, () => lookback.actions[act]())", [times, act])
    assert not found["moved"], "\n".join(found["moved"])
    assert found["count"] > least


@pytest.fixture(params=SIZES, ids=[f"{w}x{h}" for w, h in SIZES])
def sized(request: pytest.FixtureRequest, blank: Window) -> Window:
    width, height = request.param
    blank.page.set_viewport_size({"width": width, "height": height})
    return blank


def _watch(window: Window, fixed: str = FIXED) -> None:
    window.page.evaluate("() => document.fonts.ready")
    window.settled()
    window.page.evaluate(WATCH, [fixed, MOVING])


def test_decoding_after_a_prompt(sized: Window) -> None:
    policy = {**defaults("decoder_only").policy.model_dump(mode="json"), "kind": "sample", "temperature": 4.0, "limit": 60}
    sized.open(_address("decoder_only", policy=policy))
    _watch(sized)
    _still(sized, 50, "step")


def test_decoding_from_a_source_there_and_back(sized: Window) -> None:
    sized.open()
    _watch(sized)
    steps = 5
    _still(sized, steps, "step")
    _still(sized, steps, "back")


def test_a_beam_from_one_hypothesis_to_three(sized: Window) -> None:
    policy = {**defaults("encoder_decoder").policy.model_dump(mode="json"), "kind": "beam", "width": 3}
    sized.open(_address("encoder_decoder", policy=policy))
    _watch(sized)
    _still(sized, 4, "step")
    _still(sized, 4, "back")


def test_a_caption_whose_places_are_drawn(sized: Window) -> None:
    given = defaults("show_attend_tell")
    sized.open(_address("show_attend_tell", config={**given.config, "attention": "hard"}))
    _watch(sized)
    _still(sized, 5, "step")


def test_decoding_by_a_state_from_before_its_first_call(sized: Window) -> None:
    sized.open(_address("mamba"))
    _watch(sized)
    _still(sized, 3, "step")


def test_prefill_by_stages_and_operations(sized: Window) -> None:
    sized.open(_address("decoder_only", phase="prefill"))
    sized.page.evaluate("() => lookback.actions.granularity('stage')")
    _watch(sized)
    _still(sized, 4, "step")
    sized.page.evaluate("() => lookback.actions.granularity('op')")
    _watch(sized)
    for act in ("step", "back", "step", "back", "step", "back"):  # 4 stages and 48 operations
        _still(sized, 8, act)


@pytest.mark.parametrize("architecture", ["mamba", "t5"])
def test_the_first_operation_of_a_prefill(sized: Window, architecture: str) -> None:
    sized.open(_address(architecture, phase="prefill"))
    sized.page.evaluate("() => lookback.actions.granularity('op')")
    _watch(sized)
    _still(sized, 3, "step")


def test_editing_the_mask_leaves_the_map_where_it_is(sized: Window) -> None:
    sized.open()
    sized.step()
    parts = ".mapbody, .map-pan, .mini-col > *, .minis > *, .readout, .map-head .seg, .map-head .btn"
    boxes = f"() => [...document.querySelectorAll('{parts}')].map((e) => JSON.stringify(e.getBoundingClientRect()))"
    before = sized.page.evaluate(boxes)
    sized.page.keyboard.press("m")
    sized.until("document.querySelector('.mask-controls').checkVisibility()")
    sized.settled()
    assert sized.page.evaluate(boxes) == before
    over = """() => {
      const box = (e) => e.getBoundingClientRect();
      const beside = (a, b) => a.right <= b.left || b.right <= a.left;
      const apart = (a, b) => beside(a, b) || a.bottom <= b.top + 3 || b.bottom <= a.top + 3;
      const all = [...document.querySelectorAll('.mask-controls > *, .map-head > :not(h2, .sp), .mini-col .tabs')];
      const seen = all.filter((e) => e.checkVisibility());
      const on = (a) => (b) => a !== b && !apart(box(a), box(b));
      return seen.filter((a) => seen.some(on(a))).map((a) => a.className);
    }"""
    assert sized.page.evaluate(over) == []


@pytest.mark.parametrize("architecture", ["conformer", "longformer"])
def test_a_read_that_is_followed_is_in_sight_as_a_whole(blank: Window, architecture: str) -> None:
    blank.page.set_viewport_size({"width": 1280, "height": 720})
    blank.open(_address(architecture, phase="prefill"))
    _watch(blank)
    _still(blank, 1, "step")
    longer = "filter((e) => e.scrollHeight > e.clientHeight + 1).map((e) => e.className)"
    assert blank.page.evaluate(f"() => [...document.querySelectorAll('.read-part, .read-lines')].{longer}") == []
    mixture = "document.querySelector('.mixture').checkVisibility()"
    assert not blank.page.evaluate(f"() => {mixture}")
    blank.page.evaluate("() => lookback.run.look({ lock: { row: 3, key: 4 } })")
    blank.until(mixture)  # locked, it is told in full


# where rows of controls or words come with the first numbers, and where a sum is longer than its line
ON_A_PHONE = [("s4", "prefill"), ("recurrent", "prefill"), ("show_attend_tell", "train"), ("structured", "train")]


@pytest.mark.parametrize(("architecture", "phase"), ON_A_PHONE)
def test_the_first_step_on_a_phone(blank: Window, architecture: str, phase: str) -> None:
    blank.page.set_viewport_size({"width": 390, "height": 844})
    blank.open(_address(architecture, phase=phase))
    _watch(blank, FIXED.replace(".say, ", ""))  # one line or two of its two
    _still(blank, 1, "step", least=30)  # one tab of four
    _still(blank, 1, "back", least=30)


def test_training_on_a_phone(blank: Window) -> None:
    blank.page.set_viewport_size({"width": 390, "height": 844})
    blank.open(_address("encoder_decoder", phase="train"))
    blank.page.locator("#step-phone").click()
    blank.until("lookback.store.world.moved.updates === 1")  # now there is a batch, and a map
    _watch(blank)
    _still(blank, 12, "step")  # shorter and longer batches


def test_training_by_updates_and_by_stages(sized: Window) -> None:
    sized.open(_address("encoder_decoder", phase="train"))
    _watch(sized)
    _still(sized, 50 if sized.page.viewport_size == {"width": 1440, "height": 900} else 15, "step")
    sized.page.evaluate("() => lookback.actions.granularity('stage')")
    _watch(sized)  # what comes next takes more lines, stage by stage
    _still(sized, 7, "step")
