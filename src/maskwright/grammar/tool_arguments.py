"""The arguments of a tool, as JSON or one parameter after the other."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from maskwright.errors import UnsupportedSchemaError
from maskwright.grammar.derivative import contains
from maskwright.grammar.free_text import text_until
from maskwright.grammar.regular import (
    ANYTHING,
    EMPTY,
    alt,
    both,
    concat,
    words,
)
from maskwright.grammar.rules import (
    Capture,
    Choice,
    Expression,
    JsonValue,
    Repeat,
    Terminal,
)
from maskwright.grammar.schema import AllOf, Json, Schema, TypeIs
from maskwright.grammar.shape import Conjunction, ObjectShape, Shape, Shapes
from maskwright.grammar.tag_rules import literal, series
from maskwright.grammar.tool_format import Template

_CONTAINERS = TypeIs(frozenset(("array", "object")))


def json_arguments(schema: Schema) -> JsonValue:
    """One JSON object."""
    return JsonValue(_object(schema))


def _object(schema: Schema) -> Schema:
    return Schema(schema.pointer, (TypeIs(frozenset(["object"])), AllOf((schema,))))


@dataclass(frozen=True, slots=True)
class Parameters:
    """Arguments written as parameters: declared ones only, in the order of the schema.

    A string stands there as it is, without quotes and escapes, and so the text behind it can't be
    in it; any other value is JSON.
    """

    template: Template
    special: Mapping[str, int]
    shapes: Shapes

    def expression(self, schema: Schema) -> Expression:
        """Raises `UnsupportedSchemaError` for what can't be said parameter by parameter."""
        options: list[Expression] = [
            self._members(shape, schema)
            for shape in self.shapes.of(frozenset([_object(schema)])).objects
        ]
        return _any(tuple(options))

    def _members(self, shape: ObjectShape, schema: Schema) -> Expression:
        self._check(shape, schema)
        parts: list[Expression] = []
        for at, (name, value) in enumerate(zip(shape.names, shape.values, strict=True)):
            one = self._parameter(name, value)
            parts.append(one if at in shape.required else Repeat(one, 0, 1))
        return series(*parts)

    def _check(self, shape: ObjectShape, schema: Schema) -> None:
        if shape.some:
            raise self._refusal(schema, "a condition on some member")
        if shape.least > len(shape.required):
            raise self._refusal(schema, "minProperties beyond the required ones")
        if shape.most is not None and shape.most < len(shape.names):
            raise self._refusal(schema, "maxProperties below the number of properties")

    def _refusal(self, schema: Schema, what: str) -> UnsupportedSchemaError:
        return UnsupportedSchemaError(
            f"{what} can't be enforced on arguments that are written one by one; use a tool "
            "format with JSON arguments",
            pointer=schema.pointer,
        )

    def _parameter(self, name: str, value: Conjunction) -> Expression:
        at, key = self.template.index("$value"), f"parameter:{name}"
        before = "".join(name if part == "$key" else part for part in self.template[:at])
        tail = "".join(self.template[at + 1 :])
        behind = literal(tail, self.special)
        if isinstance(behind, Terminal):
            said = Capture(key, self._value_and(tail, value), tail=tail)
        else:
            said = series(Capture(key, self._value(value)), behind)
        return series(literal(before, self.special), said)

    def _value_and(self, tail: str, value: Conjunction) -> Expression:
        """A value and the text behind it, which can't stand in it."""
        shape = self.shapes.of(value)
        end = words([tail])
        text = both(concat(shape.strings, end), text_until(tail))
        plain = alt(text, concat(shape.scalars, end))
        options = [] if plain is EMPTY else [Terminal(plain)]
        containers = [series(one, Terminal(end)) for one in self._containers(value)]
        return _any((*options, *containers))

    def _value(self, value: Conjunction) -> Expression:
        shape = self.shapes.of(value)
        plain = alt(shape.strings, shape.scalars)
        options = [] if plain is EMPTY else [Terminal(plain)]
        return _any((*options, *self._containers(value)))

    def _containers(self, value: Conjunction) -> list[Expression]:
        """Arrays and objects; where any text will do, they are no less than that."""
        shape = self.shapes.of(value)
        if shape.strings is ANYTHING or not (shape.arrays or shape.objects):
            return []
        return [JsonValue(Schema("", (_CONTAINERS, AllOf(tuple(value)))))]


def _any(options: tuple[Expression, ...]) -> Expression:
    return options[0] if len(options) == 1 else Choice(options)


def parameter_value(text: str, shape: Shape) -> Json:
    """What a parameter's text says: the number, literal or container that it spells, if its value
    may be one, or else a string."""
    if contains(shape.scalars, text):
        return json.loads(text)
    if (shape.arrays or shape.objects) and text[:1] in ("[", "{"):
        try:
            return json.loads(text)
        except ValueError:
            pass
    return text
