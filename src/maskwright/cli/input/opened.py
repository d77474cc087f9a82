"""A shape that has been read and compiled for single bytes, as the commands about texts need it;
and the shapes that arguments name: all files of a folder, and the file in which one stands.
"""

from __future__ import annotations

import inspect
import os
import sys
from os.path import isdir, isfile  # of what is too long for a name, they say no
from pathlib import Path
from typing import Final, NamedTuple

from maskwright.cli.input.python_type import find_type, is_type_name
from maskwright.cli.input.shapes import SchemaArgument, Shape, compile_shape, read_shape
from maskwright.cli.input.shipped import SHAPE_SUFFIXES
from maskwright.cli.input.texts import bytes_of, refuse_twice, text_argument
from maskwright.errors import InputError
from maskwright.grammar.schema.options import PropertyOrder
from maskwright.immutable import Immutable
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


MOST_ENTRIES: Final = 100_000
"""Files and folders within a folder that are looked at; one with more was hardly meant."""


def shapes_named(arguments: list[str]) -> list[str]:
    """The arguments, in place of each folder the files in it that are shapes by their suffix, in
    the order of their paths; what begins with a point is left out. Raises InputError for a folder
    without shapes, for one of too many files, and where standard input is needed twice."""
    refuse_twice(arguments, "shapes")
    found: list[str] = []
    for argument in arguments:
        if not isdir(argument):
            found.append(argument)
            continue
        inside = [*_files(argument)]
        if not inside:
            suffixes = ", ".join(sorted(SHAPE_SUFFIXES))
            raise InputError(f"the folder {argument} has no files {suffixes}", param="shapes")
        found += inside
    return list(dict.fromkeys(found))


def _files(folder: str) -> list[str]:
    found: list[str] = []
    entries = 0
    for here, folders, files in os.walk(folder):
        entries += len(folders) + len(files)
        if entries > MOST_ENTRIES:
            raise InputError(
                f"the folder {folder} has more than {MOST_ENTRIES:,} files and folders: name the "
                "folders in it that have the shapes",
                param="shapes",
            )
        folders[:] = [name for name in folders if not name.startswith(".")]
        named = (name for name in files if not name.startswith("."))
        found += [os.path.join(here, name) for name in named if Path(name).suffix in SHAPE_SUFFIXES]
    return sorted(found)


class SourceFile(Immutable):
    """A file, relative to the working directory if it is below it. `line`: where the shape begins
    in it, if places in the text of the shape are no places in the file."""

    path: str
    line: int | None = None


def source_file(argument: str) -> SourceFile | None:
    """The file of a shape; the argument may name a part of it or a Python type. None for a shape
    that stands in no file."""
    for path in (argument, argument.partition("#/")[0]):
        if isfile(path):
            return SourceFile(_here(path))
    if not is_type_name(argument):
        return None
    try:
        wanted = find_type(argument)
    except InputError:
        return None
    file = sys.modules[argument.partition(":")[0]].__file__
    try:
        _, line = inspect.getsourcelines(wanted)
    except (OSError, TypeError):  # it has no source, or is no class
        line = 1
    return None if file is None else SourceFile(_here(file), line)


def _here(path: str) -> str:
    near = os.path.relpath(path)
    return path if near.startswith(os.pardir) else Path(near).as_posix()
