"""A server in a process of its own."""

from __future__ import annotations

import asyncio
import ctypes
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping, Sequence
from typing import Final

from maskwright.errors import InputError

PROGRAM: Final = (sys.executable, "-c", "from maskwright.cli import main; main()")

LINE_BYTES: Final = 1 << 20

STOP_SECONDS: Final = 15.0
"""Seconds that a replica without requests may take to end."""

PR_SET_PDEATHSIG: Final = 1


class ProcessReplica:
    """A replica that is a child process of this one."""

    def __init__(
        self,
        name: str,
        options: Sequence[str],
        environment: Mapping[str, str],
        host: str = "127.0.0.1",
    ) -> None:
        """`options`: for `serve`. `host`: the address to listen on, on a port that is free."""
        self._name = name
        # Later options replace earlier ones: one server, whatever the command was given.
        single = ("--no-ray", "--replicas", "1", "--prefill", "0", "--decode", "0")
        own = (*single, "--host", host, "--port", "0")
        self._command = [*PROGRAM, "serve", *options, *own]
        self._environment = environment
        self._process: Process | None = None
        self._readers: list[asyncio.Task[None]] = []

    async def start(self) -> tuple[str, str]:
        """Start the server. Returns its address without a path, and the process that it is, when it
        is ready. Raises InputError if it ends before."""
        self._process = process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=PIPE,
            stderr=PIPE,
            limit=LINE_BYTES,
            env=self._environment,
            preexec_fn=_end_with_parent,
            start_new_session=True,  # Ctrl-C is for this process, which then ends them
        )
        assert process.stdout is not None
        assert process.stderr is not None
        self._readers = [reader for reader in self._readers if not reader.done()]
        self._readers.append(asyncio.create_task(_tell(self._name, process.stderr)))
        first = (await process.stdout.readline()).decode()
        if not first.startswith("maskwright is ready"):
            code = await process.wait()
            raise InputError(
                f"a replica ended at its start with exit code {code}; see its log above"
            )
        self._readers.append(asyncio.create_task(_drop(process.stdout)))
        url = first.split()[-1].removesuffix("/v1")
        return url, f"process {process.pid}"

    async def ended(self) -> str:
        """Wait until the server has ended, and return how it did."""
        assert self._process is not None, "it has been started"
        return f"exit code {await self._process.wait()}"

    async def end(self) -> None:
        """End the server if it runs, by force if it takes longer than `STOP_SECONDS`."""
        process = self._process
        if process is None or process.returncode is not None:
            return
        process.send_signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(STOP_SECONDS):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()


async def _tell(name: str, stream: asyncio.StreamReader) -> None:
    """Pass on the log of a replica with its name before each line."""
    while line := await stream.readline():
        print(f"{name} {line.decode(errors='replace')}", end="", file=sys.stderr, flush=True)


async def _drop(stream: asyncio.StreamReader) -> None:
    while await stream.read(LINE_BYTES):
        pass


def _end_with_parent() -> None:
    """Have the system end this process when its parent is gone, even by SIGKILL."""
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl is not None:  # Linux has it
        prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
