"""The rules of a tool's arguments, as one JSON object or as one parameter after another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from maskwright.grammar.regular.derivative import is_live
from maskwright.grammar.regular.terms import (
    ANYTHING,
    EMPTY,
    Regular,
    chars,
    complement,
    concat,
    intersection,
    words,
)
from maskwright.grammar.rules.tree import (
    Capture,
    ContainerCapture,
    Expression,
    JsonValue,
    Repeat,
    Terminal,
)
from maskwright.grammar.schema.tree import AllOf, Schema, TypeIs
from maskwright.grammar.shape.shape import Conjunction, ObjectShape, Shape
from maskwright.grammar.tags.free_text import text_until
from maskwright.grammar.tags.rules import choice, literal, series
from maskwright.grammar.tools.formats import ParameterStyle
from maskwright.grammar.tools.members import DeclaredMembers, object_schema
from maskwright.immutable import Immutable

_BRACKETED = concat(chars(((ord("["), ord("[")), (ord("{"), ord("{")))), ANYTHING)
_LITERALS = words(["true", "false", "null"])
_SCALARS = {
    "number": complement(_LITERALS),
    "boolean": words(["true", "false"]),
    "null": words(["null"]),
}
"""What the JSON of scalars looks like, by type."""
_CONTAINERS = TypeIs(frozenset(("array", "object")))


def _containers(value: Conjunction) -> Schema:
    """Return the schema of the arrays and objects in a conjunction."""
    return Schema("", (_CONTAINERS, AllOf(tuple(value))))


class Parameters(Immutable):
    """Translates arguments that are written as parameters: declared ones only, in the schema's
    order.

    A string is written verbatim, without quotes and escapes, so it can't contain the text that
    follows it. Any other value is JSON. A value is captured as `string:KEY` or `json:KEY`; a text
    that could be either is JSON.

    A style that writes the JSON type before each value leaves no doubt. Without one, where every
    string is allowed beside arrays or objects, every text is: whether it is JSON is
    seen when it has ended. Otherwise a text that begins with a bracket is JSON.
    """

    style: ParameterStyle
    special: Mapping[str, int]
    members: DeclaredMembers
    value: Callable[[Schema], JsonValue]
    """Returns the expression of an array or object with a schema."""

    def expression(self, schema: Schema) -> Expression:
        """Return the rules of all parameters. Raises `UnsupportedSchemaError` for schemas that
        can't be expressed in this way."""
        options: list[Expression] = [
            self._members(shape, schema)
            for shape in self._shape(frozenset([object_schema(schema)])).objects
        ]
        return choice(options)

    def _members(self, shape: ObjectShape, schema: Schema) -> Expression:
        self.members.check(shape, frozenset([schema]))
        parts: list[Expression] = []
        for at, (name, value) in enumerate(zip(shape.names, shape.values, strict=True)):
            one = self._parameter(name, value)
            parts.append(one if at in shape.required else Repeat(one, 0, 1))
        return series(*parts)

    def _shape(self, value: Conjunction) -> Shape:
        return self.members.shapes.normal_form(value)

    def _parameter(self, name: str, value: Conjunction) -> Expression:
        at = self.style.template.index("$value")
        tail = "".join(self.style.template[at + 1 :])
        if self.style.types:
            typed = [
                series(self._before(name, self.style.types[kind]), self._said(capture, said, tail))
                for kind, capture, said in self._by_type(name, value)
            ]
            return choice(typed)
        options = [self._said(f"json:{name}", one, tail) for one in self._json(value)]
        strings = self._strings(value)
        if strings is not EMPTY:
            shape = self._shape(value)
            container = None
            if (shape.arrays or shape.objects) and shape.strings is ANYTHING:
                container = ContainerCapture(f"json:{name}", _containers(value))
            options.append(self._said(f"string:{name}", Terminal(strings), tail, container))
        return series(self._before(name), choice(options))

    def _before(self, name: str, type: str = "") -> Expression:
        """Return what stands before a value."""
        template = self.style.template
        filled = {"$key": name, "$type": type}
        parts = (filled.get(part, part) for part in template[: template.index("$value")])
        return literal("".join(parts), self.special)

    def _by_type(self, name: str, value: Conjunction) -> Iterator[tuple[str, str, Expression]]:
        """Yield the JSON types of a value, each with the name of its capture and its texts."""
        shape = self._shape(value)
        if shape.strings is not EMPTY:
            yield "string", f"string:{name}", Terminal(shape.strings)
        for kind, language in _SCALARS.items():
            texts = intersection(shape.scalars, language)
            if is_live(texts):
                yield kind, f"json:{name}", Terminal(texts)
        for kind, found in (("array", shape.arrays), ("object", shape.objects)):
            if found:
                schema = Schema("", (TypeIs(frozenset([kind])), AllOf(tuple(value))))
                yield kind, f"json:{name}", self.value(schema)

    def _said(
        self, name: str, value: Expression, tail: str, container: ContainerCapture | None = None
    ) -> Expression:
        """Return a value and the text after it. If that is plain text, a string ends before it."""
        behind = literal(tail, self.special)
        if isinstance(behind, Terminal) and isinstance(value, Terminal):
            whole = intersection(concat(value.language, behind.language), text_until(tail))
            return Capture(name, Terminal(whole), tail, container)
        return series(Capture(name, value, container=container), behind)

    def _json(self, value: Conjunction) -> list[Expression]:
        """Return the expressions of numbers, literals, arrays and objects, as JSON."""
        shape = self._shape(value)
        spellings: list[Expression] = [] if shape.scalars is EMPTY else [Terminal(shape.scalars)]
        if self._has_containers(shape):
            spellings.append(self.value(_containers(value)))
        return spellings

    def _strings(self, value: Conjunction) -> Regular:
        """Return the strings that can't be read as another value."""
        shape = self._shape(value)
        language = shape.strings
        if shape.scalars is not EMPTY:
            language = intersection(language, complement(shape.scalars))
        if self._has_containers(shape):
            language = intersection(language, complement(_BRACKETED))
        return language

    def _has_containers(self, shape: Shape) -> bool:
        """Whether there are arrays or objects whose text can't be a string. If every string is
        allowed, theirs can."""
        return bool(shape.arrays or shape.objects) and shape.strings is not ANYTHING
