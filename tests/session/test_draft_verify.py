"""A draft changes how many calls a text takes, never the text."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from app.session.analyses.draft_verify import drafters
from app.session.commands import Analyse, Open
from app.session.engine import Engine
from app.session.events import Analysis, Refused
from app.session.scenario import defaults

CPU = torch.device("cpu")


def asked(name: str, task: str, fields: dict[str, Any], **arguments: Any) -> dict[str, Any]:
    engine = Engine(CPU)
    list(engine.run(Open(scenario=defaults(name, task, **fields).model_dump(mode="json"))))
    said = [e for e in engine.run(Analyse(name="draft_verify", arguments=arguments)) if isinstance(e, Analysis)]
    assert said[-1].result is not None
    return said[-1].result


@pytest.mark.parametrize(
    "name, task, drafter, ahead",
    [
        ("encoder_decoder", "translation", "bahdanau", 4),
        ("encoder_decoder", "translation", "cho_2014", 8),
        ("decoder_only", "language_model", "recurrent", 3),
        ("decoder_only", "language_model", "nplm", 1),
    ],
)
def test_the_text_is_that_of_greedy_decoding(name: str, task: str, drafter: str, ahead: int) -> None:
    found = asked(name, task, {}, drafter=drafter, ahead=ahead)
    assert found["same"] and found["tokens"] == found["alone"]
    assert found["calls"] <= found["tokens"] <= found["calls"] + found["kept"]
    assert all(len(r["proposed"]) <= ahead and r["kept"] <= len(r["proposed"]) for r in found["rounds"])


def test_a_good_draft_saves_calls_and_a_bad_one_costs_none() -> None:
    good = asked("encoder_decoder", "translation", {}, drafter="bahdanau", ahead=4)
    assert good["calls"] < good["tokens"] / 2 and good["kept"] == good["proposed"]
    wild = asked("decoder_only", "language_model", {"weights": "random"}, drafter="nplm", ahead=4)
    assert wild["same"] and wild["calls"] <= wild["tokens"]


def test_a_drafter_of_another_task_is_refused_by_name() -> None:
    with pytest.raises(Refused, match=r"drafter was given 'lstmn'; allowed: .*bahdanau"):
        asked("encoder_decoder", "translation", {}, drafter="lstmn")
    assert "encoder_decoder" not in drafters(defaults("encoder_decoder"))
