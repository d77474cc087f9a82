"""Look after what Maskwright keeps in the user's cache: list it, verify it, or clear it.

Kept are the machine code of compiled functions, and tables that are computed once for each
vocabulary. Nothing in it is needed: what is missing or damaged is computed anew, which takes a
minute for all machine code. `verify` reads every file and compares it with its checksum.

Exit code: 0; 1 if `verify` finds a damaged file; 2 if a file can't be read or removed.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple

from maskwright import compiled
from maskwright.cli.arguments import Argument, Option
from maskwright.cli.options import JSON_HELP, USER_CACHE
from maskwright.cli.output.style import coloured
from maskwright.errors import InputError
from maskwright.vocab import array_cache

DAY: Final = 86_400


class KeptFiles(NamedTuple):
    """Files of one kind, and how a whole one is recognised."""

    name: str
    folder: Path
    files: tuple[Path, ...]
    is_whole: Callable[[Path], bool]


def cache(
    action: Annotated[Literal["list", "verify", "clear"], Argument(help="What is done.")],
    as_json: Annotated[bool, Option("--json", help=JSON_HELP)] = False,
) -> int:
    try:
        groups = [*_groups()]
        rows = [_row(group, action) for group in groups]
    except OSError as error:
        raise InputError(f"{error.filename}: {error.strerror}", param="cache") from None
    damaged = [file for row in rows for file in row["damaged"]]
    if as_json:
        print(json.dumps({"action": action, "groups": rows}, indent=2))
        return 1 if damaged else 0
    for row in rows:
        done = {"list": "", "verify": ", each as it was written", "clear": " removed"}[action]
        if row["damaged"]:
            done = f", {len(row['damaged'])} of them damaged"
        used = (
            "" if row["days_unused"] is None else f", last used {row['days_unused']:.0f} days ago"
        )
        told = f"{row['files']:,} files, {row['bytes'] / 2**20:.1f} MiB{done}"
        print(f"{row['name']}: {told}{used if action == 'list' else ''}, in {row['folder']}")
    for file in damaged:
        print(f"{coloured('damaged', 'red')}: {file}")
    return 1 if damaged else 0


def _groups() -> Iterator[KeptFiles]:
    code = compiled.cache_folder()
    if code is not None:
        files = tuple(_files(code)) if code.is_dir() else ()
        yield KeptFiles("machine code", code, files, compiled.is_whole)
    versions = [each for each in _folders(USER_CACHE) if each != code]
    tables = [file for each in versions for inner in _folders(each) for file in _files(inner)]
    yield KeptFiles("vocabulary tables", USER_CACHE, tuple(tables), array_cache.is_whole)


def _folders(folder: Path) -> Iterator[Path]:
    """The folders in a folder; a link is none."""
    if folder.is_dir():
        yield from sorted(p for p in folder.iterdir() if p.is_dir() and not p.is_symlink())


def _files(folder: Path) -> Iterator[Path]:
    yield from sorted(p for p in folder.iterdir() if p.is_file() and not p.is_symlink())


def _row(group: KeptFiles, action: str) -> dict[str, Any]:
    """What is known of a group, once the action has been done."""
    states = [state for file in group.files if (state := _state(file)) is not None]
    newest = max((state.st_mtime for state in states), default=None)
    damaged: list[str] = []
    if action == "verify":
        damaged = [str(file) for file in group.files if not group.is_whole(file)]
    elif action == "clear":
        _remove(group)
    return {
        "name": group.name,
        "folder": str(group.folder),
        "files": len(states),
        "bytes": sum(state.st_size for state in states),
        "days_unused": None if newest is None else max(0.0, (time.time() - newest) / DAY),
        "damaged": damaged,
    }


def _state(file: Path) -> Any:
    try:
        return file.stat()
    except FileNotFoundError:  # another process has removed it
        return None


def _remove(group: KeptFiles) -> None:
    for file in group.files:
        file.unlink(missing_ok=True)
    folders = {parent for file in group.files for parent in (file.parent, file.parent.parent)}
    for folder in sorted(folders, reverse=True):  # the inner ones first
        if folder != group.folder and folder.is_relative_to(group.folder):
            with suppress(OSError):  # one that holds something else stays
                folder.rmdir()
