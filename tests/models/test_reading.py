"""Bahdanau and Luong: scores against Keras, whole steps against the papers' equations worked by hand from recorded parts."""

from __future__ import annotations

import os
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from models import Inputs, Rows
from models.bahdanau import Bahdanau
from models.bahdanau import Config as BahdanauConfig
from models.luong import Config as LuongConfig
from models.luong import Luong
from models.parts.scores import LUONG_SCORES, Additive, ConcatRow, Dot, General, Location
from models.parts.tap import OFF, Editor, Recorder
from models.parts.tape import Record

WORDS, N = 23, 6
SOURCE = Rows(torch.tensor([[4, 8, 7, 12, 9], [5, 6, 6, 4, 4]]), torch.tensor([5, 2]))
TARGET = Rows(torch.tensor([[1, 6, 9, 5], [1, 7, 3, 3]]), torch.tensor([4, 2]))


def run(model: Any, tap: Any = None, source: Rows = SOURCE) -> tuple[Tensor, dict[str, Record]]:
    recorder = Recorder()
    out, _ = model(Inputs(TARGET, source), model.initial_state(2), tap or recorder)
    return out.values.detach(), recorder.tape.finish().records


def luong(**config: Any) -> Luong:
    torch.manual_seed(4)
    return Luong(LuongConfig(**{"width": N, "d_token": 5, **config}), WORDS, WORDS).double()


def bahdanau(**config: Any) -> Bahdanau:
    torch.manual_seed(4)
    return Bahdanau(BahdanauConfig(**{"width": N, "d_token": 5, "alignment": 7, **config}), WORDS, WORDS).double()


def keras_layers() -> Any:
    os.environ["KERAS_BACKEND"] = "torch"
    import keras

    return keras.layers


def test_additive_score_equals_keras() -> None:
    torch.manual_seed(1)
    ours, query, rows = Additive(N, N, N), torch.randn(2, N), torch.randn(2, 5, N)
    layer = keras_layers().AdditiveAttention(use_scale=True)
    layer.build([(2, 1, N), (2, 5, N), (2, 5, N)])
    layer.set_weights([ours.v.weight.detach()[0].numpy()])
    q, k = ours.W(query)[:, None], ours.keys(rows)
    theirs, weights = layer([q.detach(), rows, k.detach()], return_attention_scores=True)
    scores = ours(query, k, OFF)
    assert_close(scores.softmax(-1), torch.as_tensor(weights)[:, 0], atol=1e-6, rtol=0)
    assert_close(torch.einsum("bs,bsn->bn", scores.softmax(-1), rows), torch.as_tensor(theirs)[:, 0], atol=1e-6, rtol=0)


@pytest.mark.parametrize("name", ["dot", "general"])
def test_multiplicative_scores_equal_keras(name: str) -> None:
    torch.manual_seed(1)
    query, rows = torch.randn(2, N), torch.randn(2, 5, N)
    ours = Dot() if name == "dot" else General(N, N)
    keys = ours.keys(rows).detach()
    layer = keras_layers().Attention(score_mode="dot")
    _, weights = layer([query[:, None], rows, keys], return_attention_scores=True)
    assert_close(ours(query, keys, OFF).softmax(-1), torch.as_tensor(weights)[:, 0], atol=1e-6, rtol=0)


def test_concatenations_by_hand() -> None:
    """Luong eq. 8 in its two forms: one learned row over [q; h], and v tanh(W [q; h])."""
    torch.manual_seed(1)
    query, rows = torch.randn(2, N), torch.randn(2, 5, N)
    both = torch.cat((query[:, None].expand(-1, 5, -1), rows), -1)
    row, joint = ConcatRow(N, N), Additive(N, N, 4)
    one = torch.cat((row.W_query.weight, row.W_rows.weight), -1)
    assert_close(row(query, row.keys(rows), OFF), (both @ one.T)[..., 0], atol=1e-6, rtol=0)
    W = torch.cat((joint.W.weight, joint.U.weight), -1)
    assert_close(joint(query, joint.keys(rows), OFF), torch.tanh(both @ W.T) @ joint.v.weight[0], atol=1e-6, rtol=0)


def test_a_row_over_the_concatenation_cannot_tell_queries_apart() -> None:
    """What the query adds is the same for every key: after the softmax every target row reads alike."""
    _, records = run(luong(score="concat_row"))
    weights = records["decoder.cross.weights"].value[0, 0]
    assert_close(weights, weights[:1].expand_as(weights), atol=1e-12, rtol=0)


def test_location_compares_nothing() -> None:
    score, query = Location(N, 8), torch.randn(2, N)
    first, second = (score(query, torch.randn(2, 5, N), OFF) for _ in range(2))
    assert torch.equal(first, second) and first.shape == (2, 5)
    with pytest.raises(ValueError, match="at most 8"):
        score.keys(torch.zeros(1, 9, N))


@pytest.mark.parametrize("readout", ["new", "previous"])
def test_bahdanau_row_by_hand(readout: str) -> None:
    """Sections 3.1 and A.2: s_(t-1) scores, c_t, s_t (z near 1 writes), pieces from (s, y, c), maxout, logits."""
    model = bahdanau(readout=readout)
    out, r = run(model)
    H, y, s = (r[name].value for name in ("encoder.annotations", "decoder.token", "decoder.layer0.hidden"))
    initial: Tensor = r["encoder.initial"].value
    cell: Any = model.decoder.layers[0]
    score: Any = model.read.scorer
    for b, length in enumerate(SOURCE.lengths.tolist()):
        before = initial[b]
        for t in range(int(TARGET.lengths[b])):
            e = torch.tanh(score.W.weight @ before + H[b, :length] @ score.U.weight.T) @ score.v.weight[0]
            a = e.softmax(0)
            assert_close(r["decoder.cross.weights"].value[b, 0, t, :length], a.detach(), atol=1e-12, rtol=0)
            c = a @ H[b, :length]
            given = cell.W.weight @ torch.cat((y[b, t], c)) + cell.W.bias
            reset, z, new = given.chunk(3)
            ur, uz = (cell.U.weight @ before).chunk(2)
            reset, z = torch.sigmoid(reset + ur), torch.sigmoid(z + uz)
            state = (1 - z) * before + z * torch.tanh(new + cell.U_candidate.weight @ (reset * before))
            assert_close(s[b, t], state.detach(), atol=1e-12, rtol=0)
            asked = state if readout == "new" else before
            pieces = model.deep.weight @ torch.cat((asked, y[b, t], c)) + model.deep.bias
            best = pieces.view(-1, 2).amax(-1)
            assert_close(out[b, t], (model.head.weight @ best + model.head.bias).detach(), atol=1e-12, rtol=0)
            before = state


@pytest.mark.parametrize("score", LUONG_SCORES)
@pytest.mark.parametrize("feeding", [False, True])
def test_luong_global_row_by_hand(score: str, feeding: bool) -> None:
    """Luong, sections 3.1 and 3.3: h_t scores, c_t, h~_t = tanh(W [c_t; h_t]); fed, the step gets [y_(t-1); h~_(t-1)]."""
    model = luong(score=score, input_feeding=feeding)
    out, r = run(model)
    H, h, attended = (r[n].value for n in ("encoder.annotations", "decoder.layer0.hidden", "decoder.readout.attended"))
    for b, length in enumerate(SOURCE.lengths.tolist()):
        for t in range(int(TARGET.lengths[b])):
            keys = model.read.scorer.keys(H[b : b + 1, :length])
            a = model.read.scorer(h[b, t][None], keys, OFF)[0].softmax(-1)
            c = a @ H[b, :length]
            expected = torch.tanh(model.W_c.weight @ torch.cat((c, h[b, t])))
            assert_close(attended[b, t], expected.detach(), atol=1e-12, rtol=0)
            assert_close(out[b, t], (model.head.weight @ expected + model.head.bias).detach(), atol=1e-12, rtol=0)
    if feeding:
        fed = r["decoder.fed"].value
        assert (fed[:, 0] == 0).all()
        assert_close(fed[0, 1:], attended[0, :-1], atol=0, rtol=0)
    else:
        assert "decoder.fed" not in r


@pytest.mark.parametrize("renormalise", [False, True])
def test_local_p_by_hand(renormalise: bool) -> None:
    """Eqs. 9-10 of section 3.2: p = S sigmoid(v tanh(W h)), window [p - D, p + D], envelope of sigma D/2."""
    model, D = luong(alignment="local_p", D=1, renormalise=renormalise), 1
    _, r = run(model)
    H, h, record = (r[n] for n in ("encoder.annotations", "decoder.layer0.hidden", "decoder.cross.weights"))
    read = model.read
    assert record.type == ("weights" if renormalise else "coefficients")
    for b, length in enumerate(SOURCE.lengths.tolist()):
        for t in range(int(TARGET.lengths[b])):
            query = h.value[b, t]
            p = length * torch.sigmoid(read.v_p.weight[0] @ torch.tanh(read.W_p.weight @ query))
            inside = [s for s in range(length) if abs(s - p.item()) <= D]
            scores = read.scorer(query[None], read.scorer.keys(H.value[b : b + 1, inside]), OFF)[0]
            a = scores.softmax(-1) * torch.exp(-((torch.tensor(inside) - p) ** 2) / (2 * (D / 2) ** 2))
            expected = torch.zeros(5, dtype=torch.float64)
            expected[inside] = (a / a.sum() if renormalise else a).detach()
            assert_close(record.value[b, 0, t], expected, atol=1e-12, rtol=0)


def test_local_m_reads_around_its_own_row_and_stays_in_the_sentence() -> None:
    _, r = run(luong(alignment="local_m", D=1))
    weights = r["decoder.cross.weights"].value
    seen = [[s for s in range(5) if weights[0, 0, t, s] > 0] for t in range(4)]
    assert seen == [[0, 1], [0, 1, 2], [1, 2, 3], [2, 3, 4]]
    assert_close(weights[1, 0, :2].sum(-1), torch.ones(2).double(), atol=1e-12, rtol=0)
    short = run(luong(alignment="local_m", D=1), source=Rows(SOURCE.values[:, :1], torch.tensor([1, 1])))[1]
    assert_close(short["decoder.cross.weights"].value[0, 0, :, 0], torch.ones(4).double(), atol=0, rtol=0)  # rows past the source


def test_a_window_wider_than_the_sentence_is_global_attention() -> None:
    wide, whole = luong(alignment="local_m", D=20), luong()
    wide.load_state_dict(whole.state_dict())
    assert_close(run(wide)[0], run(whole)[0], atol=1e-12, rtol=0)


def test_which_state_asks() -> None:
    """An edit of s_t or h_t at one row changes this row's read under Luong, the next row's under Bahdanau."""
    for model, first in ((luong(input_feeding=False), 2), (bahdanau(), 3)):

        def nudge(value: Tensor, axes: tuple[str, ...], step: tuple[str, int] | None) -> Tensor:
            return value + 1.0 if step == ("t", 2) else value

        plain, edited = (Recorder(), Recorder())
        run(model, plain)
        run(model, Editor({"decoder.layer0.hidden": nudge}, edited))
        before, after = (x.tape.finish().records["decoder.cross.weights"].value[0, 0] for x in (plain, edited))
        assert next(t for t in range(4) if not torch.equal(before[t], after[t])) == first
