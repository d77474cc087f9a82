"""Files to which a command writes what it found."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from maskwright.errors import InputError

_OTHER_PICTURES: Final = frozenset(
    (".bmp", ".eps", ".gif", ".jpeg", ".jpg", ".pdf", ".png", ".ps", ".tiff", ".webp")
)
"""Suffixes of pictures that aren't SVG."""


def write_file(path: Path, text: str, param: str) -> None:
    """Write a file. Raises InputError if it can't be written."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"can't write {path}: {error.strerror}", param=param) from None


def check_picture(path: str, param: str) -> None:
    """Raise InputError for the name of a file whose suffix is that of another kind of picture: what
    shows it would not be able to read SVG."""
    suffix = Path(path).suffix.lower()
    if suffix in _OTHER_PICTURES:
        svg = Path(path).with_suffix(".svg")
        message = f"{path}: pictures are written as SVG, not as {suffix[1:].upper()}; name it {svg}"
        raise InputError(message, param=param)


def open_file(path: str) -> Path:
    """The path of a file, which is created. Raises InputError if it can't be written, which should
    be known before anything is measured."""
    try:
        Path(path).open("a").close()
    except OSError as error:
        raise InputError(f"can't write {path}: {error.strerror}") from None
    return Path(path)


def open_picture(path: str) -> Path:
    """As `open_file`, for a picture. Raises InputError for the suffix of another kind, too."""
    check_picture(path, "plot")
    return open_file(path)
