"""Guidance: its programs with captures, against its client of OpenAI's fields and of vLLM's."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.clients.cases import ABSENT, MODEL, TEXT, Person

guidance: Any = pytest.importorskip("guidance", reason=ABSENT)


def vllm(url: str) -> Any:
    return guidance.models.experimental.VLLMModel(MODEL, base_url=url, api_key="none", echo=False)


def asked(model: Any) -> Any:
    with guidance.user():
        model += TEXT
    return model


def test_an_object_under_a_schema(url: str) -> None:
    model = guidance.models.OpenAI(MODEL, base_url=url, api_key="none", echo=False)
    model = asked(model)
    with guidance.assistant():
        model += guidance.json(name="person", schema=Person)
    Person.model_validate(json.loads(model["person"]))


def test_an_object_in_vllms_fields(url: str) -> None:
    model = asked(vllm(url))
    with guidance.assistant():
        model += guidance.json(name="person", schema=Person)
    Person.model_validate(json.loads(model["person"]))


def test_a_pattern(url: str) -> None:
    model = asked(vllm(url))
    with guidance.assistant():
        model += guidance.regex("[A-Z]{2}-[0-9]{3}", name="code")
    assert re.fullmatch("[A-Z]{2}-[0-9]{3}", model["code"])


def test_a_choice_between_texts(url: str) -> None:
    model = asked(vllm(url))
    with guidance.assistant():
        model += "It is " + guidance.select(["red", "green"], name="colour") + "."
    assert model["colour"] in ("red", "green")


def test_free_text_of_few_tokens(url: str) -> None:
    model = asked(vllm(url))
    with guidance.assistant():
        model += guidance.gen("words", max_tokens=5)
    assert model["words"]
