"""Where in a schema or a grammar a text stands: what errors in its middle name."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

from maskwright.automaton.rules.contexts import RuleContexts
from maskwright.automaton.value.open_place import open_place
from maskwright.automaton.value.whitespace import WhitespaceName
from maskwright.errors import WHOLE_GRAMMAR, Construct
from maskwright.grammar.schema.options import Escapes, PropertyOrder
from maskwright.grammar.schema.places import has_pointer, pointer_at
from maskwright.grammar.schema.tree import Schema


class OneConstruct(NamedTuple):
    """The place of all texts of a grammar that has no parts."""

    construct: Construct

    def at(self, contexts: list[int], text: bytes) -> Construct:
        """The grammar itself."""
        return self.construct

    def has(self, pointer: str) -> bool:
        """False: there are no schemas."""
        return False


class SchemaConstructs(NamedTuple):
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


class RuleConstructs(NamedTuple):
    """Finds places in a grammar of rules, and in the schemas of its JSON values."""

    contexts: RuleContexts

    def at(self, contexts: list[int], text: bytes) -> Construct:
        """The rules that are being read, or the schema of a JSON value."""
        found = (self.contexts.construct(context) for context in contexts)
        return next((each for each in found if each is not None), WHOLE_GRAMMAR)

    def has(self, pointer: str) -> bool:
        """True: all contexts are the grammar's own."""
        return True
