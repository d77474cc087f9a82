"""The arguments of a tool, as JSON or one parameter after the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from maskwright.errors import UnsupportedSchemaError
from maskwright.grammar.regular.terms import (
    ANYTHING,
    EMPTY,
    Regular,
    chars,
    complement,
    concat,
    intersection,
)
from maskwright.grammar.rules.tree import (
    Capture,
    Choice,
    Expression,
    JsonValue,
    Repeat,
    Terminal,
)
from maskwright.grammar.schema.tree import AllOf, Schema, TypeIs
from maskwright.grammar.shape.shape import Conjunction, ObjectShape, Shape
from maskwright.grammar.shape.shapes import Shapes
from maskwright.grammar.tags.free_text import text_until
from maskwright.grammar.tags.rules import literal, series
from maskwright.grammar.tools.formats import Template

_BRACKETED = concat(chars(((ord("["), ord("[")), (ord("{"), ord("{")))), ANYTHING)
_CONTAINERS = TypeIs(frozenset(("array", "object")))


def object_schema(schema: Schema) -> Schema:
    """Objects that satisfy `schema`, which is what arguments are."""
    return Schema(schema.pointer, (TypeIs(frozenset(["object"])), AllOf((schema,))))


@dataclass(frozen=True, slots=True)
class Parameters:
    """Arguments written as parameters: declared ones only, in the order of the schema.

    A string stands there as it is, without quotes and escapes, and so the text after it can't be
    in it; any other value is JSON. A value is captured as `string:KEY` or `json:KEY`; what could be
    both is JSON.
    """

    template: Template
    special: Mapping[str, int]
    shapes: Shapes
    value: Callable[[Schema], JsonValue]
    """How arrays and objects are written."""

    def expression(self, schema: Schema) -> Expression:
        """Raises `UnsupportedSchemaError` for what can't be said parameter by parameter."""
        options: list[Expression] = [
            self._members(shape, schema)
            for shape in self.shapes.normal_form(frozenset([object_schema(schema)])).objects
        ]
        return options[0] if len(options) == 1 else Choice(tuple(options))

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
        at = self.template.index("$value")
        before = "".join(name if part == "$key" else part for part in self.template[:at])
        tail = "".join(self.template[at + 1 :])
        options = [self._said(f"json:{name}", one, tail) for one in self._json(value)]
        strings = self._strings(value)
        if strings is not EMPTY:
            options.append(self._said(f"string:{name}", Terminal(strings), tail))
        said = options[0] if len(options) == 1 else Choice(tuple(options))
        return series(literal(before, self.special), said)

    def _said(self, name: str, value: Expression, tail: str) -> Expression:
        """A value and what stands after it; where that is plain text, a string ends before it."""
        behind = literal(tail, self.special)
        if isinstance(behind, Terminal) and isinstance(value, Terminal):
            whole = intersection(concat(value.language, behind.language), text_until(tail))
            return Capture(name, Terminal(whole), tail=tail)
        return series(Capture(name, value), behind)

    def _json(self, value: Conjunction) -> list[Expression]:
        """Numbers, literals, arrays and objects, as JSON."""
        shape = self.shapes.normal_form(value)
        spellings: list[Expression] = [] if shape.scalars is EMPTY else [Terminal(shape.scalars)]
        if self._has_containers(shape):
            spellings.append(self.value(Schema("", (_CONTAINERS, AllOf(tuple(value))))))
        return spellings

    def _strings(self, value: Conjunction) -> Regular:
        """Strings that can't be taken for other values."""
        shape = self.shapes.normal_form(value)
        language = shape.strings
        if shape.scalars is not EMPTY:
            language = intersection(language, complement(shape.scalars))
        if self._has_containers(shape):
            language = intersection(language, complement(_BRACKETED))
        return language

    def _has_containers(self, shape: Shape) -> bool:
        """Where any text will do as a string, that is what an array's is."""
        return bool(shape.arrays or shape.objects) and shape.strings is not ANYTHING
