"""Real servers in processes of their own, and a router in front of them."""

from __future__ import annotations

import subprocess
from collections.abc import Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from tests.api.served_process import PROGRAM, ServedProcess, served_process
from tests.bounds import PATIENCE


@dataclass(frozen=True)
class Routed:
    """A router that is ready: its address without a path, and its process."""

    url: str
    process: subprocess.Popen[str]


@contextmanager
def servers(count: int, *options: str) -> Generator[list[ServedProcess]]:
    """Servers with the shipped model, started at one time, while the block runs. `options`: those
    of each."""
    with ExitStack() as closing, ThreadPoolExecutor(count) as pool:
        made = [served_process(*options) for _ in range(count)]
        started = list(pool.map(lambda one: one.__enter__(), made))
        for one in made:
            closing.push(one)
        yield started


@contextmanager
def routed(urls: Iterable[str], *options: str) -> Generator[Routed]:
    """A router in front of servers, while the block runs."""
    port = () if "--port" in options else ("--port", "0")
    asked = [part for url in urls for part in ("--worker", url)]
    process = subprocess.Popen(
        [*PROGRAM, "route", *port, *asked, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        first = process.stdout.readline()
        assert first.startswith("maskwright is ready"), first
        yield Routed(first.split()[-1].removesuffix("/v1"), process)
    finally:
        process.kill()
        process.communicate(timeout=PATIENCE)
