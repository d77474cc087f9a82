"""Replaces a small file as a whole: after a kill it is either the old or the new one."""

from __future__ import annotations

import os
from pathlib import Path

from maskwright.records.journal import sync_folder


def replace_file(path: Path, data: bytes) -> None:
    """Write a file, and return once it is on the disk under its name."""
    beside = path.with_name(f"{path.name}.part")
    with beside.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
    sync_folder(path.parent)
