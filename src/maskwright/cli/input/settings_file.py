"""The file of settings of a command: `serve --config FILE`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path

from maskwright.cli.input.spelling import nearest
from maskwright.errors import InputError


def read_settings(path: str, known: Iterable[str]) -> list[tuple[str, object, str]]:
    """Read a TOML file whose keys are among `known`: the name of each, its value, and its place,
    `FILE:LINE`. Raises InputError for a file that can't be read and for another key, with its place
    and the name that is like it."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"can't read {path}: {error.strerror}", param="config") from None
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} is no UTF-8: byte {error.start} is wrong", param="config"
        ) from None
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: {error}", param="config") from None
    names = list(known)
    entries: list[tuple[str, object, str]] = []
    for name, value in table.items():
        place = f"{path}:{_line(text, name)}"
        if name not in names:
            near = nearest(name.replace("_", "-"), names)
            hint = f"did you mean {near}?" if near else "--help lists the settings"
            raise InputError(f"{place}: there is no setting {name}; {hint}", param="config")
        entries.append((name, value, place))
    return entries


def _line(text: str, name: str) -> int:
    """The line of a key: `name = …`, `"name" = …` or `[name]`. The parser doesn't say."""
    key = rf"[\"']?{re.escape(name)}[\"']?"
    found = re.search(rf"^[ \t]*(?:\[[ \t]*)?{key}[ \t]*[=\].]", text, re.MULTILINE)
    return 1 if found is None else text.count("\n", 0, found.start()) + 1
