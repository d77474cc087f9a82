"""A cache of arrays on disk, for what takes long to compute and follows from a vocabulary alone.

One file holds one group of arrays: a line with the SHA-256 of the rest, then a NumPy `.npz`. It is
written under another name and then renamed, so that readers see a whole file or none, even if
several processes write it. A file that is truncated, damaged or of another version is ignored: its
arrays are computed and written again. A folder that can't be written to costs time, nothing else.
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
"""Has to be changed whenever the meaning of the arrays changes."""

Arrays = Mapping[str, npt.NDArray[Any]]


class ArrayCache:
    """The arrays of one vocabulary, identified by its digest, in a folder that many may share."""

    def __init__(self, folder: Path, digest: str) -> None:
        self._folder: Final = folder / f"{_version()}-{FORMAT}" / digest

    def arrays(self, name: str, compute: Callable[[], Arrays]) -> Arrays:
        """The arrays stored under `name`; if none are, those of `compute`, which are stored."""
        file = self._folder / name
        arrays = _read(file)
        if arrays is None:
            arrays = compute()
            _write(file, arrays)
        return arrays


def _read(file: Path) -> Arrays | None:
    """The arrays in a file; None if the file is missing or can't be trusted."""
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
