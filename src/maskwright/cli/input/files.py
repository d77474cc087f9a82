"""The files in which the shapes stand that arguments name: those of folders, and of one shape."""

from __future__ import annotations

import inspect
import os
import sys
from pathlib import Path
from typing import Final

from maskwright.cli.input.python_type import find_type, is_type_name
from maskwright.cli.input.shapes import SUFFIXES
from maskwright.cli.input.texts import YAML, refuse_twice
from maskwright.errors import InputError
from maskwright.immutable import Immutable

SHAPE_SUFFIXES: Final = frozenset({".json", ".regex", *YAML, *SUFFIXES})
"""The suffixes of files that are read as shapes where a folder is given."""
MOST_ENTRIES: Final = 100_000
"""Files and folders within a folder that are looked at; one with more was hardly meant."""


def shapes_named(arguments: list[str]) -> list[str]:
    """The arguments, in place of each folder the files in it that are shapes by their suffix, in
    the order of their paths; what begins with a point is left out. Raises InputError for a folder
    without shapes, for one of too many files, and where standard input is needed twice."""
    refuse_twice(arguments, "shapes")
    found: list[str] = []
    for argument in arguments:
        if not argument or not Path(argument[:255]).is_dir():  # Path("") is the working directory
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
        if Path(path[-255:]).is_file():
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
