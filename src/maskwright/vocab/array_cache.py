"""A cache on disk for arrays that take long to compute and depend on a vocabulary alone.

One file holds one group of arrays: a line with the SHA-256 of the rest, a line of JSON that says
what the arrays are, then each array, from a multiple of 64 bytes on. It is written under another
name and then renamed, so that readers see a whole file or none, even if several processes write it.
Readers map it: the arrays are pages of the system's own copy of the file, which all processes
share, and can't be written to. A file that is truncated, damaged or of another version is ignored,
and its arrays are computed and written again. If the folder can't be written to, nothing is stored.
"""

from __future__ import annotations

import json
import mmap
import os
import re
import tempfile
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from maskwright.version import VERSION

FORMAT: Final = 2
"""The version of the format. It has to be increased when the meaning of the arrays changes."""

_ALIGNMENT: Final = 64
_DIGITS: Final = 2 * sha256().digest_size

Arrays = Mapping[str, npt.NDArray[Any]]


class ArrayCache:
    """The arrays of one vocabulary, identified by its digest, in a folder that many may share."""

    def __init__(self, folder: Path, digest: str) -> None:
        self._folder: Final = folder / f"{VERSION}-{FORMAT}" / digest

    def arrays(self, name: str, compute: Callable[[], Arrays]) -> Arrays:
        """Return the arrays stored under `name`. If there are none, compute and store them."""
        file = self._folder / name
        arrays = _read(file)
        if arrays is None:
            arrays = compute()
            _write(file, arrays)
        return arrays


def kept_files(folder: Path) -> list[Path]:
    """The files of all vocabularies and versions in a folder; what else is there is left out."""
    return [
        file
        for version in _folders(folder, r".+-\d+")
        for digest in _folders(version, r"[0-9a-f]{32}")
        for file in sorted(digest.iterdir())
        if file.is_file() and not file.is_symlink()
    ]


def _folders(folder: Path, names: str) -> list[Path]:
    """The folders in a folder whose names match; a link is none."""
    if not folder.is_dir():
        return []
    found = (each for each in folder.iterdir() if re.fullmatch(names, each.name))
    return sorted(each for each in found if each.is_dir() and not each.is_symlink())


def _read(file: Path) -> Arrays | None:
    """Return the arrays in a file; None if it is missing, damaged or of another version."""
    try:
        with file.open("rb") as stream:
            data = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):  # an empty file can't be mapped
        return None
    with memoryview(data) as whole, whole[_DIGITS + 1 :] as content:
        if data[: _DIGITS + 1] != sha256(content).hexdigest().encode() + b"\n":
            return None
    try:
        data.seek(_DIGITS + 1)
        described = json.loads(data.readline())
        arrays: dict[str, npt.NDArray[Any]] = {}
        at = data.tell()
        for name, (dtype, shape) in described.items():
            at += -at % _ALIGNMENT
            array = arrays[name] = np.ndarray(shape, dtype, data, at)
            at += array.nbytes
        return arrays
    except (ValueError, TypeError, AttributeError):
        return None


def _write(file: Path, arrays: Arrays) -> None:
    described = {name: (array.dtype.str, array.shape) for name, array in arrays.items()}
    line = json.dumps(described).encode() + b"\n"
    parts, at = [line], _DIGITS + 1 + len(line)
    for array in arrays.values():
        parts += [bytes(-at % _ALIGNMENT), array.tobytes()]
        at += len(parts[-2]) + len(parts[-1])
    data = b"".join(parts)
    unfinished: str | None = None
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, unfinished = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}-")
        with os.fdopen(handle, "wb") as stream:
            stream.write(sha256(data).hexdigest().encode() + b"\n" + data)
        Path(unfinished).replace(file)
    except OSError:
        if unfinished is not None:
            Path(unfinished).unlink(missing_ok=True)
