"""The naive reading of rules: every way to cut a text into the parts of an expression."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, assert_never

from maskwright.grammar.regular.derivative import contains
from maskwright.grammar.regular.terms import Regular
from maskwright.grammar.rules.tree import (
    Bounded,
    Capture,
    Choice,
    Concat,
    Cut,
    Expression,
    JsonValue,
    Ref,
    Repeat,
    SpecialToken,
    Terminal,
)
from maskwright.grammar.schema.tree import Schema

Captured = tuple[tuple[str, str], ...]

SPECIAL = 0xE000
"""Special token i is written as this private character plus i."""


class Reader:
    """All readings of one text; `judge` says whether a JSON value satisfies a schema. `rules` may
    not begin with themselves."""

    def __init__(
        self,
        text: str,
        judge: Callable[[Schema, Any], bool],
        rules: Mapping[str, Expression] | None = None,
    ) -> None:
        self._text = text
        self._rules = rules or {}
        self._judge = judge

    def readings(self, expression: Expression) -> set[Captured]:
        """What each reading of the whole text captures: (name, text), in the order of the ends."""
        ends = self._from(expression, 0)
        return {captured for end, captured in ends if end == len(self._text)}

    def _from(self, expression: Expression, start: int) -> Iterator[tuple[int, Captured]]:
        text = self._text
        match expression:
            case Terminal(language=language) | Bounded(body=Terminal(language=language)):
                yield from ((end, ()) for end in self._terminal(language, start))
            case JsonValue(schema=schema):
                yield from ((end, ()) for end in self._value(schema, start))
            case SpecialToken(ids=ids):
                token = ord(text[start]) - SPECIAL if start < len(text) else -1
                if any(low <= token <= high for low, high in ids):
                    yield start + 1, ()
            case Concat(parts=parts):
                yield from self._series(parts, start)
            case Choice(options=options):
                for option in options:
                    yield from self._from(option, start)
            case Repeat(body=body, least=least, most=most):
                yield from self._repeated(body, least, most, start)
            case Capture(name=name, body=body, tail=tail, container=container):
                for end, captured in set(self._from(body, start)):
                    assert text[start:end].endswith(tail)
                    inside = text[start : end - len(tail)]
                    if container is not None and self._is_container(inside, container.schema):
                        yield end, (*captured, (container.name, inside))
                    else:
                        yield end, (*captured, (name, inside))
            case Ref(name=name):
                yield from self._from(self._rules[name], start)
            case Cut(body=body):  # the readings that it gives up are among the others
                yield from self._from(body, start)
            case Bounded():
                raise AssertionError("a text has no tokens that could be counted")
            case _:
                assert_never(expression)

    def _is_container(self, text: str, schema: Schema) -> bool:
        try:
            value = json.loads(text)
        except ValueError:
            return False
        return isinstance(value, list | dict) and self._judge(schema, value)

    def _terminal(self, language: Regular, start: int) -> Iterator[int]:
        """Where a string of the language may end; none of them holds a special token."""
        for end in range(start, len(self._text) + 1):
            if end > start and SPECIAL <= ord(self._text[end - 1]) < 0xF900:
                break
            if contains(language, self._text[start:end]):
                yield end

    def _value(self, schema: Schema, start: int) -> Iterator[int]:
        """Where a JSON value of the schema may end."""
        for end in range(start + 1, len(self._text) + 1):
            try:
                value = json.loads(self._text[start:end])
            except ValueError:
                continue
            if self._judge(schema, value):
                yield end

    def _series(self, parts: tuple[Expression, ...], start: int) -> Iterator[tuple[int, Captured]]:
        if not parts:
            yield start, ()
            return
        for middle, first in set(self._from(parts[0], start)):
            for end, rest in self._series(parts[1:], middle):
                yield end, (*first, *rest)

    def _repeated(
        self, body: Expression, least: int, most: int | None, start: int
    ) -> Iterator[tuple[int, Captured]]:
        if least == 0:
            yield start, ()
        if most == 0:
            return
        left = None if most is None else most - 1
        for middle, first in set(self._from(body, start)):
            if middle == start and least == 0:
                continue
            for end, rest in self._repeated(body, max(0, least - 1), left, middle):
                yield end, (*first, *rest)
