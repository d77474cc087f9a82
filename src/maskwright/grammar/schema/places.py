"""Where in a schema document the schema of a part of a value stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from itertools import islice
from typing import Final

from maskwright.grammar.regular.derivative import contains
from maskwright.grammar.schema.tree import (
    Contains,
    Items,
    Not,
    Properties,
    Schema,
    SomeMember,
    Unevaluated,
    about_the_value,
)

MOST_SCHEMAS: Final = 10_000
"""Schemas that are looked at; a place in a larger document is named less precisely."""


def pointer_at(root: Schema, path: Iterable[str | int]) -> str:
    """The JSON Pointer of a schema that the value at `path` of an instance has to satisfy: one that
    asserts something, if there is one, and that of the innermost value with a schema."""
    here = [root]
    for step in path:
        inner = [each for schema in _beside(here) for each in _below(schema, step)]
        if not inner:
            break
        here = [each for each in inner if each.assertions] or inner
    return here[0].pointer


def has_pointer(root: Schema, pointer: str) -> bool:
    """Whether `pointer` is the place of `root`, of a schema within it, or of a keyword of these."""
    places = (pointer, pointer.rpartition("/")[0])
    queue = {root: None}
    for schema in _growing(queue):
        if schema.pointer in places:
            return True
        for assertion in schema.assertions:
            queue |= dict.fromkeys(
                _schemas(getattr(assertion, each.name) for each in fields(assertion))
            )
    return False


def _growing(queue: dict[Schema, None]) -> Iterator[Schema]:
    """Each schema of a queue to which the caller adds."""
    at = 0
    while at < min(len(queue), MOST_SCHEMAS):
        reached = len(queue)
        yield from list(islice(queue, at, reached))
        at = reached


def _schemas(values: Iterable[object]) -> Iterator[Schema]:
    """The schemas in the fields of an assertion."""
    for value in values:
        if isinstance(value, Schema):
            yield value
        elif isinstance(value, Mapping):
            yield from _schemas(value.values())
        elif isinstance(value, tuple):
            yield from _schemas(value)


def _beside(schemas: list[Schema]) -> list[Schema]:
    """Schemas, and all that apply to the values to which they do."""
    queue = dict.fromkeys(schemas)
    for schema in _growing(queue):
        for assertion in schema.assertions:
            if not isinstance(assertion, Not):
                queue |= dict.fromkeys(about_the_value(assertion))
    return list(queue)


def _below(schema: Schema, step: str | int) -> Iterator[Schema]:
    """The schemas that `schema` has for a member or an item."""
    for assertion in schema.assertions:
        match assertion, step:
            case Properties() | SomeMember(), str():
                matching = [s for p, s in assertion.patterns if contains(p, step)]
                if step in assertion.named:
                    matching.insert(0, assertion.named[step])
                if isinstance(assertion, Properties) and not matching:
                    matching.append(assertion.additional)
                yield from matching
            case Items(prefix=prefix, rest=rest), int():
                yield prefix[step] if step < len(prefix) else rest
            case (Contains(schema=inner), int()) | (Unevaluated(schema=inner), _):
                yield inner
            case _:
                pass
