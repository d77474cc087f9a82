"""What SamplingParams accepts and refuses."""

import math

import pytest

from maskwright.errors import InputError
from maskwright.sampling import SamplingParams

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
