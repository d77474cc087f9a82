"""A server in processes of its own, as `maskwright serve` starts it, and what they take."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import IO, Final

from maskwright.cli.serving.serve import GrammarWork

ROOT: Final = Path(__file__).resolve().parent.parent.parent
START_SECONDS: Final = 200.0
"""Until a server is ready, on a machine that is busy with other tests."""
STOP_SECONDS: Final = 20.0


def has_grammar_processes() -> bool:
    """Whether `maskwright serve` can work on grammars in processes of their own."""
    return "grammar_processes" in {field.name for field in fields(GrammarWork)}


@dataclass
class ServerProcess:
    """A running server: its address without a path, its process, the file of its log, and what the
    environments of its processes hold and no other's."""

    url: str
    process: subprocess.Popen[str]
    log: IO[str]
    mark: str

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def pids(self) -> list[int]:
        """The server's process and all that descend from it, also after their parent has ended."""
        return started_with(self.mark)

    def workers(self) -> list[int]:
        """Processes that work on grammars, and those that start them: all of the server's but its
        own and the resource tracker of Python's `multiprocessing`."""
        return [
            pid
            for pid in self.pids()
            if pid != self.process.pid and "resource_tracker" not in command_line(pid)
        ]

    def nurseries(self) -> list[int]:
        """The processes that start the others: the workers that the server's own process has
        started."""
        return [pid for pid in self.workers() if parent(pid) == self.process.pid]

    def forked(self) -> list[int]:
        """The workers that another worker has started, without the one that only forks others and
        has a session for them; all workers where there is none such."""
        workers = self.workers()
        forked = [pid for pid in workers if parent(pid) != self.process.pid and not _leads(pid)]
        return forked or workers

    def resident_bytes(self) -> int:
        """Memory that all processes hold together. Pages that several of them share count once."""
        return sum(map(proportional_bytes, self.pids()))

    def log_tail(self, characters: int = 3000) -> str:
        """The end of what the server has logged."""
        self.log.flush()
        return Path(self.log.name).read_text(errors="replace")[-characters:]


@contextmanager
def serving(
    *options: str,
    root: Path = ROOT,
    python: str = sys.executable,
    own_session: bool = True,
) -> Iterator[ServerProcess]:
    """A server of the demo model on a free loopback port while the block runs, of the checkout at
    `root`, whose extension modules were built for `python`. `own_session`: whether it has a session
    to itself. Linux shares processors out among sessions, so a server that is compared with a pulse
    has to be in the pulse's session, or it waits when the pulse doesn't."""
    command = [python, "-m", "maskwright", "serve", "--port", "0", *options]
    environment = {**os.environ, "PYTHONPATH": str(root / "src"), "PYTHONUNBUFFERED": "1"}
    mark = str(uuid.uuid4())
    with tempfile.NamedTemporaryFile("w+", suffix=".log") as log:
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env={**environment, "MASKWRIGHT_TESTED_SERVER": mark},
            cwd=root,
            start_new_session=own_session,
        )
        server = ServerProcess("", process, log, mark)
        try:
            server.url = _address(server)
            yield server
        finally:
            _stop(server)


def _address(server: ServerProcess) -> str:
    """The address that the server prints when it is ready."""
    assert server.process.stdout is not None
    patience = threading.Timer(START_SECONDS, server.process.kill)
    patience.start()
    try:
        for line in server.process.stdout:
            if found := re.search(r"ready: .* at (http://\S+)/v1", line):
                return found[1]
    finally:
        patience.cancel()
    raise RuntimeError(f"the server did not start:\n{server.log_tail()}")


def _stop(server: ServerProcess) -> None:
    """End every process of the server, by force if it has to be."""
    if server.alive:
        server.process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            server.process.wait(STOP_SECONDS)
    for pid in server.pids():
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    server.process.wait()
    assert server.process.stdout is not None
    server.process.stdout.close()


def started_with(mark: str) -> list[int]:
    """The processes that have not ended and whose environment holds a mark, in ascending order:
    whoever has started with it, and all that have come of that."""
    pids = (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())
    return sorted(pid for pid in pids if mark in _environment(pid))


def _environment(pid: int) -> str:
    """The environment with which a process was started; empty if it has ended, waited for or not,
    or is another user's."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/environ").read_text(encoding="utf-8", errors="replace")
    return ""


def _leads(pid: int) -> bool:
    """Whether a process has a session of its own."""
    with suppress(ProcessLookupError):
        return os.getsid(pid) == pid
    return False


def parent(pid: int) -> int | None:
    """The parent of a process; None if the process has ended, waited for or not."""
    fields = _stat(pid)
    return None if fields[0] == "Z" else int(fields[1])


def _stat(pid: int) -> list[str]:
    """The state of a process and the fields after it, as in `/proc`; "Z" alone if there is none."""
    with suppress(OSError):
        # The name in parentheses may hold anything, so fields are counted from its end.
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return ["Z"]


def command_line(pid: int) -> str:
    """The command of a process, its words separated by spaces; empty if it has ended."""
    with suppress(OSError):
        return (
            Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        )
    return ""


def proportional_bytes(pid: int) -> int:
    """The resident memory of a process, of shared pages its share; 0 if it has ended."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return 1024 * int(line.split()[1])
    return 0


def settled_bytes(server: ServerProcess, seconds: float) -> int:
    """Memory once `seconds` have passed in which nothing was asked."""
    time.sleep(seconds)
    return server.resident_bytes()


def options_of(grammar_processes: int | None) -> Sequence[str]:
    """Options of `serve` for a number of grammar processes; none for the default."""
    if grammar_processes is None:
        return ()
    if not has_grammar_processes():
        raise SystemExit("this server has no --grammar-processes")
    return ("--grammar-processes", str(grammar_processes))
