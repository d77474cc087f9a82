"""What every client library is asked for: a person, an order, and the weather.

Imported where only a client library and pydantic are installed, so nothing of the package is
imported here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Literal

from pydantic import BaseModel, Field

ABSENT = "not installed here; `make test-clients` runs it in an environment of its own"
MODEL = "maskwright-demo"
TEXT = "Anna Berg, 34, lives in Oslo."
QUESTION = "What is the weather in Oslo for the next 3 days?"


class Person(BaseModel):
    """A person who is mentioned in a text."""

    name: str = Field(max_length=30)
    age: int = Field(ge=0, le=130)
    city: str | None = Field(max_length=30)


class Item(BaseModel):
    product: str = Field(max_length=20)
    quantity: int = Field(ge=1, le=99)


class Order(BaseModel):
    """An order with its items: a nested class, an enumeration, a list and a default."""

    customer: str = Field(max_length=20)
    status: Literal["open", "paid", "sent"]
    items: list[Item] = Field(min_length=1, max_length=3)
    note: str | None = Field(default=None, max_length=20)


class Forecast(BaseModel):
    """The arguments of the tool `get_weather`."""

    city: str = Field(max_length=20)
    days: int = Field(ge=1, le=14)


class Reminder(BaseModel):
    """The arguments of the tool `set_reminder`."""

    title: str = Field(max_length=20)
    hour: int = Field(ge=0, le=23)


ARGUMENTS: dict[str, type[BaseModel]] = {"get_weather": Forecast, "set_reminder": Reminder}
TOOLS: Any = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": arguments.__doc__,
            "parameters": arguments.model_json_schema(),
        },
    }
    for name, arguments in ARGUMENTS.items()
]


def check_call(name: str, arguments: str | dict[str, Any]) -> BaseModel:
    """The arguments of a call, which must be the tool's and no others."""
    given = json.loads(arguments) if isinstance(arguments, str) else arguments
    assert set(given) == set(ARGUMENTS[name].model_fields)
    return ARGUMENTS[name].model_validate(given)


def in_order(kinds: Iterable[str], expected: Iterable[str]) -> bool:
    """Whether `expected` occur among `kinds` in their order, others between them or not."""
    rest = iter(kinds)
    return all(kind in rest for kind in expected)
