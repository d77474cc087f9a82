"""What the library says of a schema and of a text, without a vocabulary."""

from __future__ import annotations

from typing import Literal

from maskwright.errors import InputError
from maskwright.grammar.schema.document import loaded
from maskwright.grammar.schema.tree import SchemaSource
from maskwright.immutable import Immutable
from maskwright.mask import Grammar, compile_json_schema
from maskwright.workbench.continuations import in_words
from maskwright.workbench.pointer import position_of
from maskwright.workbench.reading import Verdict, byte_vocabulary, read_json, read_text
from maskwright.workbench.schema.explain import ExplainedKeyword, explain_schema

__all__ = ["ExplainedKeyword", "Validation", "explain", "validate"]


class Validation(Immutable):
    """Whether a text has a shape, which is also its truth. `verdict`: "incomplete" is the beginning
    of a text that has it. For a text that doesn't: the place up to which it is allowed, as line and
    column, both counted from 1, and what would be allowed there."""

    verdict: Literal["match", "mismatch", "incomplete"]
    line: int | None = None
    column: int | None = None
    expected: str | None = None

    def __bool__(self) -> bool:
        return self.verdict == "match"


def explain(schema: SchemaSource) -> list[ExplainedKeyword]:
    """Say of each keyword of a schema whether it is enforced, an annotation, or refused: a row for
    each, in the order of the schema, with its JSON Pointer and a note where one is needed.

    `schema`: a dict, a bool, JSON text, the `pathlib.Path` of a file, or a class of pydantic.
    Raises `SchemaError` for what is no schema at all, and `LimitError`.
    """
    return explain_schema(loaded(schema))


def validate(shape: SchemaSource | Grammar, text: str | bytes) -> Validation:
    """Say whether a text has a shape: a schema, as `explain` takes it, or any grammar.

    Under a schema, properties may come in any order, and white space around the text is ignored;
    under a grammar every character counts. Raises the errors of `compile_json_schema` for a schema
    that can't be used, and `InputError` for a text that is none.
    """
    if isinstance(text, str):
        data = text.encode("utf-8", "surrogatepass")
    elif isinstance(text, bytes):  # pyright: ignore[reportUnnecessaryIsInstance]
        data = text
    else:
        raise InputError(f"text is {type(text).__name__}; it must be str or bytes", param="text")
    if isinstance(shape, Grammar):
        reading = read_text(shape, data)
    else:
        grammar = compile_json_schema(shape, byte_vocabulary(), property_order="any")
        reading = read_json(grammar, data)
    if reading.verdict is Verdict.MATCH:
        return Validation("match")
    place = position_of(reading.text, reading.fault)
    verdict = "mismatch" if reading.verdict is Verdict.MISMATCH else "incomplete"
    expected = in_words(reading.characters, reading.may_end)
    return Validation(verdict, place.line, place.column, expected)
