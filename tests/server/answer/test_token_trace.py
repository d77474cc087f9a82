"""How each token of an answer was chosen, as it is traced for a replay."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from maskwright.engine import Request
from maskwright.kernels.sample_inputs import ORDER
from maskwright.sampling import SamplingParams
from maskwright.sampling.scores import CANONICAL, Place
from maskwright.server.answer.choices import TokenTrace
from maskwright.server.answer.logprobs import LEAST
from maskwright.vocab import Vocabulary
from tests.server.scripted import VOCABULARY, score

VOCAB = Vocabulary(VOCABULARY, eos=256)
PARAMS = SamplingParams(temperature=0.5, top_k=3, seed=7, logprobs=0)


def trace(seed: int = 7, **fields: Any) -> TokenTrace:
    asked = {"prompt": [1, 2, 3], "params": PARAMS, "max_tokens": 9, "trace": True, **fields}
    return TokenTrace(Request(**asked), seed, VOCAB)


@pytest.mark.parametrize(
    ("seed", "signed"),
    [
        (0, 0),
        (7, 7),
        (2**63 - 1, 2**63 - 1),
        (2**63, -(2**63)),
        (2**64 - 1, -1),
    ],
)
def test_the_seed_is_signed(seed: int, signed: int) -> None:
    body: Any = trace(seed).body()
    assert body["seed"] == signed
    assert body["seed"] % 2**64 == seed, "as the field of that name reads it"


def test_what_was_asked_for() -> None:
    body: Any = trace(stop=("END",)).body()
    assert body["prompt_token_ids"] == [1, 2, 3]
    assert (body["max_tokens"], body["stop"], body["tokens"]) == (9, ["END"], [])
    assert body["processors"] == list(ORDER)
    assert (body["params"]["temperature"], body["params"]["top_k"]) == (0.5, 3)
    assert not {"seed", "logprobs", "scale", "plain"} & set(body["params"])


def test_positions_go_on_from_the_prompt_over_several_deltas() -> None:
    traced = trace()
    traced.take([score(65), score(66)])
    traced.take([])
    traced.take([score(67)])
    steps: Any = traced.body()
    found = [(step["position"], step["token"], step["bytes"]) for step in steps["tokens"]]
    assert found == [(3, 65, [65]), (4, 66, [66]), (5, 67, [67])]


INFINITE = float("-inf")
PLACES: list[tuple[Place | None, tuple[Any, Any, bool]]] = [
    (None, (None, None, False)),
    (Place(3, (1, 2)), (3, [1, 2], False)),
    (Place(None, None), (None, None, False)),
    (CANONICAL, (None, None, True)),
]


@pytest.mark.parametrize(("place", "expected"), PLACES)
def test_where_the_mask_comes_from(place: Place | None, expected: tuple[Any, Any, bool]) -> None:
    traced = trace()
    traced.take([replace(score(65), place=place)])
    body: Any = traced.body()
    (step,) = body["tokens"]
    assert (step["row"], step["state"], step["canonical"]) == expected


def test_log_probabilities_are_numbers_that_json_has() -> None:
    traced = trace()
    traced.take([replace(score(65), raw=INFINITE, masked=INFINITE, processed=INFINITE)])
    body: Any = json.loads(json.dumps(traced.body(), allow_nan=False))
    (step,) = body["tokens"]
    assert (step["raw"], step["masked"], step["processed"]) == (LEAST, LEAST, LEAST)
