"""Fields that are refused by name: those that would change the answer, and misspelt ones."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.errors import InputError
from maskwright.server.request.anthropic_request import AnthropicRequest
from maskwright.server.request.completion_requests import (
    ChatCompletionRequest,
    CompletionRequest,
)
from maskwright.server.request.response_request import ResponseRequest
from maskwright.server.request.sampling_fields import (
    CONSTRAINT_WORDS,
    HARMLESS,
    NEUTRAL,
    refuse_unsupported,
)


def refuse(**fields: Any) -> None:
    refuse_unsupported(fields, ChatCompletionRequest.obeyed)


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
        refuse_unsupported({name: value}, frozenset())


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
    ("rids", "rid"),
    ("sed", "seed"),
]


@pytest.mark.parametrize(("name", "meant"), MISSPELT)
def test_misspelt_names_are_refused_with_the_one_meant(name: str, meant: str) -> None:
    param, code, message = refused(**{name: 1})
    assert (param, code) == (name, "unknown_field")
    assert message.endswith(f'did you mean "{meant}"?')


@pytest.mark.parametrize(
    "name", [*sorted(HARMLESS), "x", "id", "ID", "prompt", "trace_id", "my_own_field"]
)
def test_other_names_pass(name: str) -> None:
    refuse(**{name: {"any": "thing"}})


def test_a_name_that_others_know_is_never_taken_for_a_misspelt_one() -> None:
    near = frozenset({"stores"})
    refuse_unsupported({"store": True}, near)
    with pytest.raises(InputError, match="did you mean"):
        refuse_unsupported({"stors": True}, near)


@pytest.mark.parametrize("name", sorted(ChatCompletionRequest.obeyed))
def test_fields_that_are_obeyed_pass(name: str) -> None:
    """Their readers check them, whatever their names speak of."""
    refuse(**{name: object()})


def test_no_field_is_in_two_lists() -> None:
    assert ChatCompletionRequest.obeyed.isdisjoint(NEUTRAL)
    assert ChatCompletionRequest.obeyed.isdisjoint(HARMLESS)
    assert HARMLESS.isdisjoint(NEUTRAL)


def test_the_first_fault_is_reported() -> None:
    assert refused(x=1, echo=True, my_schema={})[0] == "echo"


DROPPED: list[tuple[dict[str, Any], str]] = [
    # what other servers and libraries call so, and what it is here
    ({"extra_body": {"top_k": 5}}, "send its fields in the body itself"),
    ({"nvext": {"guided_json": {}}}, "send its fields in the body itself"),
    ({"options": {"format": {}}}, "a schema as response_format"),
    ({"generation_config": {"responseSchema": {}}}, "a schema as response_format"),
    ({"output_config": {"format": {}}}, "send response_format, and reasoning_effort"),
    ({"max_output_tokens": 5}, "this endpoint calls it max_tokens"),
    ({"max_length": 5}, "send max_tokens"),
    ({"random_seed": 5}, "send seed"),
    ({"stop_words": ["a"]}, "send stop"),
    ({"do_sample": False}, "send temperature: 0, or leave it out"),
    ({"eos_token_id": 5}, "send stop_token_ids"),
    ({"thinking": {"type": "disabled"}}, "send reasoning_effort, or chat_template_kwargs"),
    ({"watermarking": True}, "leave it out"),
    ({"context_management": {"edits": [1]}}, "send the messages that the model shall read"),
    ({"system": "x"}, "send a message with the role 'system'"),
    ({"choice": ["a"]}, "send guided_choice"),
    ({"pattern": "a"}, "send regex"),
]


@pytest.mark.parametrize(("fields", "advice"), DROPPED)
def test_what_others_have_under_another_name(fields: dict[str, Any], advice: str) -> None:
    [name] = fields
    param, code, message = refused(**fields)
    assert (param, code) == (name, "unsupported_parameter")
    assert message.endswith(advice)


@pytest.mark.parametrize(
    ("parse", "body", "advice"),
    [
        (ResponseRequest.parse, {"input": "x", "context_management": [{"type": "compaction"}]},
         "send the items that the model shall read"),
        (ResponseRequest.parse, {"input": "x", "num_predict": 5}, "send max_output_tokens"),
        (ResponseRequest.parse, {"input": "x", "thinking": True},
         "send reasoning.effort, or chat_template_kwargs"),
        (ResponseRequest.parse, {"input": "x", "system": "y"}, "send instructions"),
        (ResponseRequest.parse, {"input": "x", "output_config": {"effort": "low"}},
         "send text.format, and reasoning.effort"),
        (CompletionRequest.parse, {"prompt": "x", "system": "y"}, "write it into the prompt"),
        (CompletionRequest.parse, {"prompt": "x", "max_output_tokens": 5},
         "this endpoint calls it max_tokens"),
        (CompletionRequest.parse, {"prompt": "x", "random_seed": 5}, "send seed"),
        (AnthropicRequest.parse, {"messages": [], "stop_words": ["a"]},
         "this endpoint calls it stop_sequences"),
        (AnthropicRequest.parse, {"messages": [], "system_prompt": "x"},
         "this endpoint calls it system"),
    ],
)  # fmt: skip
def test_each_endpoint_says_what_it_has_instead(parse: Any, body: Any, advice: str) -> None:
    with pytest.raises(InputError) as raised:
        parse(body)
    assert raised.value.param in body
    assert raised.value.message.endswith(f"; {advice}")


@pytest.mark.parametrize(
    ("parse", "name", "sent", "missing"),
    [
        (ResponseRequest.parse, "text", {"format": {}}, "text.format.schema"),
        (ResponseRequest.parse, "text", {"format": {"name": "n"}}, "text.format.schema"),
        (AnthropicRequest.parse, "output_format", {}, "output_format.schema"),
        (ChatCompletionRequest.parse, "response_format", {}, "response_format.json_schema"),
        (ChatCompletionRequest.parse, "response_format", {"name": "n"}, "response_format.schema"),
    ],
)
def test_a_schema_is_missing_where_it_should_stand(
    parse: Any, name: str, sent: dict[str, Any], missing: str
) -> None:
    format = {"type": "json_schema", **sent.get("format", sent)}
    messages = [{"role": "user", "content": "x"}]
    body = {"input": "x"} if name == "text" else {"messages": messages, "max_tokens": 5}
    with pytest.raises(InputError) as raised:
        parse({**body, name: {"format": format} if name == "text" else format})
    assert (raised.value.param, raised.value.message) == (missing, f"{missing} is required")


FORMAT = {"type": "json_schema", "name": "n", "schema": {}}


@pytest.mark.parametrize("format", [FORMAT, {"type": "json_object"}, {}])
def test_a_shape_where_responses_have_it_is_refused(format: Any) -> None:
    param, code, message = refused(text={"format": format, "verbosity": "low"})
    assert (param, code) == ("text.format", "unsupported_parameter")
    assert message.endswith("; send response_format")
    prompt: dict[str, Any] = {"prompt": "x", "text": {"format": format}}
    with pytest.raises(InputError) as raised:
        CompletionRequest.parse(prompt)
    assert raised.value.param == "text.format"


@pytest.mark.parametrize(
    "text", [{}, {"verbosity": "low"}, {"format": None}, {"format": {"type": "text"}}, "x"]
)
def test_other_words_about_the_text_have_no_effect(text: Any) -> None:
    refuse(text=text)


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("stopSequences", 'as for "stop_sequences", send stop'),
        ("max_new_tokens", 'did you mean "max_tokens"?'),
        ("min_new_tokens", 'did you mean "min_tokens"?'),
        ("extra-body", 'as for "extra_body", send its fields in the body itself'),
        ("candidateCount", 'as for "candidate_count", send n'),
        ("typical_pp", 'did you mean "typical_p"?'),
        ("maxtokens", 'did you mean "max_tokens"?'),
    ],
)
def test_a_name_like_one_that_is_refused_is_told_what_to_send(name: str, advice: str) -> None:
    param, code, message = refused(**{name: 1})
    assert (param, code) == (name, "unknown_field")
    assert message.endswith(f"; {advice}")
