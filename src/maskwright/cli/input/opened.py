"""A shape that has been read and compiled for single bytes, as the commands about texts need it."""

from __future__ import annotations

from typing import NamedTuple

from maskwright.cli.input.shapes import SchemaArgument, Shape, compile_shape, read_shape
from maskwright.cli.input.texts import bytes_of, refuse_twice, text_argument
from maskwright.grammar.schema.options import PropertyOrder
from maskwright.mask import Grammar
from maskwright.vocab import Vocabulary
from maskwright.workbench.choices import Kind
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
    bytes_alone = vocabulary or byte_vocabulary()
    grammar = compile_shape(shape, bytes_alone, property_order=property_order)
    return OpenedShape(shape, grammar)


def given_texts(shape: str, files: list[str], texts: list[str]) -> dict[str, bytes]:
    """The texts of the arguments FILES and of the options `--text`, by the name that stands for
    them in messages. Raises InputError where standard input is needed twice."""
    refuse_twice([shape, *files], "files")
    given = {file: bytes_of(file) for file in files}
    for number, text in enumerate(texts, 1):
        name = "--text" if len(texts) == 1 else f"--text {number}"
        given[name] = text_argument(text, "--text").encode()
    return given
