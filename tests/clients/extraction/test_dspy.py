"""DSPy: its model with a class in the request.

Its adapters write what they want into the prompt, for a model that can follow that; the demo
model can't.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.clients.cases import ABSENT, MODEL, TEXT, Order, Person

dspy: Any = pytest.importorskip("dspy", reason=ABSENT)


def model(url: str, **options: Any) -> Any:
    return dspy.LM(
        f"openai/{MODEL}", api_base=url, api_key="none", cache=False, num_retries=0, **options
    )


def text_of(answer: Any) -> str:
    return answer if isinstance(answer, str) else answer["text"]


@pytest.mark.parametrize("kind", [Person, Order])
def test_an_object_of_a_class(url: str, kind: type[Person] | type[Order]) -> None:
    [answer] = model(url)(TEXT, response_format=kind)
    kind.model_validate_json(text_of(answer))


def test_awaited(url: str) -> None:
    [answer] = asyncio.run(model(url).acall(TEXT, response_format=Person))
    Person.model_validate_json(text_of(answer))


def test_plain_text(url: str) -> None:
    [answer] = model(url, max_tokens=8)("Hello!")
    assert text_of(answer)
