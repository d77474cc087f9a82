"""An append-only file of JSON lines that survives a kill at any moment.

A line counts once it is on the disk with its line break. If the process or the machine stops while
a line is written, the file ends with a part of it: a torn line, which the next opening removes.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from maskwright.errors import InputError
from maskwright.json_faults import object_in

CHUNK: Final = 1 << 16
"""Bytes that are read at a time from the end of a file, to find its last line break."""


class Journal:
    """A file of JSON objects, one a line, that one process at a time appends to.

    `torn`: bytes of a torn last line that the opening removed.
    """

    def __init__(self, path: Path) -> None:
        """Open or create the file. Raises InputError if it can't be opened, or if another process
        has it open."""
        self.path = path
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        try:
            self._descriptor = os.open(path, flags, 0o644)
        except OSError as error:
            raise InputError(f"can't write {path}: {error.strerror}") from None
        try:
            self._lock()
            size = os.fstat(self._descriptor).st_size
            self._end = self._end_of_lines(size)
            self.torn = size - self._end
            if self.torn:
                os.ftruncate(self._descriptor, self._end)
            os.fsync(self._descriptor)
            sync_folder(path.parent)
        except BaseException:
            os.close(self._descriptor)
            raise

    def objects(self) -> Iterator[dict[str, Any]]:
        """Read all lines. Raises InputError for a line that is not a JSON object: the file was not
        written by a journal, or was changed."""
        with self.path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                value = object_in(line)
                if value is None:
                    raise InputError(f"{self.path}:{number}: this is not a line of results")
                yield value

    def append(self, lines: bytes) -> None:
        """Append whole lines, and return once they are on the disk. Raises OSError, after which
        the file has none of them."""
        rest = memoryview(lines)
        try:
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
            os.fsync(self._descriptor)
        except OSError:
            os.ftruncate(self._descriptor, self._end)
            raise
        self._end += len(lines)

    def clear(self) -> None:
        """Remove all lines."""
        os.ftruncate(self._descriptor, 0)
        os.fsync(self._descriptor)
        self._end = 0

    def close(self) -> None:
        """Close the file, which releases its lock. A second time has no effect."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _lock(self) -> None:
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(f"another process is writing {self.path}") from None

    def _end_of_lines(self, size: int) -> int:
        """The length of the file up to and including its last line break."""
        end = size
        while end > 0:
            start = max(0, end - CHUNK)
            found = os.pread(self._descriptor, end - start, start).rfind(b"\n")
            if found >= 0:
                return start + found + 1
            end = start
        return 0


def line_of(value: Mapping[str, object]) -> bytes:
    """The line of a JSON object, its line break included; what JSON can't express, such as a date,
    becomes its text. Half of a surrogate pair, which UTF-8
    can't express, makes the whole line ASCII with escapes."""
    try:
        return json.dumps(value, ensure_ascii=False, default=str).encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(value, default=str).encode() + b"\n"


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable, after files are made or renamed."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class GroupCommit:
    """The appending side of a journal for the tasks of one event loop.

    To synchronise a file takes milliseconds. While that happens in a thread, further lines gather,
    and are then written together (group commit, as databases write their logs).
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._waiting: list[tuple[bytes, asyncio.Future[None]]] = []
        self._writing: asyncio.Task[None] | None = None

    async def append(self, line: bytes) -> None:
        """Append one line, and return once it is on the disk. Raises OSError. A line whose task is
        cancelled meanwhile is written all the same."""
        written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((line, written))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write())
        await written

    async def settle(self) -> None:
        """Wait until no line is being written."""
        if self._writing is not None:
            await self._writing

    async def _write(self) -> None:
        while self._waiting:
            taken, self._waiting = self._waiting, []
            lines = b"".join(line for line, _ in taken)
            try:
                await asyncio.to_thread(self._journal.append, lines)
            except OSError as error:
                for _, written in taken:
                    if not written.done():
                        written.set_exception(error)
            else:
                for _, written in taken:
                    if not written.done():
                        written.set_result(None)


def replace_file(path: Path, data: bytes) -> None:
    """Replace a small file as a whole, and return once it is on the disk under its name: after a
    kill it is either the old or the new one."""
    beside = path.with_name(f"{path.name}.part")
    with beside.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
    sync_folder(path.parent)
