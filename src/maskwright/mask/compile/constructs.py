"""Where in a schema or a grammar a text stands: what errors in its middle name.

The beginning of a JSON text stands at a path of names and indexes, from which follows where in a
document the schema of that value stands.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Final

from msgspec.structs import astuple

from maskwright.automaton.rules.contexts import RuleContexts
from maskwright.automaton.value.whitespace import WhitespaceName
from maskwright.errors import WHOLE_GRAMMAR, Construct
from maskwright.grammar.regular.derivative import contains
from maskwright.grammar.schema.options import Escapes, PropertyOrder
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
from maskwright.immutable import Immutable

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
            queue |= dict.fromkeys(_schemas(astuple(assertion)))
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


def open_place(text: bytes) -> list[str | int]:
    """The names and indexes that lead to the innermost value of `text` that isn't complete: to the
    object itself, where a name comes next or is being read."""
    path: list[str | int] = []
    awaits_name = False
    at = 0
    while at < len(text):
        byte = text[at]
        if byte == ord('"'):
            end = _string_end(text, at)
            if end is None:
                break
            if awaits_name:
                path[-1], awaits_name = str(json.loads(text[at:end])), False
            at = end
            continue
        if byte in b"{[":
            path.append(0 if byte == ord("[") else "")
            awaits_name = byte == ord("{")
        elif byte in b"}]" and path:
            path.pop()
            awaits_name = False
        elif byte == ord(",") and path:
            last = path[-1]
            awaits_name = isinstance(last, str)
            path[-1] = last if isinstance(last, str) else last + 1
        at += 1
    return path[:-1] if awaits_name else path


def _string_end(text: bytes, at: int) -> int | None:
    """The index after the string that begins at `at`; None if it isn't complete."""
    at += 1
    while at < len(text):
        if text[at] == ord('"'):
            return at + 1
        at += 1 + (text[at] == ord("\\"))
    return None


class OneConstruct(Immutable):
    """The place of all texts of a grammar that has no parts."""

    construct: Construct

    def at(self, contexts: list[int], text: bytes) -> Construct:
        """The grammar itself."""
        return self.construct

    def has(self, pointer: str) -> bool:
        """False: there are no schemas."""
        return False


class SchemaConstructs(Immutable):
    """Finds places in a schema document. They follow from the text, since contexts are shared with
    equal schemas of other documents. The other fields say how instances are written; see
    `compile_json_schema`. `kind`: equal for schemas whose instances are written in one way."""

    root: Schema
    kind: Hashable
    property_order: PropertyOrder
    whitespace: WhitespaceName
    escapes: Escapes

    def at(self, contexts: list[int], text: bytes) -> Construct:
        """The schema of the innermost value that isn't complete."""
        return Construct.schema(pointer_at(self.root, open_place(text)))

    def has(self, pointer: str) -> bool:
        """Whether a schema of the document stands at a JSON Pointer."""
        return has_pointer(self.root, pointer)


class RuleConstructs(Immutable):
    """Finds places in a grammar of rules, and in the schemas of its JSON values."""

    contexts: RuleContexts

    def at(self, contexts: list[int], text: bytes) -> Construct:
        """The rules that are being read, or the schema of a JSON value."""
        found = (self.contexts.construct(context) for context in contexts)
        return next((each for each in found if each is not None), WHOLE_GRAMMAR)

    def has(self, pointer: str) -> bool:
        """True: all contexts are the grammar's own."""
        return True
