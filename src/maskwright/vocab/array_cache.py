"""A cache on disk for arrays that take long to compute and depend on a vocabulary alone.

One file holds one group of arrays: a line with the SHA-256 of the rest, then a NumPy `.npz`. It is
written under another name and then renamed, so that readers see a whole file or none, even if
several processes write it. A file that is truncated, damaged or of another version is ignored, and
its arrays are computed and written again. If the folder can't be written to, nothing is stored.
"""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Callable, Mapping
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

FORMAT: Final = 1
"""The version of the format. It has to be increased when the meaning of the arrays changes."""

Arrays = Mapping[str, npt.NDArray[Any]]


class ArrayCache:
    """The arrays of one vocabulary, identified by its digest, in a folder that many may share."""

    def __init__(self, folder: Path, digest: str) -> None:
        self._folder: Final = folder / f"{_version()}-{FORMAT}" / digest

    def arrays(self, name: str, compute: Callable[[], Arrays]) -> Arrays:
        """Return the arrays stored under `name`. If there are none, compute and store them."""
        file = self._folder / name
        arrays = _read(file)
        if arrays is None:
            arrays = compute()
            _write(file, arrays)
        return arrays


def is_whole(file: Path) -> bool:
    """Whether a stored file has its checksum and can be read."""
    return _read(file) is not None


def _read(file: Path) -> Arrays | None:
    """Return the arrays in a file; None if it is missing, damaged or of another version."""
    try:
        data = file.read_bytes()
    except OSError:
        return None
    line, _, content = data.partition(b"\n")
    if line != sha256(content).hexdigest().encode():
        return None
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except (ValueError, OSError, KeyError, BadZipFile):
        return None


def _write(file: Path, arrays: Arrays) -> None:
    content = io.BytesIO()
    np.savez(content, **arrays)  # pyright: ignore[reportArgumentType] - names, not its own options
    data = content.getvalue()
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


def _version() -> str:
    try:
        return version("maskwright")
    except PackageNotFoundError:  # a checkout that is not installed
        return "0"
