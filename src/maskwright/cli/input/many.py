"""Many shapes: the files that arguments name, and those in folders."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from maskwright.cli.input.shapes import SUFFIXES
from maskwright.cli.input.texts import YAML
from maskwright.errors import InputError

SHAPE_SUFFIXES: Final = frozenset({".json", ".regex", *YAML, *SUFFIXES})
"""The suffixes of files that are read as shapes where a folder is given."""


def shapes_named(arguments: list[str]) -> list[str]:
    """The arguments, in place of each folder the files in it that are shapes by their suffix, in
    the order of their paths; what begins with a point is left out. Raises InputError for a folder
    without shapes, and where standard input is needed twice."""
    if arguments.count("-") > 1:
        raise InputError("'-' is given more than once; standard input is read once", param="shapes")
    found: list[str] = []
    for argument in arguments:
        if not Path(argument[:255]).is_dir():
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
    for here, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        named = (name for name in files if not name.startswith("."))
        found += [os.path.join(here, name) for name in named if Path(name).suffix in SHAPE_SUFFIXES]
    return sorted(found)
