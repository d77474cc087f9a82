"""What may not slip into the repository: large files, and paths of somebody's machine."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LARGEST = 13 * 2**20
# An absolute path below one of these is of one machine only.
MACHINE_PATH = re.compile(r"(?<![\w.~}/-])/(?:home|root|work|Users)/\w")


def tracked_files() -> list[Path]:
    listing = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    return [path for name in listing.split("\0") if name and (path := ROOT / name).is_file()]


def test_no_file_is_larger_than_13_megabytes() -> None:
    sizes = {str(path.relative_to(ROOT)): path.stat().st_size for path in tracked_files()}
    assert {name: size for name, size in sizes.items() if size > LARGEST} == {}


def test_no_path_of_one_machine() -> None:
    found: list[str] = []
    for path in tracked_files():
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        found += [f"{path.relative_to(ROOT)}: {hit[0]}" for hit in MACHINE_PATH.finditer(text)]
    assert found == []
