"""Keywords that most schemas have; the time for others, as in `container_keywords`, matters less.

They are read by compiled code, and nothing else is special about them.
"""

from __future__ import annotations

from typing import Final

from maskwright.grammar.schema.schema_object import KeywordReader, SchemaObject
from maskwright.grammar.schema.tree import Assertion, Json

COMMON_KEYWORDS: Final[dict[str, KeywordReader]]

def read_reference(source: SchemaObject, setting: Json, place: str) -> list[Assertion]:
    """The reader of `$ref`."""
