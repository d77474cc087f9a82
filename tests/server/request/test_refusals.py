"""Fields that are refused by name: those that would change the answer, and misspelt ones."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.errors import InputError
from maskwright.server.request.fields import Fields
from maskwright.server.request.protocol import OBEYED
from maskwright.server.request.refusals import (
    CONSTRAINT_WORDS,
    HARMLESS,
    NEUTRAL,
    refuse_unsupported,
)


def refuse(**fields: Any) -> None:
    refuse_unsupported(Fields(fields), OBEYED)


def refused(**fields: Any) -> tuple[str | None, str, str]:
    """The param, code and message of a refusal."""
    with pytest.raises(InputError) as raised:
        refuse(**fields)
    return raised.value.param, raised.value.code, raised.value.message


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in NEUTRAL.items() for value in values]
)
def test_values_that_change_nothing_pass(name: str, value: Any) -> None:
    refuse(**{name: value})


@pytest.mark.parametrize("name", NEUTRAL)
@pytest.mark.parametrize("value", ["something", [1], {"a": 1}, 7], ids=str)
def test_any_other_value_is_refused_by_name(name: str, value: Any) -> None:
    param, code, message = refused(**{name: value})
    assert (param, code) == (name, "unsupported_parameter")
    assert message.startswith(f"{name} is not supported by this server; ")


@pytest.mark.parametrize(("name", "value"), [("priority", False), ("echo", 0), ("best_of", True)])
def test_a_number_is_no_truth_value(name: str, value: Any) -> None:
    """Python takes False for 0, and True for 1; JSON doesn't."""
    with pytest.raises(InputError):
        refuse_unsupported(Fields({name: value}), frozenset())


@pytest.mark.parametrize("name", NEUTRAL)
def test_an_explicit_null_is_an_absent_field(name: str) -> None:
    refuse(**{name: None})


@pytest.mark.parametrize(
    ("fields", "advice"),
    [
        ({"priority": 3}, "put the request into a class with maskwright.service"),
        ({"typical_p": 0.5}, "leave it out"),
        ({"echo": True}, "send the prompt to /v1/completions"),
        ({"input_ids": [1]}, "send token ids as the prompt to /v1/completions"),
        ({"stop_sequences": ["a"]}, "send stop"),
        ({"reasoning": {"effort": "none"}}, "send reasoning_effort"),
    ],
)
def test_the_way_out(fields: dict[str, Any], advice: str) -> None:
    assert refused(**fields)[2].endswith(f"; {advice}")


LLAMA_CPP: dict[str, Any] = {
    "cache_prompt": True,
    "dry_allowed_length": 2,
    "dry_base": 1.75,
    "dry_multiplier": 0,
    "dry_penalty_last_n": -1,
    "dry_sequence_breakers": ["a"],
    "dynatemp_exponent": 1,
    "dynatemp_range": 0,
    "mirostat": 0,
    "mirostat_eta": 0.1,
    "mirostat_tau": 5,
    "n_discard": 0,
    "n_keep": 0,
    "reasoning_format": "auto",
    "repeat_last_n": 64,
    "repeat_penalty": 1,
    "return_progress": True,
    "t_max_predict_ms": -1,
    "timings_per_token": True,
    "typ_p": 1,
    "xtc_probability": 0,
    "xtc_threshold": 0.1,
}
"""What clients of llama.cpp send with every request, its samplers being off."""


def test_samplers_that_are_off_may_have_parameters() -> None:
    refuse(**LLAMA_CPP)
    assert refused(**LLAMA_CPP | {"mirostat": 2})[0] == "mirostat"


CONSTRAINTS = (
    *(f"my_{word}_x" for word in CONSTRAINT_WORDS),
    "json_mode",
    "JsonSchema",
    "structuredOutput",
    "guided_decoding",
    "responseFormat",
)


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_names_that_speak_of_a_constraint_are_refused(name: str) -> None:
    param, code, message = refused(**{name: {}})
    assert (param, code) == (name, "unknown_field")
    assert "looks like a constraint" in message


MISSPELT = [
    ("temprature", "temperature"),
    ("max_token", "max_tokens"),
    ("Stop", "stop"),
    ("presence_penality", "presence_penalty"),
    ("tool_choise", "tool_choice"),
    ("mesages", "messages"),
    ("ignore_eo", "ignore_eos"),
]


@pytest.mark.parametrize(("name", "meant"), MISSPELT)
def test_misspelt_names_are_refused_with_the_one_meant(name: str, meant: str) -> None:
    param, code, message = refused(**{name: 1})
    assert (param, code) == (name, "unknown_field")
    assert message.endswith(f'did you mean "{meant}"?')


@pytest.mark.parametrize("name", [*sorted(HARMLESS), "x", "prompt", "trace_id", "my_own_field"])
def test_other_names_pass(name: str) -> None:
    refuse(**{name: {"any": "thing"}})


def test_a_name_that_others_know_is_never_taken_for_a_misspelt_one() -> None:
    near = frozenset({"stores"})
    refuse_unsupported(Fields({"store": True}), near)
    with pytest.raises(InputError, match="did you mean"):
        refuse_unsupported(Fields({"stors": True}), near)


@pytest.mark.parametrize("name", sorted(OBEYED))
def test_fields_that_are_obeyed_pass(name: str) -> None:
    """Their readers check them, whatever their names speak of."""
    refuse(**{name: object()})


def test_no_field_is_in_two_lists() -> None:
    assert OBEYED.isdisjoint(NEUTRAL)
    assert OBEYED.isdisjoint(HARMLESS)
    assert HARMLESS.isdisjoint(NEUTRAL)


def test_the_first_fault_is_told() -> None:
    assert refused(x=1, echo=True, my_schema={})[0] == "echo"
