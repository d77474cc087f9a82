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


PENALISED = [
    {"repetition_penalty": 1.1},
    {"presence_penalty": 0.1},
    {"frequency_penalty": -0.1},
    {"logit_bias": {5: 1.0}},
]
FORBIDDING = [
    {"bad_words": ((1, 2),)},
    {"no_repeat_ngram": 3},
    {"banned": TextBan([b"a"], (b"a", b"b"))},
    {"allowed_tokens": (1,)},
]
WITHHOLDING = [{"min_tokens": 1}, {"ignore_eos": True}]
OTHERS = [
    {"temperature": 0.0},
    {"top_k": 3},
    {"top_p": 0.9},
    {"min_p": 0.1},
    {"seed": 5},
    {"scale": "masked"},
    {"logprobs": 0},
]


@pytest.mark.parametrize(
    ("group", "changes"),
    [
        (PENALISED, (True, False, False)),
        (FORBIDDING, (False, True, True)),
        (WITHHOLDING, (False, True, False)),
        (OTHERS, (False, False, False)),
        ([{}], (False, False, False)),
    ],
)
def test_what_changes_logits_and_what_forbids_tokens(
    group: list[dict], changes: tuple[bool, ...]
) -> None:
    for values in group:
        params = SamplingParams(**values)
        assert (params.penalised, params.restricts, params.forbids) == changes, values


def test_every_field_is_looked_at() -> None:
    groups = PENALISED, FORBIDDING, WITHHOLDING, OTHERS
    named = {field.name for field in fields(SamplingParams) if field.init}
    assert {name for group in groups for values in group for name in values} == named
