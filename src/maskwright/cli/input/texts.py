"""What a command is given: texts as arguments, in files or on standard input."""

from __future__ import annotations

import sys
from codecs import BOM_UTF8
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from maskwright.errors import InputError

YAML: Final = (".yaml", ".yml")
"""The suffixes of files in YAML."""


def text_argument(argument: str, param: str) -> str:
    """An argument of the command line. Raises InputError if it isn't UTF-8: Python represents bytes
    that aren't by surrogates."""
    if not argument.isascii() and any("\udc80" <= character <= "\udcff" for character in argument):
        raise InputError(f"{param} is not UTF-8", param=param)
    return argument


def refuse_twice(arguments: Sequence[str], param: str) -> None:
    """Raise InputError where standard input is needed twice."""
    if arguments.count("-") > 1:
        raise InputError("'-' is given more than once; standard input is read once", param=param)


def bytes_of(path: str) -> bytes:
    """The bytes of a file without a byte order mark; `-` is standard input. Raises InputError."""
    if path == "-":
        return sys.stdin.buffer.read().removeprefix(BOM_UTF8)
    try:
        return Path(path).read_bytes().removeprefix(BOM_UTF8)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}", param="file") from None
