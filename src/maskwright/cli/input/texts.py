"""What a command is given: texts as arguments, in files or on standard input."""

from __future__ import annotations

import sys
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
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


def not_utf8(name: str, error: UnicodeDecodeError) -> str:
    """What is wrong with a text that isn't UTF-8, and what it is where its first bytes say that."""
    start = bytes(error.object[:2])
    if start in (BOM_UTF16_LE, BOM_UTF16_BE):
        return f"{name}: not UTF-8 but UTF-16, by its first bytes; save it as UTF-8"
    return f"{name}: not UTF-8 (byte {error.start})"


def refuse_twice(arguments: Sequence[str], param: str) -> None:
    """Raise InputError where standard input is needed twice."""
    if arguments.count("-") > 1:
        raise InputError("'-' is given more than once; standard input is read once", param=param)


def bytes_of(path: str) -> bytes:
    """The bytes of a file without a byte order mark; `-` is standard input. Raises InputError."""
    if not path:  # which Path takes for the folder that the command runs in
        raise InputError("the name of a file is empty; '-' is standard input", param="file")
    if path == "-":
        return sys.stdin.buffer.read().removeprefix(BOM_UTF8)
    try:
        return Path(path).read_bytes().removeprefix(BOM_UTF8)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}", param="file") from None
