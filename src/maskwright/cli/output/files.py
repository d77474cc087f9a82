"""Files to which a command writes what it found."""

from __future__ import annotations

from pathlib import Path

from maskwright.errors import InputError


def write_file(path: Path, text: str, param: str) -> None:
    """Write a file. Raises InputError if it can't be written."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"can't write {path}: {error.strerror}", param=param) from None


def open_file(path: str) -> Path:
    """The path of a file, which is created. Raises InputError if it can't be written, which should
    be known before anything is measured."""
    try:
        Path(path).open("a").close()
    except OSError as error:
        raise InputError(f"can't write {path}: {error.strerror}") from None
    return Path(path)
