"""The file in which a shape stands that an argument names."""

from __future__ import annotations

import inspect
import os
import sys
from pathlib import Path
from typing import NamedTuple

from maskwright.cli.input.python_type import find_type, is_type_name
from maskwright.errors import InputError


class SourceFile(NamedTuple):
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
