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

from maskwright.immutable import Immutable
from maskwright.processes.worker import Terms
from maskwright.vocab import Vocabulary

_ENVIRONMENT: Final = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
}
"""A process that is forked may have one thread only."""

# The terminal's interrupt goes to every process of its group, also while this one imports; the
# engine's process ends the others.
_BEGIN: Final = """\
import signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
from maskwright.processes.nursery import main
main(int(sys.argv[1]))
"""


def memory_of(pid: int) -> int:
    """Bytes of physical memory that a process has; 0 if it has ended."""
    with suppress(OSError, IndexError):
        fields = Path(f"/proc/{pid}/statm").read_text().split()
        return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


class Nursery(Immutable):
    """A nursery that has been started: its process, and the connection to it."""

    process: subprocess.Popen[bytes]
    connection: Connection

    @staticmethod
    def start() -> Nursery:
        """Start one, which imports what grammars need and then waits for a vocabulary. Raises
        OSError."""
        ours, theirs = socket.socketpair()
        with theirs:
            process = subprocess.Popen(
                [sys.executable, "-c", _BEGIN, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env={**os.environ, **_ENVIRONMENT, "PYTHONPATH": os.pathsep.join(sys.path)},
            )
        return Nursery(process, Connection(ours.detach()))

    def end(self) -> None:
        self.connection.close()
        self.process.kill()
        self.process.wait()


class Nest:
    """A nursery, which is started when it is first needed unless one is given, and again if it has
    ended. Not thread-safe."""

    def __init__(self, vocabulary: Vocabulary, nursery: Nursery | None = None) -> None:
        self._vocabulary = vocabulary
        self._nursery = nursery
        self._is_ready = False
        if nursery is not None:
            self._send_vocabulary(nursery)

    def fork(self, terms: Terms) -> tuple[Connection, int]:
        """A new grammar process: the connection to it, and its system's number."""
        for _ in range(2):
            nursery = self._nursery or self._begin()
            ours, theirs = socket.socketpair()
            try:
                if not self._is_ready:
                    nursery.connection.recv()
                    self._is_ready = True
                nursery.connection.send(terms)
                send_handle(nursery.connection, theirs.fileno(), nursery.process.pid)
                pid: int = nursery.connection.recv()
            except (OSError, EOFError):  # the nursery has ended
                ours.close()
                self.close()
            else:
                return Connection(ours.detach()), pid
            finally:
                theirs.close()
        raise OSError("the process that forks them has ended twice")

    def _begin(self) -> Nursery:
        self._nursery = nursery = Nursery.start()
        self._send_vocabulary(nursery)
        return nursery

    def _send_vocabulary(self, nursery: Nursery) -> None:
        with suppress(OSError):  # that it has ended is seen when something is asked of it
            nursery.connection.send(self._vocabulary)

    def memory(self) -> int:
        """Bytes of physical memory that the nursery has."""
        return 0 if self._nursery is None else memory_of(self._nursery.process.pid)

    def close(self) -> None:
        """End the nursery."""
        if self._nursery is not None:
            self._nursery.end()
        self._nursery, self._is_ready = None, False
