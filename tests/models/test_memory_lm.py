"""LSTMN and key-value attention, worked by hand from recorded parts (no library has them); the 2003 window likewise."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from models import Inputs, Rows
from models.memory_lm import LSTMN, ROLES, KeyValue, KeyValueConfig, LSTMNConfig
from models.nplm import NPLM, Config
from models.parts.tap import Recorder
from models.parts.tape import Record
from models.parts.visibility import Cell, NoVisibleKey, Visibility
from models.tasks import PAD
from models.tasks.dyck import CLOSES, PAIRS, TASK, Dyck

WORDS = 16
TARGET = Rows(torch.tensor([[1, 6, 9, 5, 8], [1, 7, 3, 3, 3]]), torch.tensor([5, 2]))


def run(model: Any, **inputs: Any) -> tuple[Tensor, dict[str, Record]]:
    recorder = Recorder()
    out, _ = model.double()(Inputs(TARGET, **inputs), model.double().initial_state(2), recorder)
    return out.values.detach(), recorder.tape.finish().records


def test_lstmn_by_hand() -> None:
    """Cheng et al. 2016, eqs. 4-10: score the hidden tape, read both tapes, then the gates from (h~, x)."""
    torch.manual_seed(3)
    model = LSTMN(LSTMNConfig(width=5, d_token=4, alignment=6), WORDS).double()
    out, r = run(model)
    x = r["token"].value
    for b, length in enumerate(TARGET.lengths.tolist()):
        H, C, summary = list[Tensor](), list[Tensor](), torch.zeros(5, dtype=torch.float64)
        for t in range(length):
            h, c = torch.zeros(5).double(), torch.zeros(5).double()
            if t:
                keys = torch.stack(H)
                joint = torch.tanh(keys @ model.W_h.weight.T + model.W_x(x[b, t]) + model.W_s.weight @ summary)
                s = (joint @ model.v.weight[0]).softmax(0)
                assert_close(r["memory.weights"].value[b, 0, t, :t], s.detach(), atol=1e-12, rtol=0)
                h, c = s @ keys, s @ torch.stack(C)
            summary = h
            i, f, g, o = model.W(torch.cat((h, x[b, t]))).chunk(4)
            C.append(f.sigmoid() * c + i.sigmoid() * g.tanh())
            H.append(o.sigmoid() * C[-1].tanh())
            assert_close(out[b, t], model.head(H[-1]).detach(), atol=1e-12, rtol=0)


@pytest.mark.parametrize("roles", ROLES)
def test_key_value_by_hand(roles: str) -> None:
    """Daniluk et al. 2017, section 2: keys of the last L rows are scored, values are mixed, the prediction part joins."""
    torch.manual_seed(3)
    model = KeyValue(KeyValueConfig(roles=roles, width=4, d_token=4, window=2), WORDS).double()
    out, r = run(model)
    hidden = r["controller.layer0.hidden"].value
    for b, length in enumerate(TARGET.lengths.tolist()):
        parts = hidden[b].chunk(ROLES.index(roles) + 1, -1)
        k, v, p = parts[0], parts[min(1, len(parts) - 1)], parts[-1]
        for t in range(length):
            read = torch.zeros(4).double()
            if t:
                past = slice(max(0, t - 2), t)
                joint = torch.tanh(k[past] @ model.W_Y.weight.T + model.W_h.weight @ k[t])
                a = (joint @ model.w.weight[0]).softmax(0)
                assert_close(r["memory.weights"].value[b, 0, t, past], a.detach(), atol=1e-12, rtol=0)
                # One role: its output is key, value and prediction. Two: the value predicts too.
                read = a @ (v if len(parts) > 1 else k)[past]
            expected = model.head(torch.tanh(model.W_r.weight @ read + model.W_x.weight @ p[t]))
            assert_close(out[b, t], expected.detach(), atol=1e-12, rtol=0)


def test_a_row_that_is_not_written_yet_cannot_be_opened() -> None:
    """A mask may hide earlier rows; it cannot show a row its own future state, and then says so by name."""
    model = LSTMN(LSTMNConfig(width=5, d_token=4), WORDS)
    open_ = Visibility("past").with_cells([Cell(2, 4, True)])
    _, r = run(model, visibility={"memory": (open_,)})
    assert r["memory.weights"].value[0, 0, 2, 2:].tolist() == [0.0, 0.0, 0.0]
    with pytest.raises(NoVisibleKey, match="row 1 of request 0"):
        run(model, visibility={"memory": (Visibility("sliding", 0),)})


@pytest.mark.parametrize("direct", [False, True])
def test_nplm_by_hand(direct: bool) -> None:
    """Bengio et al. 2003: b + W x + U tanh(d + H x), x the newest tokens side by side, <pad> before the first."""
    torch.manual_seed(3)
    model = NPLM(Config(window=3, d_token=4, hidden=5, direct=direct), WORDS).double()
    out, _ = run(model)
    ids = [PAD, PAD, *TARGET.values[0].tolist()]
    for t in range(5):
        x = torch.cat([model.C.weight[i] for i in ids[t : t + 3]])
        expected = model.U.weight @ torch.tanh(model.H.weight @ x + model.H.bias) + model.U.bias
        expected = expected if model.W is None else expected + model.W.weight @ x
        assert_close(out[0, t], expected.detach(), atol=1e-12, rtol=0)


def test_brackets_close_in_order() -> None:
    for i in range(200):
        word = TASK.example(5, "train", i).target
        assert 2 <= len(word) <= 40 and len(word) % 2 == 0
        openers = TASK.openers(word)
        assert len(openers) == len(word) // 2
        assert all(word[o] == CLOSES[word[c]] and o < c for c, o in openers.items())
    assert {b for i in range(50) for b in TASK.example(5, "train", i).target} == set("".join(PAIRS))


def test_held_out_words_never_occur_in_training() -> None:
    short = Dyck(6)
    seen = {short.example(1, "train", i).target for i in range(500)}
    held = {short.example(1, "held_out", i).target for i in range(500)}
    assert seen and held and not seen & held
    assert TASK.example(1, "train", 3) == TASK.example(1, "train", 3)


def test_brackets_need_no_blanks() -> None:
    assert TASK.tokenize("([ ]){word}") == ["(", "[", "]", ")", "{", "word", "}"]
