"""Outlines: its clients of OpenAI's, vLLM's and SGLang's fields, each against this server."""

from __future__ import annotations

import asyncio
import re
from typing import Any, Literal

import openai
import pytest

from tests.clients.cases import ABSENT, MODEL, TEXT, Order, Person

outlines: Any = pytest.importorskip("outlines", reason=ABSENT)

GRAMMAR = 'start: sum\nsum: NUMBER ("+" NUMBER)*\nNUMBER: /[0-9]{1,2}/\n'
MAKERS = ["from_openai", "from_vllm", "from_sglang"]
LIMIT: Any = {"max_tokens": 100}


def model(url: str, maker: str) -> Any:
    client = openai.OpenAI(base_url=url, api_key="none", max_retries=0)
    return getattr(outlines, maker)(client, MODEL)


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("kind", [Person, Order])
def test_an_object_of_a_class(url: str, maker: str, kind: type[Person] | type[Order]) -> None:
    kind.model_validate_json(model(url, maker)(TEXT, kind))


@pytest.mark.parametrize("maker", MAKERS[1:])
def test_a_choice_and_a_number(url: str, maker: str) -> None:
    assert model(url, maker)(TEXT, Literal["red", "green"], **LIMIT) in ("red", "green")
    int(model(url, maker)(TEXT, int, **LIMIT))


@pytest.mark.parametrize("maker", MAKERS[1:])
def test_a_pattern(url: str, maker: str) -> None:
    text = model(url, maker)(TEXT, outlines.regex("[A-Z]{2}-[0-9]{3}"))
    assert re.fullmatch("[A-Z]{2}-[0-9]{3}", text)


@pytest.mark.parametrize("maker", MAKERS[1:])
def test_a_grammar(url: str, maker: str) -> None:
    text = model(url, maker)(TEXT, outlines.cfg(GRAMMAR), max_tokens=12)
    assert re.fullmatch(r"[0-9]{1,2}(\+[0-9]{1,2})*", text)


@pytest.mark.parametrize("maker", MAKERS)
def test_a_stream(url: str, maker: str) -> None:
    Person.model_validate_json("".join(model(url, maker).stream(TEXT, Person)))


def test_awaited(url: str) -> None:
    async def ask() -> list[str]:
        client = openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0)
        asked = outlines.from_vllm(client, MODEL)
        return await asyncio.gather(*(asked(TEXT, Person) for _ in range(3)))

    for text in asyncio.run(ask()):
        Person.model_validate_json(text)
