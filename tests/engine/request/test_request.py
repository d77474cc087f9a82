"""Which requests can be made, and how deltas are joined."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.engine import Completion, Delta, FinishReason, Request
from maskwright.errors import InputError
from maskwright.sampling import SamplingParams
from tests.ids import named
from tests.server.scripted import score

GRAMMAR: Any = object()
SCORED = SamplingParams(logprobs=0)


def request(**fields: Any) -> Request:
    return Request(**{"prompt": [1], "params": SamplingParams(), "max_tokens": 1, **fields})


ACCEPTED: list[dict[str, Any]] = [
    {},
    {"stop": ("a", "b")},
    {"grammar": GRAMMAR},
    {"eos": ()},
    {"eos": (1, 2)},
    {"timeout": 0.01},
    {"trace": True, "params": SCORED},
]


@pytest.mark.parametrize("fields", ACCEPTED, ids=named)
def test_requests(fields: dict[str, Any]) -> None:
    made = request(**fields)
    assert {name: getattr(made, name) for name in fields} == fields


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"prompt": []}, "prompt"),
    ({"max_tokens": 0}, "max_tokens"),
    ({"max_tokens": -1}, "max_tokens"),
    ({"stop": ("a", "")}, "stop"),
    ({"grammar": GRAMMAR, "eos": (1,)}, "eos"),
    ({"grammar": GRAMMAR, "eos": ()}, "eos"),
    ({"trace": True}, "trace"),
    ({"timeout": 0}, "timeout"),
    ({"timeout": -1.0}, "timeout"),
    ({"timeout": float("nan")}, "timeout"),
]


@pytest.mark.parametrize(("fields", "param"), REFUSED, ids=named)
def test_refusals(fields: dict[str, Any], param: str) -> None:
    with pytest.raises(InputError) as raised:
        request(**fields)
    assert raised.value.param == param


def test_deltas_are_joined_in_their_order() -> None:
    error = RuntimeError("a defect")
    first = Delta("a", (1, 2), scores=(score(1), score(2)))
    last = Delta("b", (3,), FinishReason.ERROR, error, (score(3),))
    scores = (score(1), score(2), score(3))
    joined = Delta("ab", (1, 2, 3), FinishReason.ERROR, error, scores)
    assert Delta.join([first, last]) == joined
    assert Delta.join([first, Delta("", ()), last]) == joined
    assert Delta.join([first]) == first
    assert Delta.join([first, Delta("", (), FinishReason.STOP_STRING, stop="x")]).stop == "x"


def test_tokens_of_a_completion_are_those_that_were_sampled() -> None:
    assert Completion("ab", (1, 2, 9), FinishReason.STOP, 7).completion_tokens == 3
