"""`maskwright serve` in a process of its own, with any options, on a free loopback port."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from tests.bounds import PATIENCE

PROGRAM = [sys.executable, "-c", "from maskwright.cli import main; main()"]


@dataclass(frozen=True)
class ServedProcess:
    """A server that is ready: its address without a path, and its process."""

    url: str
    process: subprocess.Popen[str]
    log: IO[str]

    def end(self, sig: int) -> int:
        """Send a signal, wait for the end, and return the exit code."""
        self.process.send_signal(sig)
        return self.process.wait(PATIENCE)

    def logged(self) -> str:
        """What the server has written to standard error so far."""
        return Path(self.log.name).read_text()


@contextmanager
def served_process(*options: str, **variables: str) -> Generator[ServedProcess]:
    """A server with the shipped model while the block runs. `variables`: of its environment."""
    with tempfile.NamedTemporaryFile("w+") as log:
        process = subprocess.Popen(
            [*PROGRAM, "serve", "--port", "0", *options],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env={**os.environ, **variables},
        )
        try:
            assert process.stdout is not None
            first = process.stdout.readline()
            assert first.startswith("maskwright is ready"), Path(log.name).read_text()
            reader = threading.Thread(target=process.stdout.read, daemon=True)
            reader.start()
            yield ServedProcess(first.split()[-1].removesuffix("/v1"), process, log)
            process.kill()
            reader.join()
        finally:
            process.kill()
            process.communicate()
