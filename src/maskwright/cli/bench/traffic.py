"""Which requests are sent, and when: a pattern of arrivals over a matrix of cells.

Whether answers have the shapes that are asked for is checked without a grammar, independently of
what generated them.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Sequence
from itertools import product
from typing import Literal, TypeAlias, cast

from maskwright.immutable import Immutable

ShapeName: TypeAlias = Literal["none", "schema", "regex"]


class AskedShape(Immutable):
    """The `response_format` of a request (None for free text) and the check of its answer."""

    response_format: dict[str, object] | None
    holds: Callable[[str], bool]


FIELDS: dict[str, type] = {"name": str, "age": int, "member": bool}

SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 20},
        "age": {"type": "integer", "minimum": 0, "maximum": 120},
        "member": {"type": "boolean"},
    },
    "required": list(FIELDS),
    "additionalProperties": False,
}

PATTERN = "[A-Z]{2}-[0-9]{4}(-[a-z]{3})?"


def _is_person(text: str) -> bool:
    try:
        value: object = json.loads(text)
    except ValueError:
        return False
    if not isinstance(value, dict):
        return False
    person = cast(dict[str, object], value)
    return (
        list(person) == list(FIELDS)
        and all(type(person[name]) is kind for name, kind in FIELDS.items())
        and len(cast(str, person["name"])) <= 20
        and 0 <= cast(int, person["age"]) <= 120
    )


SHAPES: dict[ShapeName, AskedShape] = {
    "none": AskedShape(None, lambda _: True),
    "schema": AskedShape(
        {"type": "json_schema", "json_schema": {"name": "person", "schema": SCHEMA}}, _is_person
    ),
    "regex": AskedShape(
        {"type": "regex", "regex": PATTERN}, lambda text: re.fullmatch(PATTERN, text) is not None
    ),
}


PatternName: TypeAlias = Literal["steady", "burst", "adversarial"]

BURST = 8
"""The number of requests in a burst, which are sent together."""

WORDS = ("the", "old", "harbour", "sells", "fresh", "fish", "every", "morning")


class Cell(Immutable):
    """A kind of request: `words` in its prompt, at most `cap` tokens in its answer, its class of
    service (empty if none is named), its temperature and the shape of its answer."""

    words: int
    cap: int
    service: str
    temperature: float
    shape: ShapeName

    def body(self, seed: int) -> dict[str, object]:
        """The body of a streaming chat request. No two prompts have a common beginning, so that the
        server's prefix cache holds none of them."""
        rng = random.Random(seed)
        text = " ".join([f"{seed:x}", *(rng.choice(WORDS) for _ in range(self.words - 1))])
        body: dict[str, object] = {
            "model": "any",
            "messages": [{"role": "user", "content": text}],
            "max_tokens": self.cap,
            "temperature": self.temperature,
            "seed": seed,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if self.service:
            body["maskwright"] = {"service": self.service}
        if SHAPES[self.shape].response_format is not None:
            body["response_format"] = SHAPES[self.shape].response_format
        return body


def matrix(
    words: Sequence[int],
    caps: Sequence[int],
    services: Sequence[str],
    temperatures: Sequence[float],
    shapes: Sequence[ShapeName],
) -> list[Cell]:
    """The cell of every combination."""
    return [Cell(*values) for values in product(words, caps, services, temperatures, shapes)]


def arrivals(
    pattern: PatternName, rate: float, seconds: float, cells: Sequence[Cell], rng: random.Random
) -> list[tuple[float, Cell]]:
    """The time of each request in seconds, with its cell; `rate` requests a second on average.

    Steady: at equal distances, through all cells in random order. Burst: in random order too, eight
    at once. Adversarial: bursts in which the longest prompts with the shortest answers alternate
    with the shortest prompts with the longest answers, so that prefills delay decodes.
    """
    count = max(1, round(rate * seconds))
    size = 1 if pattern == "steady" else BURST
    times = [(number // size) * size / rate for number in range(count)]
    if pattern == "adversarial":
        most, least = max(c.words for c in cells), min(c.words for c in cells)
        long = [c for c in cells if c.words == most and c.cap == min(c.cap for c in cells)]
        short = [c for c in cells if c.words == least and c.cap == max(c.cap for c in cells)]
        chosen = [rng.choice(short if number % 2 else long) for number in range(count)]
    else:
        chosen = [
            cell for _ in range(-(-count // len(cells))) for cell in rng.sample(cells, len(cells))
        ]
    return list(zip(times, chosen, strict=False))
