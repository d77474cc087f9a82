"""All JSON texts over a few building blocks, up to a length: made naively, without any schema."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

from tests.matching import parsed


@dataclass(frozen=True, slots=True)
class Blocks:
    """What texts are built of; everything is written as it stands in JSON."""

    scalars: tuple[str, ...]
    names: tuple[str, ...] = ()
    arrays: bool = False
    comma: str = ","
    colon: str = ":"
    spaces: tuple[str, ...] = ("",)
    """What may stand wherever JSON allows whitespace, but for around the whole text."""
    longest: int = 12
    """Bytes of the longest text."""


@dataclass(frozen=True, slots=True)
class Text:
    data: bytes
    value: Any


@cache
def universe(blocks: Blocks) -> tuple[Text, ...]:
    """Every text, but for those in which an object has a name twice."""
    found: list[Text] = []
    values = _values(blocks)
    for length in range(1, blocks.longest + 1):
        for text in values[length]:
            try:
                found.append(Text(text.encode(), parsed(text)))
            except ValueError:
                continue
    return tuple(found)


def _values(blocks: Blocks) -> list[list[str]]:
    """By length in bytes: all values, by putting together shorter ones."""
    values: list[list[str]] = []
    items: list[list[str]] = []  # non-empty sequences between brackets
    members: list[list[str]] = []
    for length in range(blocks.longest + 1):
        texts = [s for s in blocks.scalars if len(s.encode()) == length]
        if blocks.arrays:
            texts += _enclosed("[", items, "]", blocks, length)
        if blocks.names:
            texts += _enclosed("{", members, "}", blocks, length)
        values.append(texts)
        items.append(list(_sequences(blocks, values, items, [""], length)))
        heads = [
            f"{left}{name}{before}{blocks.colon}"
            for left, name, before in product(blocks.spaces, blocks.names, blocks.spaces)
        ]
        members.append(list(_sequences(blocks, values, members, heads, length)))
    return values


def _enclosed(
    opening: str, inner: list[list[str]], closing: str, blocks: Blocks, length: int
) -> list[str]:
    empty = [opening + s + closing for s in blocks.spaces if len(s) + 2 == length]
    full = [opening + text + closing for text in inner[length - 2]] if length > 2 else []
    return empty + full


def _sequences(
    blocks: Blocks,
    values: list[list[str]],
    shorter: list[list[str]],
    heads: list[str],
    length: int,
) -> Iterator[str]:
    """Sequences of `length`: one element, or a shorter sequence, a comma and an element."""

    def elements(size: int) -> Iterator[str]:
        for head, left, right in product(heads, blocks.spaces, blocks.spaces):
            rest = size - len((head + left + right).encode())
            if 0 <= rest <= length and rest < len(values):
                yield from (head + left + value + right for value in values[rest])

    yield from elements(length)
    for size in range(1, length):
        before = length - size - len(blocks.comma)
        if before > 0 and shorter[before]:
            last = list(elements(size))
            yield from (first + blocks.comma + each for first in shorter[before] for each in last)
