"""The engine's side of the nursery: starts it, and has it fork grammar processes."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.reduction import send_handle
from pathlib import Path
from typing import Final

from maskwright.processes.worker import Terms
from maskwright.vocab import Vocabulary

_ENVIRONMENT: Final = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
}
"""A process that is forked may have one thread only."""


class Nest:
    """A nursery, which is started when it is first needed, and again if it has ended. Not
    thread-safe."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None

    def fork(self, terms: Terms) -> tuple[Connection, int]:
        """A new grammar process: the connection to it, and its system's number."""
        for _ in range(2):
            connection = self._connection or self._begin()
            ours, theirs = socket.socketpair()
            try:
                connection.send(terms)
                assert self._process is not None
                send_handle(connection, theirs.fileno(), self._process.pid)
                pid: int = connection.recv()
            except (OSError, EOFError):  # the nursery has ended
                ours.close()
                self.close()
            else:
                return Connection(ours.detach()), pid
            finally:
                theirs.close()
        raise OSError("the process that forks them has ended twice")

    def _begin(self) -> Connection:
        ours, theirs = socket.socketpair()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "maskwright.processes.nursery", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            env={**os.environ, **_ENVIRONMENT, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        theirs.close()
        self._connection = Connection(ours.detach())
        self._connection.send(self._vocabulary)
        self._connection.recv()
        return self._connection

    def memory(self) -> int:
        """Bytes of physical memory that the nursery has."""
        if self._process is not None:
            with suppress(OSError):
                fields = Path(f"/proc/{self._process.pid}/statm").read_text().split()
                return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")
        return 0

    def close(self) -> None:
        """End the nursery."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
