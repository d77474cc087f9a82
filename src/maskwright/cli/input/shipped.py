"""The schemas and grammars that ship with the package, by name.

Wherever a command takes a file with a schema or a grammar, it takes such a name as well: `invoice`
is `schemas/invoice.json`, `json` is `grammars/json.lark`. A file of that name in the current folder
comes first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from os.path import exists, isfile  # of what is too long for the name of a file, they say no
from pathlib import Path
from typing import Final

from maskwright.cli.input.texts import YAML, bytes_of
from maskwright.errors import InputError
from maskwright.shipped import KINDS, Shipped, ShippedKind, shipped

SHAPE_SUFFIXES: Final = frozenset([".json", *YAML, ".lark", ".gbnf", ".ebnf", ".regex"])
"""The suffixes of files that are read as shapes where a folder is given."""
_LIKE: Final = 0.8
"""The ratio of `difflib` from which on the name of a file is like another."""
_PATTERN: Final = re.compile(r"[\[\](){}*+?^$|\\]")
"""What hardly any name of a file has, and most patterns."""
_NAME: Final = re.compile(r"[a-z0-9]+([_-][a-z0-9]+)*")


def named(argument: str) -> Shipped | None:
    """What ships under this name; None if nothing does, or if a file has it."""
    if _NAME.fullmatch(argument) is None or isfile(argument):
        return None
    return next((shipped(kind)[argument] for kind in KINDS if argument in shipped(kind)), None)


def read_file_or_shipped(argument: str, kinds: Sequence[ShippedKind]) -> bytes:
    """The bytes of a file, or of what ships under the name, if it is one of `kinds`.

    Raises InputError: for what is neither, with the names that are like it.
    """
    entry = named(argument)
    if entry is not None and entry.kind in kinds:
        return entry.file.read_bytes()
    try:
        return bytes_of(argument)
    except InputError as error:
        if exists(argument):
            raise
        raise InputError(f"{error}{_way_out(argument, entry, kinds)}", param=error.param) from None


def listed(kinds: Sequence[ShippedKind] = KINDS) -> str:
    """Every name, in words."""
    return "; ".join(f"{kind}s {', '.join(shipped(kind))}" for kind in kinds)


def _file_like(argument: str) -> str | None:
    """The file that has the name of an argument with a suffix of shapes, or one that is like it."""
    path = Path(argument[-255:])
    try:
        there = [each.name for each in path.parent.iterdir() if each.suffix in SHAPE_SUFFIXES]
    except OSError:
        return None
    likely = [name for name in sorted(there) if Path(name).stem == path.name]
    likely = likely or get_close_matches(path.name, there, n=1, cutoff=_LIKE)
    return str(path.parent / likely[0]) if likely else None


def _way_out(argument: str, entry: Shipped | None, kinds: Sequence[ShippedKind]) -> str:
    """What to say of an argument that is no file; `entry` ships under this name, but is of another
    kind."""
    if entry is not None:
        needed = f"a {kinds[0]} is needed here" if kinds else "it is written in Lark"
        return f"; the {entry.kind} {argument} ships, but {needed}"
    if (file := _file_like(argument)) is not None:
        return f"; did you mean the file {file}?"
    if {*kinds} == {*KINDS} and _PATTERN.search(argument):
        return f"; a pattern stands between slashes ('/{argument}/'), or after --kind regex"
    known = [name for kind in kinds for name in shipped(kind)]
    near = get_close_matches(Path(argument).stem.lower(), known, n=3)
    if near:
        return f"; nothing ships under that name either. Did you mean {' or '.join(near)}?"
    if not kinds or _NAME.fullmatch(argument.lower()) is None:
        return ""
    return f"; nothing ships under that name either. There are the {listed(kinds)}"
