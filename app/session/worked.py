"""What the source texts print, computed again by this product's own code: `models/worked_numbers.json`, entry by entry.

The numbers are the texts'; what stands beside them as "ours" is computed here when it is asked for.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from app.session import worked_words
from models import Inputs, Rows, convolution
from models.parts import reach
from models.parts.cells import CellKind, Recurrence
from models.parts.rates import NTK, Plain
from models.parts.read import read
from models.parts.scores import Additive
from models.parts.tap import OFF, Recorder
from models.parts.terms import terms
from models.parts.visibility import Visibility
from models.parts.windows import windows
from models.tasks import BOS, EOS, PAD
from models.tasks.objective import decision_rows, pad, shift
from models.transformer import DecoderOnly, DecoderOnlyConfig, EncoderDecoder, EncoderDecoderConfig

FILE = Path(__file__).parents[2] / "models" / "worked_numbers.json"
SPECIAL = {"BOS": BOS, "EOS": EOS, "PAD": PAD}
Line = tuple[str, Any, Any]  # what it is, as printed, ours


@cache
def printed() -> dict[str, dict[str, Any]]:
    """The entries by name."""
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return {name: entry for name, entry in found.items() if isinstance(entry, dict)}


@cache
def worked() -> list[dict[str, Any]]:
    """Every entry: name, source, its lines (what, printed, ours, difference), and whether all agree within what is printed; of
    words also their picture (`worked_words.py`)."""
    return [_entry(name, entry) for name, entry in printed().items()]


def _entry(name: str, entry: dict[str, Any]) -> dict[str, Any]:
    atol, rtol = entry.get("atol", 0.0), entry.get("rtol", 0.0)
    lines = []
    for what, theirs, ours in WORKED[name](entry):
        off = _apart(theirs, ours)
        largest = max((abs(x) for x in _flat(theirs) if not isinstance(x, str)), default=0.0)
        lines.append({"what": what, "printed": theirs, "ours": ours, "difference": off, "agrees": off <= atol + rtol * largest})
    picture = {"picture": PICTURES[name](entry)} if name in PICTURES else {}
    return {"name": name, "source": entry["source"], "lines": lines, "agrees": all(line["agrees"] for line in lines), **picture}


def _flat(value: Any) -> Iterator[float | str]:
    if isinstance(value, list):
        for one in value:
            yield from _flat(one)
    else:
        yield value if isinstance(value, str) else float(value)


def _apart(theirs: Any, ours: Any) -> float:
    """The largest difference; infinite where the shapes or words differ."""
    a, b = list(_flat(theirs)), list(_flat(ours))
    return math.inf if len(a) != len(b) else max((_off(x, y) for x, y in zip(a, b, strict=True)), default=0.0)


def _off(x: float | str, y: float | str) -> float:
    if isinstance(x, str) or isinstance(y, str):
        return 0.0 if x == y else math.inf
    return abs(x - y)


# --- one function an entry ---------------------------------------------------------------------------------------------------


def _weighted(w: dict[str, Any]) -> Iterator[Line]:
    for i, alpha in enumerate(w["alpha"]):
        yield (
            f"context {i}",
            w["context"][i],
            read(None, w["H"], None, [math.log(a) for a in alpha], "supplied", None).context.tolist(),
        )
    last = [False, False, False, True]
    yield "fixed context", w["fixed_context"], read(None, w["H"], None, [0.0] * 4, "supplied", last).context.tolist()


def _dot(w: dict[str, Any]) -> Iterator[Line]:
    found = read(w["H"], None, w["q"], None, "dot", None)
    for name in ("scores", "weights", "context"):
        yield name, w[name], getattr(found, name).tolist()


def _qkv(w: dict[str, Any]) -> Iterator[Line]:
    found = read(None, w["V"], None, w["scores"], "supplied", None)
    yield "weights", w["weights"], found.weights.tolist()
    yield "output", w["output"], found.context.tolist()


def _gru(w: dict[str, Any]) -> Iterator[Line]:
    width = len(w["z"])
    cell: Any = Recurrence(CellKind("gru", "carries"), 1, width, 1, "t").double().layers[0]
    z, candidate, before = (torch.tensor(w[n], dtype=torch.float64) for n in ("z", "h_candidate", "h_prev"))
    given = torch.zeros(1, 3 * width, dtype=torch.float64)
    given[0, width : 2 * width], given[0, 2 * width :] = z.logit(), candidate.atanh()
    with torch.no_grad():
        for map_ in (cell.U, cell.U_candidate):
            map_.weight.zero_()
        (after,) = cell(given, (before[None],), OFF)
    yield "h", w["h_new"], after[0].tolist()


def _jacobian(w: dict[str, Any]) -> Iterator[Line]:
    for case in w["cases"]:
        loop: Any = Recurrence(CellKind("tanh"), 1, 1, 1, "t").double()
        with torch.no_grad():
            for parameter in loop.parameters():
                parameter.zero_()
            loop.layers[0].U.weight.fill_(case["factor"])
        start, rows = torch.zeros(1, 1, dtype=torch.float64, requires_grad=True), torch.ones(1, case["steps"], dtype=torch.bool)
        with torch.enable_grad():
            _, states = loop(torch.zeros(1, case["steps"], 1).double(), rows, ((start,),), OFF)
            (product,) = torch.autograd.grad(states[0][0].sum(), start)
        yield f"{case['factor']} over {case['steps']} steps", case["product"], product.item()


def _receptive(w: dict[str, Any]) -> Iterator[Line]:
    for case in w["contiguous"]:
        config = convolution.Config(layers=case["layers"], kernel=case["k"], growth=1)
        yield f"k {case['k']}, {case['layers']} layers", case["span"], convolution.span(config)
    for case in w["dilated"]:
        config = convolution.Config(layers=len(case["dilations"]), kernel=case["k"], growth=2, cycle=12)
        yield f"k {case['k']}, dilations {case['dilations']}", case["span"], convolution.span(config)
    for case in w["min_layers_contiguous"]:
        depths = (
            n for n in range(1, 13) if convolution.span(convolution.Config(layers=n, kernel=case["k"], growth=1)) > case["delta"]
        )
        yield f"layers to {case['delta']} rows back, k {case['k']}", case["layers"], next(depths)


def _windows(w: dict[str, Any]) -> Iterator[Line]:
    cut = windows(torch.zeros(w["B"], w["T"] + w["k"] - 1, w["d"]), w["T"], w["k"])
    flat = cut.flatten(2)
    both = flat @ torch.zeros(w["W"][1], w["W"][0])
    yield "windows", w["windows"], list(cut.shape)
    yield "flat", w["flat"], list(flat.shape)
    yield "before the gate", w["pre_glu"], list(both.shape)
    yield "out", w["out"], list(torch.nn.functional.glu(both, -1).shape)


def _additive(w: dict[str, Any]) -> Iterator[Line]:
    H, scorer, recorder = torch.zeros(*w["H"]), Additive(w["d_h"], w["d_h"], w["d_a"]), Recorder()
    with torch.no_grad():
        scores = scorer(torch.zeros(w["B"], w["d_h"]), scorer.keys(H), recorder)
    yield "H", w["H"], list(H.shape)
    yield "joint", w["joint"], list(recorder.tape.records["joint"].value.shape)
    yield "scores", w["scores"], list(scores.shape)
    yield "context", w["context"], list((scores.softmax(-1)[:, None] @ H)[:, 0].shape)


def _terms(w: dict[str, Any]) -> Iterator[Line]:
    for case in w["cases"]:
        found = terms(case["n"], case["d"], 3, 1)
        for name in ("self_attention", "recurrent"):
            yield f"{name.replace('_', '-')}, n {case['n']}, d {case['d']}", case[name], found[name]


def _masks(w: dict[str, Any]) -> Iterator[Line]:
    for name, mask, sizes in (
        ("full_5", Visibility(), (5, 5)),
        ("causal_5", Visibility("causal"), (5, 5)),
        ("cross_T4_S3", Visibility(), (4, 3)),
        ("prefix_P3_T5", Visibility("prefix", 3), (5, 5)),
    ):
        yield name, w[name], mask.dense(*sizes).int().tolist()


def _trace(w: dict[str, Any]) -> Iterator[Line]:
    model = EncoderDecoder(EncoderDecoderConfig(layers=w["N"], d_model=w["d"], d_ff=w["d_ff"]), w["V_src"], w["V_tgt"])
    recorder, lengths = Recorder(), torch.full((w["B"],), w["T"])
    source, target = (torch.full((w["B"], w[n]), 5) for n in ("S", "T"))
    with torch.no_grad():
        out, _ = model(
            Inputs(Rows(target, lengths), Rows(source, torch.full_like(lengths, w["S"]))), model.initial_state(w["B"]), recorder
        )
    places = {
        **{
            "src_ids": "encoder.embedding.ids",
            "source_state": "encoder.embedding.sum",
            "memory": "encoder.memory",
            "logits": "logits",
        },
        **{"tgt_ids": "decoder.embedding.ids", "target_state": "decoder.embedding.sum", "decoder_hidden": "decoder.final"},
    }
    probabilities = out.values.softmax(-1)
    chosen = probabilities[torch.arange(w["B"]), decision_rows(lengths)].argmax(-1)
    for name, shape, *_ in w["stages"]:
        value: Tensor = {"probabilities": probabilities, "selected_next_ids": chosen}.get(name, out.values)
        yield name, shape, list((recorder.tape.records[places[name]].value if name in places else value).shape)


def _ids(rows: list[list[Any]]) -> list[list[int]]:
    return [[SPECIAL.get(token, token) for token in row] for row in rows]


def _unpadded(rows: list[list[Any]]) -> Rows:
    return pad([[token for token in row if token != PAD] for row in _ids(rows)])


def _shift(w: dict[str, Any]) -> Iterator[Line]:
    found = shift(_unpadded(w["full_target"]))
    yield "decoder input", _ids(w["decoder_input"]), found.inputs.values.tolist()
    yield "labels", _ids(w["labels"]), found.labels.tolist()
    yield "loss rows", w["loss_rows"], found.loss_rows.int().tolist()
    yield "rows that count", w["supervised_rows"], int(found.loss_rows.sum())


def _prefill(w: dict[str, Any]) -> Iterator[Line]:
    lengths = _unpadded(w["prompts"]).lengths
    yield "valid lengths", w["valid_lengths"], lengths.tolist()
    yield "rows that decide", w["decision_rows"], decision_rows(lengths).tolist()


def _decode(w: dict[str, Any]) -> Iterator[Line]:
    model = DecoderOnly(DecoderOnlyConfig(), 32)
    with torch.no_grad():
        _, state = model(Inputs(_unpadded(printed()["prefill_last_valid_row"]["prompts"])), model.initial_state(2), OFF)
        for selected, before in zip(_ids(w["selected"]), w["known_lengths_before"], strict=True):
            yield f"known before {selected}", before, state.lengths.tolist()
            _, state = model(Inputs(pad([[token] for token in selected])), state, OFF)


def _edges(w: dict[str, Any]) -> Iterator[Line]:
    for case in w["cases"]:
        yield f"{case['T']} rows, radius {case['r']}", case["edges"], reach.edges(reach.sliding(case["T"], case["r"]))


def _rope(w: dict[str, Any]) -> Iterator[Line]:
    rates = Plain(w["d_k"], base=w["base"]).rates(torch.ones(1))[0]
    yield "ω", w["omega"], rates.tolist()
    yield f"angles at row {w['t']}", w["angles"], (rates * w["t"]).tolist()
    yield "pairs for d_k 128", w["pairs_for_d_k_128"], Plain(128).rates(torch.ones(1)).shape[1]


def _ntk(w: dict[str, Any]) -> Iterator[Line]:
    scaled = NTK(w["d_k"], w["s"], base=w["base"]).scaled(torch.tensor(float(w["s"]), dtype=torch.float64))
    yield "base", w["base_scaled"], float(scaled)


WORKED: dict[str, Callable[[dict[str, Any]], Iterator[Line]]] = {
    **{"weighted_read_supplied_weights": _weighted, "dot_read": _dot, "qkv_read": _qkv, "gru_mix": _gru},
    **{"jacobian_scalar": _jacobian, "receptive_field": _receptive, "conv_shapes": _windows, "additive_shapes": _additive},
    **{"selected_terms": _terms, "masks": _masks, "encoder_decoder_trace": _trace, "teacher_forcing_shift": _shift},
    **{"prefill_last_valid_row": _prefill, "decode_known_lengths": _decode, "sliding_window_edges": _edges},
    **{"rope": _rope, "ntk_base": _ntk, "mlm_example": worked_words.mlm, "alignment_example": worked_words.alignment},
    **{"teacher_forced_predictions": worked_words.predictions},
}
PICTURES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "mlm_example": worked_words.mlm_picture,
    "teacher_forced_predictions": worked_words.predictions_picture,
    "alignment_example": worked_words.alignment_picture,
}
