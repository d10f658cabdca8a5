"""Show, Attend and Tell: each word of a caption reads the places of a picture (source text 000, section 0x0C.7).

    a = CNN(picture)                                  one annotation for each place
    e_ti = v tanh(W h_(t-1) + U a_i)    alpha_t = softmax(e_t)                         eqs. 4, 5
    soft   z_t = beta_t sum_i alpha_ti a_i            beta_t = sigmoid(f h_(t-1))      eq. 13, section 4.2.1
    hard   s_t ~ alpha_t    z_t = beta_t sum_i s_ti a_i        s_t is one place        eqs. 8, 9
    h_t, c_t = LSTM([E y_(t-1); z_t])                                                  eqs. 1-3
    p(y_t) ~ exp(L_o (E y_(t-1) + L_h h_t + L_z z_t))                                  eq. 7
    h_0 = tanh(f_h mean a)    c_0 = tanh(f_c mean a)

Xu et al. 2015, arXiv 1502.03044. Soft attention learns by ordinary gradients. Hard attention climbs a lower bound of the marginal
likelihood, sum_s p(s | a) log p(y | s, a) (eq. 10): what leads to a draw has no gradient of its own, so it learns by REINFORCE
(eqs. 11, 12, `models/tasks/objective.py`), with a baseline that follows the reward and a term for entropy.
The paper's CNN is a trained VGG; ours is small and learns with the rest. Its annotations are normalised (Ba et al. 2016).

Axes: b request, y x line and column of the picture, s place, h the one head, t caption word, d token vector, n state, c channels
of an annotation, a alignment width, v vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models import Capabilities, Drawn, Inputs, Outputs, Relation, Rows, Spec
from models.parts import cells, scores
from models.parts.attention import Readable, read_masks
from models.parts.cells import CellKind, Recurrence, States, held, kept_states
from models.parts.formulas import Formula, p, v
from models.parts.reading import WEIGHTS, Memory, step_softmax
from models.parts.scores import Additive
from models.parts.settings import setting
from models.parts.tap import Tap
from models.parts.visibility import Visibility

PLACE = 4  # pixels of a place's side: two poolings
CROSS = Relation("cross", "words read places", "t", "s", Visibility("full"), "decoder.cross")
HARD = {"attention": "hard"}
Drawing = tuple[Tensor | None, Tensor | None]  # of one row: the chance by which a place is drawn, and one that is set


@dataclass(frozen=True)
class Config:
    """In a size that learns two digits in a few minutes."""

    attention: str = setting("soft", "Attention", "a mean of all places, or one place that is drawn", choices=("soft", "hard"))
    gate: bool = setting(True, "Gate beta", "how much of what was read enters (section 4.2.1)")
    width: int = setting(96, "State width n", "of the LSTM", low=4, high=160)
    channels: int = setting(48, "Annotation width c", "what the picture keeps of each place", low=8, high=96)
    d_token: int = setting(24, "Token width d", "length of a token’s vector", low=4, high=64)
    alignment: int = setting(48, "Alignment width a", "of the hidden layer that scores", low=4, high=96)
    doubly: float = setting(0.0, "Doubly stochastic λ", "asks that each place be read once in all (eq. 14)", low=0.0, high=10.0)
    entropy: float = setting(0.02, "Entropy λ_e", "keeps the draw from settling too early", low=0.0, high=1.0, when=HARD)
    reward: float = setting(0.3, "Reward λ_r", "weight of the REINFORCE term", low=0.0, high=10.0, when=HARD)


@dataclass(frozen=True)
class State:
    """Words known `[b]`, the LSTM's states, and the picture, encoded once."""

    lengths: Tensor
    layers: tuple[States, ...]
    names: tuple[str, ...]
    memory: Memory | None

    def kept(self) -> dict[str, tuple[Tensor, str, bool]]:
        kept = kept_states("decoder", self.names, self.layers)
        if self.memory is not None:
            kept["encoder.annotations"] = (self.memory.rows, "b s c", False)
            kept["encoder.keys"] = (self.memory.keys, "b s a", False)
        return kept


class See(nn.Module):
    """Three convolutions, two poolings: each place of 4 x 4 pixels becomes an annotation that saw its surroundings."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        half = max(8, channels // 2)
        self.first, self.second = nn.Conv2d(1, half, 3, padding=1), nn.Conv2d(half, channels, 3, padding=1)
        self.third, self.norm = nn.Conv2d(channels, channels, 3, padding=1), nn.LayerNorm(channels)
        for layer in (self.first, self.second, self.third):  # paper begins as nothing, so that ink is all that is read at first
            nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
            nn.init.zeros_(layer.bias)  # type: ignore[arg-type]

    def forward(self, picture: Tensor, valid: Tensor, tap: Tap) -> tuple[Tensor, Tensor]:
        """Picture `[b, y, x]`, valid lines `[b, y]` -> annotations `[b, s, c]`, real places `[b, s]`."""
        y, x = picture.shape[1:]
        picture = F.pad(picture * valid[:, :, None], (0, -x % PLACE, 0, -y % PLACE))[:, None]  # b 1 y x: whole places
        valid = F.pad(valid, (0, -y % PLACE))
        seen = F.max_pool2d(_within(self.first(picture), valid), 2)
        valid = valid[:, ::2]  # a line of places is real where its first line of pixels is
        seen = F.max_pool2d(_within(self.second(seen), valid), 2)
        valid = valid[:, ::2]
        rows = self.third(seen).flatten(2).transpose(1, 2)  # b s c
        return tap("annotations", self.norm(rows), "b s c"), valid.repeat_interleave(seen.shape[3], 1)


def _within(seen: Tensor, valid: Tensor) -> Tensor:
    """Below the last line there is paper, as around the picture: a padded line gives its neighbours nothing."""
    return F.relu(seen) * valid[:, None, :, None]


class ShowAttendTell(nn.Module):
    """A picture's pixels and words `[b, t]` to logits `[b, t, v]`."""

    def __init__(self, config: Config, vocabulary: int) -> None:
        super().__init__()
        self.config, n, c, d = config, config.width, config.channels, config.d_token
        self.see = See(c)
        self.f_h, self.f_c = nn.Linear(c, n), nn.Linear(c, n)
        self.token = nn.Embedding(vocabulary, d)
        self.score = Additive(n, c, config.alignment)
        self.f_beta = nn.Linear(n, 1) if config.gate else None
        self.decoder = Recurrence(CellKind("lstm"), d + c, n, 1, "t")
        self.L_h, self.L_z = nn.Linear(n, d), nn.Linear(c, d, bias=False)
        self.L_o = nn.Linear(d, vocabulary)
        # Follows the reward from update to update; no gradient reaches it (`objective.settle`).
        self.baseline = nn.Parameter(torch.zeros(()), requires_grad=False) if config.attention == "hard" else None

    def initial_state(self, batch: int) -> State:
        like = self.token.weight
        lengths = torch.zeros(batch, dtype=torch.int64, device=like.device)
        return State(lengths, self.decoder.initial(batch, like), self.decoder.names, None)

    def encode(self, source: Rows, state: State, tap: Tap) -> State:
        picture = tap("pixels", source.values, "b y x")
        rows, valid = self.see(picture.to(self.token.weight.dtype), source.valid, tap)
        real = valid[:, :, None]
        mean = tap("mean", (rows * real).sum(1) / real.sum(1).clamp(min=1), "b c")
        start = (
            tap("hidden", torch.tanh(self.f_h(mean)), "b n", "state"),
            tap("cell", torch.tanh(self.f_c(mean)), "b n", "state"),
        )
        return replace(state, layers=(start,), memory=Memory(rows, self.score.keys(rows), valid))

    def forward(self, inputs: Inputs, state: State, tap: Tap) -> tuple[Outputs, State]:
        if inputs.source is not None:
            state = self.encode(inputs.source, state, tap / "encoder")
        if state.memory is None:
            raise ValueError("source: no picture given and none encoded before; the first call needs one")
        target, here, memory = inputs.target, tap / "decoder", state.memory
        y = here("token", self.token(here("ids", target.values, "b t", "ids")), "b t d")
        rows = state.lengths[:, None] + torch.arange(y.shape[1], device=y.device)
        mask = read_masks(inputs, CROSS, 1, rows, target.valid, memory.valid, y.dtype)[0]
        memory = self._kept(memory, mask.mask, here / "cross")
        layers, told, drawn = state.layers, [], []
        for t in range(y.shape[1]):
            chance, place = (None if x is None else x[:, t] for x in (inputs.chances, inputs.places))
            word, new, weights, location = self._word(y[:, t], layers, memory, mask.at(t), (chance, place), here.at("t", t))
            layers = tuple(held(target.valid[:, t], n, o) for n, o in zip(new, layers, strict=True))
            told.append(word)
            drawn.append((weights, location))
        rows_told = torch.stack(told, 1) if told else y
        logits = tap("logits", self.L_o(rows_told), "b t v", "logits")
        penalties, draws = self._learned(drawn, target, memory.valid)
        outputs = Outputs("next_token", logits, penalties, drawn=draws)
        return outputs, replace(state, lengths=state.lengths + target.lengths, layers=layers)

    def _kept(self, memory: Memory, mask: Tensor, tap: Tap) -> Memory:
        tap("mask", mask, "b t s", "mask")
        keys = tap("keys", memory.keys, "b s a", "state")
        return replace(memory, rows=tap("annotations", memory.rows, "b s c", "state"), keys=keys)

    def _word(
        self, y: Tensor, layers: tuple[States, ...], memory: Memory, mask: Readable, drawn: Drawing, tap: Tap
    ) -> tuple[Tensor, tuple[States, ...], Tensor, Tensor | None]:
        """One caption row: what the head reads `[b, d]`, the new states, the weights `[b, s]`, and the place drawn `[b, s]`."""
        cross, before = tap / "cross", layers[0][0]
        found = cross("scores", self.score(before, memory.keys, cross)[:, None], "b h s", "scores")
        weights = cross("weights", step_softmax(mask, found), "b h s", "weights")
        location = None
        if self.config.attention == "hard":
            location = cross("location", draw(weights, *drawn), "b h s", "decision")
        read = cross("context", ((weights if location is None else location) @ memory.rows)[:, 0], "b c")
        if self.f_beta is not None:
            read = cross("gated", cross("gate", self.f_beta(before).sigmoid(), "b one", "coefficients") * read, "b c")
        hidden, layers = self.decoder.step(torch.cat((y, read), -1), layers, tap)
        word = tap("deep", y + self.L_h(hidden) + self.L_z(read), "b d")
        return word, layers, weights[:, 0], None if location is None else location[:, 0]

    def _learned(
        self, drawn: list[tuple[Tensor, Tensor | None]], target: Rows, places: Tensor
    ) -> tuple[dict[str, Tensor], Drawn | None]:
        """What training adds to the loss, for a whole caption: the doubly stochastic term, and what REINFORCE needs."""
        if not drawn:
            return {}, None
        weights, real = torch.stack([w for w, _ in drawn], 1), target.valid  # b t s
        count = real.sum().clamp(min=1)
        penalties: dict[str, Tensor] = {}
        if self.config.doubly:
            missed = (1 - (weights * real[..., None]).sum(1)) ** 2 * places  # b s: eq. 14
            penalties["doubly_stochastic"] = self.config.doubly * missed.sum() / count
        if self.baseline is None:
            return penalties, None
        location = torch.stack([s for _, s in drawn if s is not None], 1)
        log_p = torch.where(real, (weights * location).sum(-1).clamp(min=1e-30).log(), 0.0)
        bits = -(weights * weights.clamp(min=1e-30).log()).sum(-1)
        penalties["entropy"] = -self.config.entropy * torch.where(real, bits, 0.0).sum() / count
        return penalties, Drawn(log_p, self.baseline, self.config.reward)


def draw(weights: Tensor, chance: Tensor | None, place: Tensor | None = None) -> Tensor:
    """One place by its weight, as ones and zeros: weights `[b, 1, s]`, chance `[b]` in [0, 1), or None for the most probable.

    The place where the running sum of the weights passes the chance: each is taken as often as its weight says, and one with
    weight 0 never. place `[b]`: taken instead, where it is not -1.
    """
    if chance is None:
        at = weights[:, 0].argmax(-1)
    else:
        total = weights[:, 0].detach().cumsum(-1)
        at = (total <= chance[:, None].to(total) * total[:, -1:]).sum(-1).clamp(max=weights.shape[-1] - 1)
    at = at if place is None else torch.where(place < 0, at, place)
    return F.one_hot(at, weights.shape[-1]).to(weights.dtype)[:, None]


def _formulas(config: Config) -> tuple[Formula, ...]:
    return (
        *_picture_formulas(),
        Formula("decoder.token", rf"y_t = {p('E')}[id_t]", "the word’s learned vector"),
        *scores.formulas("decoder.cross", "additive", "h_{t-1}"),
        Formula(
            "decoder.cross.mask",
            r"M_{ti} = 0 \text{ if word } t \text{ may read place } i \text{, else } -\infty",
            "what may be read",
        ),
        *_read_formulas(config),
        *cells.formulas("decoder.layer*", CellKind("lstm"), "t", "[y_t; z_t]"),
        Formula(
            "decoder.deep", rf"u_t = y_t + h_t {p('L_h')}^{{\top}} + z_t {p('L_z')}^{{\top}}", "word, state and picture together"
        ),
        Formula("logits", rf"\ell_t = u_t {p('L_o')}^{{\top}} + b", "one score for each word that may come next"),
    )


def _picture_formulas() -> tuple[Formula, ...]:
    return (
        Formula("encoder.pixels", r"0 \text{ paper}, 1 \text{ ink}", "the picture"),
        Formula(
            "encoder.annotations",
            r"a = \operatorname{LayerNorm}(\operatorname{CNN}(\text{picture}))",
            "what is kept of each place",
        ),
        Formula("encoder.mean", r"\bar a = \frac{1}{L} \sum_i a_i", "the picture as a whole"),
        Formula("encoder.hidden", rf"h_0 = \tanh(\bar a {p('f_h')}^{{\top}} + b)", "where the LSTM begins"),
        Formula("encoder.cell", rf"c_0 = \tanh(\bar a {p('f_c')}^{{\top}} + b)", "where the LSTM’s cell begins"),
    )


def _read_formulas(config: Config) -> tuple[Formula, ...]:
    """Soft attention takes a mean of all places, hard attention one that it draws."""
    hard = config.attention == "hard"
    share, latex = ("s", r"s_t \sim \operatorname{Categorical}(A_t)") if hard else (v("A"), "")
    drawn = (
        (Formula("decoder.cross.location", latex, "the place that was drawn, a decision: it has no gradient"),) if hard else ()
    )
    z = r"\beta_t c_t" if config.gate else "c_t"
    gate = (
        Formula(
            "decoder.cross.gate", rf"\beta_t = \sigma(h_{{t-1}} {p('f')}^{{\top}} + b)", "how much of the picture this word takes"
        ),
        Formula("decoder.cross.gated", rf"z_t = {z}", "what enters the LSTM"),
    )
    return (
        Formula("decoder.cross.weights", WEIGHTS, "chance of each place" if hard else "share of each place"),
        *drawn,
        Formula(
            "decoder.cross.context",
            rf"c_t = \sum_i {share}_{{ti}} a_i",
            "the place drawn" if hard else "the picture as this word reads it",
        ),
        *(gate if config.gate else ()),
    )


def _build(config: Any, source: Any, target: int) -> nn.Module:
    return ShowAttendTell(config, target)


SPEC = Spec(
    id="show_attend_tell",
    name="Show, Attend and Tell",
    family="Speech and vision",
    summary="Each word of a caption reads the places of a picture: a mean of all, or one that is drawn.",
    inventory=("A20",),
    paper="Xu et al. 2015, Show, Attend and Tell: Neural Image Caption Generation with Visual Attention, arXiv 1502.03044",
    config=Config,
    build=_build,
    relations=(CROSS,),
    phases=("train", "prefill", "decode"),
    tasks=("captions",),
    layers=lambda config: 1,
    capabilities=Capabilities(has_source=True, largest_rows=33, draws=True),
    formulas=_formulas,
    source_shape=lambda config, rows, width: (-(-rows // PLACE), -(-width // PLACE)),
)
