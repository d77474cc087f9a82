"""What SamplingParams accepts and refuses."""

import math
from dataclasses import fields

import pytest

from maskwright.errors import InputError
from maskwright.sampling import SamplingParams, TextBan

REFUSED = [
    ("temperature", -0.1),
    ("temperature", math.nan),
    ("temperature", math.inf),
    ("temperature", "1"),
    ("temperature", True),
    ("top_k", -1),
    ("top_k", 1.5),
    ("top_p", 1.01),
    ("top_p", -0.1),
    ("min_p", 2),
    ("repetition_penalty", 0),
    ("presence_penalty", 2.1),
    ("frequency_penalty", -2.1),
    ("no_repeat_ngram", -1),
    ("seed", 2**64),
    ("seed", 1.0),
    ("logit_bias", {3: 101}),
    ("logit_bias", {3: math.nan}),
    ("logit_bias", {-1: 1}),
    ("bad_words", ((),)),
    ("bad_words", ((1, -2),)),
]


@pytest.mark.parametrize(("name", "value"), REFUSED)
def test_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(InputError, match=name) as caught:
        SamplingParams(**{name: value})
    assert caught.value.param == name


ACCEPTED = [
    {},
    {"temperature": 0},
    {"seed": -(2**63)},
    {"seed": 2**64 - 1},
    {"top_p": 0.0},
    {"logit_bias": {5: -100.0}, "bad_words": ((1, 2), (3,))},
]


@pytest.mark.parametrize("values", ACCEPTED)
def test_accepted(values: dict) -> None:
    assert SamplingParams(**values).tokens() <= {1, 2, 3, 5}


MORE = [
    {"repetition_penalty": 1.1},
    {"presence_penalty": 0.1},
    {"frequency_penalty": -0.1},
    {"logit_bias": {5: 1.0}},
    {"bad_words": ((1, 2),)},
    {"no_repeat_ngram": 3},
    {"banned": TextBan([b"a"], (b"a", b"b"))},
    {"allowed_tokens": (1,)},
    {"min_tokens": 1},
    {"ignore_eos": True},
    {"logprobs": 0},
]
"""Each alone asks for changes of logits or for scores."""


@pytest.mark.parametrize("values", MORE, ids=[next(iter(values)) for values in MORE])
def test_what_asks_for_the_chain_or_scores_is_not_plain(values: dict) -> None:
    assert not SamplingParams(**values).plain
    assert not SamplingParams(temperature=0, **values).plain


def test_a_temperature_and_truncations_are_plain() -> None:
    assert SamplingParams().plain
    assert SamplingParams(temperature=0, seed=5, scale="masked").plain
    assert SamplingParams(top_k=3, top_p=0.9, min_p=0.1).plain
    named = {field.name for field in fields(SamplingParams) if field.init}
    others = {name for values in MORE for name in values}
    plain = {"temperature", "top_k", "top_p", "min_p", "seed", "scale"}
    assert named == others | plain, "a field that isn't looked at here"
