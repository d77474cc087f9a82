"""One schema object while it is read, and what all objects of a document share meanwhile.

A keyword's reader gets the `SchemaObject` that the keyword stands in. It asks it for neighbouring
keywords and for subschemas. Subschemas are handed out before they have been read and filled in
later from a queue, so that neither recursion in a document nor its depth is a problem.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from maskwright.grammar.regular.terms import Regular
from maskwright.grammar.schema.document_text import DocumentText
from maskwright.grammar.schema.drafts import Draft, SchemaDialect
from maskwright.grammar.schema.parse_options import ParseOptions
from maskwright.grammar.schema.references import References
from maskwright.grammar.schema.registry import Resolver
from maskwright.grammar.schema.remarks import Remark
from maskwright.grammar.schema.tree import Assertion, Entries, Json, Schema

Visit = int | tuple[int, object, bool]
"""What decides the meaning of a schema object: the identity of the JSON object; where they make a
difference, its dynamic scope and `closed` of `ParseOptions` too."""

class DocumentParser:
    """What the schema objects of one document share while they are read."""

    options: Final[ParseOptions]
    references: Final[References]
    enforced: Final[Entries]
    annotations: Final[Entries]
    text: DocumentText | None
    """Where schemas find their keys; None where their text doesn't decide what they mean."""
    schemas: Final[dict[Visit, Schema]]
    """A schema is entered here before it is read."""
    referenced: Final[dict[str, list[Assertion]]]
    """What references assert, where they mean the same everywhere in the document."""
    met_again: Final[dict[Schema, None]]
    """The schemas that were met more than once. Every circle has one: the schemas that are met for
    the first time in one that is read are a tree."""
    choices: float
    """The product of the numbers of options of all unions in the document."""
    widest: int
    """The number of options of the longest `oneOf`."""
    options_read: int
    """The number of options of all unions in the document."""
    negates: bool
    """Whether there is a `not`."""
    intricate: bool
    """Whether there is a keyword that may exceed a limit by itself."""
    waiting: list[SchemaObject]
    """Schema objects that have been handed out and not been read yet."""

    def __init__(self, options: ParseOptions, references: References) -> None: ...
    def schema(
        self,
        value: Json,
        pointer: str,
        dialect: SchemaDialect,
        resolver: Resolver | None,
        entered: bool = False,
        closed: bool = False,
    ) -> Schema:
        """The schema of a subdocument; each is read once for each dynamic scope.

        `entered`: whether the resolver has entered the subdocument already. `closed`: see
        `ParseOptions`. Raises `SchemaError` for what can be no schema.
        """

    def read(self, readers: Mapping[str, KeywordReader]) -> None:
        """Read all schemas that have been handed out, and those that these hand out. `readers`: for
        each keyword that asserts something in some draft.

        Raises `SchemaError` and its subclasses, `LimitError`."""

class SchemaObject:
    """One schema object: its keywords, its place in the document, and its draft."""

    parser: Final[DocumentParser]
    value: Final[Mapping[str, Json]]
    pointer: Final[str]
    dialect: Final[SchemaDialect]
    resolver: Final[Resolver | None]
    closed: Final[bool]
    """See `ParseOptions`; false within conditions, which say nothing of the members of a value."""
    schema: Final[Schema]
    """What asserts what the keywords do, after they have been read."""

    def __init__(
        self,
        parser: DocumentParser,
        value: Mapping[str, Json],
        pointer: str,
        dialect: SchemaDialect,
        resolver: Resolver | None,
        closed: bool = False,
    ) -> None: ...
    @property
    def draft(self) -> Draft: ...
    def has(self, keyword: str) -> bool:
        """Whether the object has a keyword that asserts something in its draft."""

    def place(self, keyword: str) -> str:
        """The JSON Pointer of one of the object's keywords."""

    def child(self, setting: Json, place: str) -> Schema:
        """The subschema `setting`, which stands at `place`."""

    def condition(self, setting: Json, place: str) -> Schema:
        """The subschema `setting`, which a value may also fail to satisfy."""

    def items(self, settings: list[Json], place: str) -> tuple[Schema, ...]:
        """The subschemas of an array."""

    def children(self, setting: Json, place: str) -> tuple[Schema, ...]:
        """The subschemas of a non-empty array."""

    def optional(self, keyword: str) -> Schema:
        """The subschema in `keyword`; without that keyword, the schema of all values."""

    def pattern(self, setting: Json, place: str) -> Regular:
        """The strings that contain a match of a pattern, which stands at `place`."""

KeywordReader = Callable[[SchemaObject, Json, str], list[Assertion] | Remark]
"""Reads one keyword: from its schema object, its setting and its JSON Pointer to its assertions, or
to a remark if it turns out to be an annotation. Raises `SchemaError` with the pointer."""
