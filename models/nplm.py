"""The neural probabilistic language model: a fixed window of earlier tokens, one shared table (source text 000, section 0x00B).

    x = [C(w_(t-k+1)) ... C(w_t)]        logits = b + W x + U tanh(d + H x)

Bengio et al. 2003, "A Neural Probabilistic Language Model", JMLR 3, section 2 (n - 1 there is k here). Every row reads the same
number of tokens by their place in the window; what is older does not exist for it. Places before the first token hold <pad>.

Axes: b request, t target row, k place in the window (the last is the newest), d token vector, n hidden units, v vocabulary entry.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from models import Capabilities, Inputs, Outputs, Spec
from models.parts.formulas import Formula, p
from models.parts.settings import setting
from models.parts.tap import Tap
from models.tasks import PAD


@dataclass(frozen=True)
class Config:
    """A window of five tokens; `direct` are the connections W that skip the hidden layer, optional in the paper."""

    window: int = setting(5, "Window k", "how many of the newest tokens are read", low=1, high=32)
    d_token: int = setting(32, "Token width d", "of a row of the shared table C", low=4, high=128)
    hidden: int = setting(64, "Hidden units n", "of the one tanh layer", low=4, high=256)
    direct: bool = setting(True, "Direct connections", "W x beside the hidden layer")


@dataclass(frozen=True)
class WindowState:
    """Rows known `[b]` and the newest k - 1 ids `[b, k - 1]`: never more."""

    lengths: Tensor
    ids: Tensor

    def kept(self) -> dict[str, tuple[Tensor, str, bool]]:
        return {"window.ids": (self.ids, "b k", False)}


class NPLM(nn.Module):
    """One table, one hidden layer, a softmax over the vocabulary."""

    def __init__(self, config: Config, vocabulary: int) -> None:
        super().__init__()
        self.config, size = config, config.window * config.d_token
        self.C = nn.Embedding(vocabulary, config.d_token)
        self.H, self.U = nn.Linear(size, config.hidden), nn.Linear(config.hidden, vocabulary)
        self.W = nn.Linear(size, vocabulary, bias=False) if config.direct else None

    def initial_state(self, batch: int) -> WindowState:
        device = self.C.weight.device
        lengths = torch.zeros(batch, dtype=torch.int64, device=device)
        return WindowState(lengths, torch.full((batch, self.config.window - 1), PAD, device=device))

    def forward(self, inputs: Inputs, state: WindowState, tap: Tap) -> tuple[Outputs, WindowState]:
        target, k = inputs.target, self.config.window
        ids = torch.cat((state.ids, tap("ids", target.values, "b t", "ids")), 1)  # b (k-1)+t
        windows = tap("window.token", self.C(ids.unfold(1, k, 1)), "b t k d")
        x = windows.flatten(2)
        hidden = tap("hidden", torch.tanh(self.H(x)), "b t n")
        logits = self.U(hidden) if self.W is None else self.U(hidden) + self.W(x)
        newest = target.lengths[:, None] + torch.arange(k - 1, device=ids.device)  # a padded row is not remembered
        kept = WindowState(state.lengths + target.lengths, ids.gather(1, newest))
        return Outputs("next_token", tap("logits", logits, "b t v", "logits")), kept


def _formulas(config: Config) -> tuple[Formula, ...]:
    x, direct = "x_t", rf"x_t {p('W')}^{{\top}} + " if config.direct else ""
    return (
        Formula(
            "window.token", rf"{x} = [{p('C')}[id_{{t-{config.window - 1}}}]; \ldots; {p('C')}[id_t]]", "the window, side by side"
        ),
        Formula("hidden", rf"n_t = \tanh({x} {p('H')}^{{\top}} + {p('d')})", "one hidden layer over the whole window"),
        Formula("logits", rf"\ell_t = {direct}n_t {p('U')}^{{\top}} + {p('b')}", "one score for each word that may come next"),
    )


def _build(config: Config, source: int | None, target: int) -> nn.Module:
    return NPLM(config, target)


SPEC = Spec(
    id="nplm",
    name="Neural language model, 2003",
    family="Recurrent",
    summary="A fixed window of tokens goes through one hidden layer; nothing older exists.",
    inventory=("A25",),
    paper="Bengio et al. 2003, A Neural Probabilistic Language Model, JMLR 3",
    config=Config,
    build=_build,
    relations=(),
    phases=("train", "prefill", "decode"),
    tasks=("language_model", "characters"),
    layers=lambda config: 1,
    capabilities=Capabilities(largest_rows=512),
    formulas=_formulas,
)
