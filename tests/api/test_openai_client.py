"""What the official `openai` package gets from the running server and the shipped model."""

from __future__ import annotations

import json
from typing import Any, Literal

import jsonschema
import openai
import pytest
from pydantic import BaseModel, ConfigDict, Field

from tests.api.shapes import SHAPES
from tests.pages.demo_server import Served

MESSAGES: Any = [{"role": "user", "content": "Anna Berg, 34, lives in Oslo."}]
PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 30},
        "age": {"type": "integer", "minimum": 0, "maximum": 130},
        "city": {"anyOf": [{"type": "string", "maxLength": 30}, {"type": "null"}]},
    },
    "required": ["name", "age", "city"],
    "additionalProperties": False,
}


def shaped(schema: dict[str, Any], name: str = "answer") -> Any:
    return {"type": "json_schema", "json_schema": {"name": name, "schema": schema, "strict": True}}


def check(text: str | None, schema: dict[str, Any]) -> Any:
    """The JSON in `text`, which must be valid under the schema."""
    assert text is not None
    value = json.loads(text)
    jsonschema.validate(value, schema, cls=jsonschema.Draft202012Validator)
    return value


@pytest.mark.parametrize("temperature", [0, 1])
def test_a_json_schema_completion(client: openai.OpenAI, temperature: float) -> None:
    answer = client.chat.completions.create(
        model="demo", messages=MESSAGES, temperature=temperature, response_format=shaped(PERSON)
    )
    value = check(answer.choices[0].message.content, PERSON)
    assert list(value) == ["name", "age", "city"]
    assert answer.choices[0].finish_reason == "stop"
    assert answer.model == "demo"
    assert answer.usage is not None
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens
    assert answer._request_id


@pytest.mark.parametrize("temperature", [0, 1])
def test_the_same_streamed(client: openai.OpenAI, temperature: float) -> None:
    asked: dict[str, Any] = {
        "model": "demo",
        "messages": MESSAGES,
        "temperature": temperature,
        "seed": 7,
        "response_format": shaped(PERSON),
    }
    chunks = list(
        client.chat.completions.create(stream=True, stream_options={"include_usage": True}, **asked)
    )
    text = "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices)
    check(text, PERSON)
    whole = client.chat.completions.create(**asked)
    assert whole.choices[0].message.content == text
    assert chunks[-1].usage == whole.usage
    assert [
        choice.finish_reason for chunk in chunks for choice in chunk.choices if choice.finish_reason
    ] == ["stop"]


class Line(BaseModel):
    model_config = ConfigDict(extra="forbid")
    product: str = Field(max_length=20)
    quantity: int = Field(ge=1, le=99)


class Order(BaseModel):
    model_config = ConfigDict(extra="forbid")
    customer: str = Field(max_length=20)
    status: Literal["open", "paid", "sent"]
    lines: list[Line] = Field(max_length=3)
    note: str | None = Field(max_length=20)


@pytest.mark.parametrize("temperature", [0, 1])
def test_parse_with_a_pydantic_class(client: openai.OpenAI, temperature: float) -> None:
    parsed = client.chat.completions.parse(
        model="demo",
        messages=[{"role": "user", "content": "Ines Roth paid for 3 lamps."}],
        temperature=temperature,
        response_format=Order,
    )
    assert isinstance(parsed.choices[0].message.parsed, Order)


def test_the_clients_own_stream_helper(client: openai.OpenAI) -> None:
    with client.chat.completions.stream(
        model="demo", messages=MESSAGES, temperature=1, response_format=Order
    ) as stream:
        kinds = {event.type for event in stream}
        final = stream.get_final_completion()
    assert isinstance(final.choices[0].message.parsed, Order)
    assert {"chunk", "content.delta", "content.done"} <= kinds


def test_plain_text_and_a_limit(client: openai.OpenAI) -> None:
    answer = client.chat.completions.create(
        model="demo", messages=[{"role": "user", "content": "Hello!"}], max_tokens=3
    )
    assert answer.usage is not None
    assert answer.usage.completion_tokens <= 3
    assert answer.choices[0].finish_reason in ("stop", "length")


def test_json_object(client: openai.OpenAI) -> None:
    answer = client.chat.completions.create(
        model="demo",
        messages=MESSAGES,
        temperature=1,
        max_tokens=60,
        response_format={"type": "json_object"},
    )
    check(answer.choices[0].message.content, {"type": "object"})


def test_a_seed_repeats_and_choices_differ(client: openai.OpenAI) -> None:
    def ask(**fields: Any) -> list[str | None]:
        answer = client.chat.completions.create(
            model="demo",
            messages=MESSAGES,
            temperature=2,
            response_format=shaped(SHAPES["order"]),
            **fields,
        )
        return [choice.message.content for choice in answer.choices]

    three = ask(seed=11, n=3)
    assert ask(seed=11, n=3) == three
    assert ask(seed=11) == three[:1]
    assert len(set(three)) == 3
    for text in three:
        check(text, SHAPES["order"])


def test_greedy_choices_are_equal(client: openai.OpenAI) -> None:
    answer = client.chat.completions.create(
        model="demo", messages=MESSAGES, temperature=0, n=3, response_format=shaped(PERSON)
    )
    assert len({choice.message.content for choice in answer.choices}) == 1


def test_stop_strings_end_text(client: openai.OpenAI) -> None:
    asked: dict[str, Any] = {"model": "demo", "messages": MESSAGES, "temperature": 0}
    whole = client.chat.completions.create(max_tokens=20, **asked).choices[0].message.content
    assert whole
    stop = whole[len(whole) // 2]
    cut = client.chat.completions.create(max_tokens=20, stop=stop, **asked).choices[0]
    assert cut.message.content == whole[: whole.index(stop)]
    assert cut.finish_reason == "stop"


def test_models(client: openai.OpenAI) -> None:
    (card,) = client.models.list().data
    assert client.models.retrieve(card.id) == card
    another = client.models.retrieve("another")  # any name is answered by the served model
    assert another.id == "another"
    assert (another.model_extra or {})["parent"] == card.id


REFUSALS: list[tuple[dict[str, Any], str, str]] = [
    ({"temperature": 101}, "temperature", "from 0 to 100"),
    ({"messages": []}, "messages", "at least one message"),
    ({"messages": [{"role": "user", "content": "x" * 40_000}]}, "messages", "context"),
    ({"response_format": shaped({"type": "str"})}, "response_format.json_schema.schema", "/type"),
    (
        {"response_format": shaped({"properties": {"a": {"$ref": "https://example.org/b.json"}}})},
        "response_format.json_schema.schema",
        "/properties/a/$ref",
    ),
    ({"response_format": shaped(SHAPES["const"]), "max_tokens": 2}, "max_tokens", "tokens"),
    ({"tools": [{"type": "retrieval"}]}, "tools[0].type", "function"),
]


@pytest.mark.parametrize(
    ("fields", "param", "message"), REFUSALS, ids=lambda value: str(value)[:40]
)
@pytest.mark.parametrize("stream", [False, True])
def test_refusals_name_the_place(
    client: openai.OpenAI, fields: dict[str, Any], param: str, message: str, stream: bool
) -> None:
    asked: dict[str, Any] = {"model": "demo", "messages": MESSAGES, "stream": stream, **fields}
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(**asked)
    assert caught.value.param == param
    assert message in str(caught.value.message)
    assert caught.value.code


def test_the_server_goes_on_after_refusals(served: Served, client: openai.OpenAI) -> None:
    answer = client.chat.completions.create(
        model="demo", messages=MESSAGES, temperature=0, response_format=shaped(PERSON)
    )
    check(answer.choices[0].message.content, PERSON)
    assert served.engine.stats().blocks_used == 0
