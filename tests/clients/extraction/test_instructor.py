"""Instructor: one class from a text in each mode whose requests hold the schema.

Modes `JSON` and `MD_JSON` have the schema in the prompt alone, for a model that can follow it
there; the demo model can't.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import openai
import pytest

from tests.clients.cases import ABSENT, MODEL, QUESTION, TEXT, Forecast, Order, Person, Reminder

instructor: Any = pytest.importorskip("instructor", reason=ABSENT)
ASKED: Any = {"model": MODEL, "messages": [{"role": "user", "content": TEXT}]}
MODES = ["FUNCTIONS", "TOOLS", "TOOLS_STRICT", "JSON_SCHEMA", "JSON_O1"]


def patched(url: str, mode: str = "TOOLS", client: Any = openai.OpenAI) -> Any:
    """A client of the official package that answers with objects of a class."""
    plain = client(base_url=url, api_key="none", max_retries=0)
    return instructor.from_openai(plain, mode=instructor.Mode[mode])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", [Person, Order])
@pytest.mark.filterwarnings("ignore:.*deprecated")
def test_an_object_of_a_class(url: str, mode: str, kind: type[Person] | type[Order]) -> None:
    answer = patched(url, mode).chat.completions.create(
        **ASKED, response_model=kind, max_retries=0, temperature=1
    )
    assert isinstance(answer, kind)


@pytest.mark.parametrize("mode", ["RESPONSES_TOOLS", "RESPONSES_TOOLS_WITH_INBUILT_TOOLS"])
def test_an_object_from_a_response(url: str, mode: str) -> None:
    answer = patched(url, mode).responses.create(
        model=MODEL, input=TEXT, response_model=Person, max_retries=0
    )
    assert isinstance(answer, Person)


@pytest.mark.parametrize("mode", ["TOOLS", "JSON_SCHEMA"])
def test_an_object_that_grows(url: str, mode: str) -> None:
    parts = list(patched(url, mode).chat.completions.create_partial(**ASKED, response_model=Person))
    assert len(parts) > 1
    names = [part.name or "" for part in parts]
    assert all(later.startswith(earlier) for earlier, later in pairwise(names))
    assert Person.model_validate(parts[-1].model_dump())


def test_a_list_of_objects(url: str) -> None:
    people = list(
        patched(url).chat.completions.create_iterable(
            model=MODEL,
            messages=[{"role": "user", "content": "Anna Berg, 34, Oslo. Ines Roth, 41, Graz."}],
            response_model=Person,
            temperature=0,
            max_tokens=200,
        )
    )
    assert all(isinstance(person, Person) for person in people)
    assert len(people) >= 1


@pytest.mark.filterwarnings("ignore")
def test_calls_at_once(url: str) -> None:
    calls = list(
        patched(url, "PARALLEL_TOOLS").chat.completions.create(
            model=MODEL,
            messages=[{"role": "user", "content": QUESTION}],
            response_model=Iterable[Forecast | Reminder],
            tool_choice="required",
            max_retries=0,
        )
    )
    assert calls
    assert all(isinstance(call, Forecast | Reminder) for call in calls)


def test_a_class_with_a_rule_of_its_own_is_asked_for_again(url: str) -> None:
    """Pydantic's own validators are no part of the schema; the answer to them is another try."""
    tries = 0

    class Stubborn(Person):
        def model_post_init(self, context: Any) -> None:
            nonlocal tries
            tries += 1
            if tries < 3:
                raise ValueError("say it once more")

    answer = patched(url).chat.completions.create(
        **ASKED, response_model=Stubborn, max_retries=3, temperature=1
    )
    assert isinstance(answer, Stubborn)
    assert tries == 3


@pytest.mark.parametrize("mode", ["TOOLS", "JSON_SCHEMA"])
def test_awaited(url: str, mode: str) -> None:
    async def ask() -> list[Any]:
        client = patched(url, mode, openai.AsyncOpenAI)
        asked = [client.chat.completions.create(**ASKED, response_model=Person) for _ in range(3)]
        return await asyncio.gather(*asked)

    assert [isinstance(each, Person) for each in asyncio.run(ask())] == [True] * 3
