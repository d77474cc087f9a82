"""Witnesses as trees, and the text that they are written as."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import groupby

from maskwright.automaton.value.whitespace import WHITESPACE, Whitespace
from maskwright.immutable import Acyclic, Immutable
from maskwright.limits import CHEAP, spend


class ScalarWitness(Acyclic):
    """The spelling of a scalar."""

    text: str


class ArrayWitness(Immutable):
    values: tuple[Witness, ...]


class ObjectWitness(Immutable):
    values: tuple[tuple[str, Witness], ...]


Witness = ScalarWitness | ArrayWitness | ObjectWitness


def compact(witness: Witness) -> str:
    """The witness as JSON without whitespace."""
    return rendered(witness, WHITESPACE["compact"], 0)


def rendered(witness: Witness, whitespace: Whitespace, depth: int) -> str:
    """The witness as JSON with the least whitespace that the style allows."""
    spend()
    match witness:
        case ScalarWitness(text=text):
            return text
        case ArrayWitness(values=values):
            return enclosed(
                "[", rendered_items(values, whitespace, depth + 1), "]", whitespace, depth
            )
        case ObjectWitness(values=values):
            parts = [member(n, v, whitespace, depth + 1) for n, v in values]
            return enclosed("{", parts, "}", whitespace, depth)


def rendered_items(values: Iterable[Witness], whitespace: Whitespace, depth: int) -> list[str]:
    """The items of an array. Of the same witness several times in a row, the text is found once,
    but all of it is counted: with arrays in arrays it would grow beyond all bounds."""
    texts: list[str] = []
    for _, same in groupby(values, id):
        run = list(same)
        text = rendered(run[0], whitespace, depth)
        spend(len(run) * len(text) * CHEAP)
        texts += [text] * len(run)
    return texts


def member(name: str, value: Witness, whitespace: Whitespace, depth: int) -> str:
    """A name, a colon and a value."""
    colon = ":" + whitespace.after_colon.decode()
    return spelled(name) + colon + rendered(value, whitespace, depth)


def enclosed(
    opening: str, parts: list[str], closing: str, whitespace: Whitespace, depth: int
) -> str:
    """A container whose closing bracket is indented to `depth`."""
    if not parts:
        return opening + closing
    before, after = whitespace.line(depth + 1), whitespace.line(depth)
    return opening + before + whitespace.comma(depth + 1).join(parts) + after + closing


def spelled(text: str) -> str:
    """A string as JSON, with no escapes but the ones that JSON asks for."""
    return json.dumps(text, ensure_ascii=False)


def size(witness: Witness | None) -> float:
    """The bytes of a witness without whitespace; infinite if there is none."""
    return float("inf") if witness is None else byte_count(compact(witness))


def byte_count(text: str) -> int:
    """Bytes in UTF-8, with three for each half of a surrogate pair."""
    return len(text.encode("utf-8", "surrogatepass"))
