"""A shape that has been read and compiled for single bytes, as the commands about texts need it."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import NamedTuple

from maskwright.automaton.value.progress import PropertyOrder
from maskwright.cli.input.shapes import (
    GrammarArgument,
    Kind,
    SchemaArgument,
    Shape,
    compile_shape,
    read_shape,
)
from maskwright.cli.input.texts import bytes_of, text_argument
from maskwright.errors import GrammarError, InputError, SchemaError
from maskwright.mask import Grammar
from maskwright.vocab import Vocabulary
from maskwright.workbench.pointer import value_spans
from maskwright.workbench.position import TextPosition, position_of
from maskwright.workbench.reading import TextReading, byte_vocabulary, read_json, read_lines


class OpenedShape(NamedTuple):
    """A shape and its grammar."""

    shape: Shape
    grammar: Grammar

    @property
    def is_schema(self) -> bool:
        return isinstance(self.shape, SchemaArgument)

    def read(self, text: bytes) -> TextReading:
        """Read a text. Under a schema white space around it is ignored; under a grammar or a
        pattern one line break at its end."""
        return (read_json if self.is_schema else read_lines)(self.grammar, text)


def open_shape(
    argument: str,
    kind: Kind,
    property_order: PropertyOrder = "any",
    vocabulary: Vocabulary | None = None,
) -> OpenedShape:
    """Read and compile the shape that an argument names, for a vocabulary of its own unless one of
    single bytes is given, over which shapes share what is known of them. Raises InputError."""
    shape = read_shape(argument, kind)
    with located(shape):
        bytes_alone = vocabulary or byte_vocabulary()
        grammar = compile_shape(shape, bytes_alone, property_order=property_order)
    return OpenedShape(shape, grammar)


@contextmanager
def located(shape: Shape) -> Generator[None]:
    """Say in errors about a schema or grammar in which file, line and column they are; a schema's
    with a caret under the place, which those of grammars have already."""
    try:
        yield
    except SchemaError as error:
        if not isinstance(shape, SchemaArgument) or not shape.text:
            raise
        place = schema_position(shape.text, error.pointer)
        excerpt, caret = place.lines()
        where = f"{shape.name}:{place.line}:{place.column}"
        message = f"{where}: {error.message}\n  {excerpt}\n  {caret}"
        raise InputError(message, param=error.param, code=error.code) from None
    except GrammarError as error:
        if not isinstance(shape, GrammarArgument):
            raise
        where = f"{shape.name}:{error.line}:{error.column}"
        raise InputError(f"{where}: {error.message}", param=error.param) from None


def schema_position(text: str, pointer: str) -> TextPosition:
    """The place of what a pointer refers to in the text of a schema: of its name, if it is a
    member; of the innermost value around it that the text has, if it has none at the pointer."""
    spans = value_spans(text)
    while pointer not in spans:
        pointer = pointer.rpartition("/")[0]
    span = spans[pointer]
    start = span.start if span.name is None else span.name
    return position_of(text.encode(), len(text[:start].encode()))


def given_texts(shape: str, files: list[str], texts: list[str]) -> dict[str, bytes]:
    """The texts of the arguments FILES and of the options `--text`, by the name that stands for
    them in messages. Raises InputError where standard input is needed twice."""
    if [shape, *files].count("-") > 1:
        raise InputError("'-' is given more than once; standard input is read once", param="files")
    given = {file: bytes_of(file) for file in files}
    for number, text in enumerate(texts, 1):
        name = "--text" if len(texts) == 1 else f"--text {number}"
        given[name] = text_argument(text, "--text").encode()
    return given
