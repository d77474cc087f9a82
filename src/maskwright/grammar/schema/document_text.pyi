"""The text of a document, written in one pass that checks it, and the schemas that stand in it.

Schemas with equal JSON have equal instances, because a keyword depends only on its schema object. A
reference depends on more. So the text of a schema in which no name begins with `$` is its *key*,
but for titles, descriptions and simple defaults, which assert nothing, and in which schemas differ
that are alike otherwise: what is computed for one schema can be used for all schemas with its key,
in one document or in two. Keys are cut out of the document's text when somebody asks for them.
"""

from __future__ import annotations

from typing import Any, Final

LARGE: Final[int]
"""The size in bytes from which on only a whole document has a key, not each schema in it: a key
copies the text once more for each level of nesting."""

class Vanished(float):
    """A number of a JSON text other than 0 that is 0 in double precision."""

class DocumentText:
    """A document as bytes that are equal for equal JSON, and what the pass over it has seen.

    The pass does without recursion, so that no depth can exhaust the stack, and nothing in it calls
    code of the document's values."""

    document: Final[object]
    text: Final[bytes | None]
    """None where the document isn't made of the very types that `json` makes."""
    nodes: Final[int]
    """The number of values; where it exceeds `most_nodes`, the pass ended there."""
    is_json: Final[bool]
    """Whether all values are JSON and none is nested deeper than `most_depth`. Numbers are finite:
    Python's `json` reads `NaN` and makes an infinity of `1e999`, and JSON has neither."""
    is_plain: Final[bool]
    """Whether there is neither null nor an object of a class of its own."""
    has_references: Final[bool]
    """Whether there may be a reference."""
    has_anchors: Final[bool]
    """Whether there may be an anchor, or a reference that isn't a pointer from the root."""

    def __init__(self, document: object, most_nodes: int, most_depth: int) -> None: ...
    def has_ids(self, name: str) -> bool:
        """Whether something below the root may have an identifier of its own, by the keyword `name`
        (`$id` or `id`)."""

def document_of(text: bytes, /) -> Any:
    """The document that a `DocumentText.text` was written from. Raises `RecursionError`."""

class SchemaText:
    """What a schema of the tree has of its document: its place and its text."""

    pointer: str
    never: bool
    """Whether it is the schema `false`."""
    number: Final[int]
    """Schemas are numbered in the order of their making."""

    def __init__(
        self, pointer: str, assertions: tuple[object, ...] = (), never: bool = False
    ) -> None: ...
    @property
    def key(self) -> bytes | None:
        """Equal for schemas whose JSON differs in annotations alone, if at all. None if the meaning
        may depend on anything outside of the schema: a reference, an anchor, a vocabulary."""
