"""Several servers of one model on this machine, as processes after one address."""

from __future__ import annotations

import asyncio
import ctypes
import logging
import os
import secrets
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from maskwright.cli.fleet.route import FrontServer, set_up_front_logs
from maskwright.cli.process.listening import listen
from maskwright.dist.drain import Drain
from maskwright.dist.front.app import Front
from maskwright.dist.front.fleet import WorkerGroup
from maskwright.dist.front.wire import Address
from maskwright.dist.routing.replica_state import Role
from maskwright.errors import InputError

PROGRAM: Final = (sys.executable, "-c", "from maskwright.cli import main; main()")
NOWHERE: Final = Address("127.0.0.1", 0)
"""The address of a replica that has not started yet."""

LINE_BYTES: Final = 1 << 20
FIRST_PAUSE: Final = 0.5
LONGEST_PAUSE: Final = 30.0
"""Seconds before a replica is started again: the first and the longest time."""

STOP_SECONDS: Final = 15.0
"""Seconds that a replica without requests may take to end."""

PR_SET_PDEATHSIG: Final = 1

log = logging.getLogger(__name__)


def serve_replicas(
    roles: Sequence[Role],
    options: Sequence[str],
    address: tuple[str, int],
    body_bytes: int,
    drain_seconds: float,
    key: str | None,
) -> None:
    """Serve with a replica for each of `roles` until a signal ends it. `options`: those of `serve`
    for each replica. `address`: host and port to listen on. `key`: a key that replicas demand.
    Raises InputError if a replica ends at its start."""
    set_up_front_logs()
    group = ReplicaGroup(roles, options, key)
    drain = Drain(drain_seconds)
    with listen(*address) as listening:
        front = Front(group, drain, body_bytes)
        what = f"{len(roles)} replicas"
        if group.prompts is not None:
            counts = Counter(roles)
            what += f" ({counts['prefill']} for prompts, {counts['decode']} for answers)"
        # uvicorn exits with a code of its own where the application does not start.
        with suppress(SystemExit):
            FrontServer(front, drain, what).run([listening])
    if group.failure is not None:
        raise InputError(group.failure, param="replicas")


class ReplicaGroup(WorkerGroup):
    """Workers that are processes of this one. One that ends is started again."""

    def __init__(
        self, roles: Sequence[Role], options: Sequence[str], key: str | None = None
    ) -> None:
        split = any(role != "both" for role in roles)
        handoff_key = secrets.token_hex(16) if split else None
        nowhere = [NOWHERE] * len(roles)
        super().__init__(nowhere, key=key, roles=roles, handoff_key=handoff_key)
        # As a variable, since other users of this machine can read options.
        known = {} if handoff_key is None else {"MASKWRIGHT_HANDOFF_KEY": handoff_key}
        self._environment = {**os.environ, **known}
        single = ("--replicas", "1", "--prefill", "0", "--decode", "0")
        own = (*single, "--host", "127.0.0.1", "--port", "0")
        self._command = [*PROGRAM, "serve", *options, *own]
        self._processes: dict[str, Process] = {}
        self._keepers: list[asyncio.Task[None]] = []
        self.failure: str | None = None
        """Why the replicas did not start."""

    async def start(self) -> None:
        """Start all replicas, and wait until they are ready. Raises InputError."""
        try:
            await asyncio.gather(*(self._start(worker.name) for worker in self.workers))
        except InputError as error:
            self.failure = error.message
            await self._end_all()
            raise
        self._keepers = [asyncio.create_task(self._keep(worker.name)) for worker in self.workers]
        await super().start()

    async def stop(self) -> None:
        """End all replicas, which have answered their requests."""
        for keeper in self._keepers:
            keeper.cancel()
        await asyncio.gather(*self._keepers, return_exceptions=True)
        await super().stop()
        await self._end_all()

    async def _start(self, name: str) -> None:
        process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=PIPE,
            stderr=PIPE,
            limit=LINE_BYTES,
            env=self._environment,
            preexec_fn=_end_with_parent,
            start_new_session=True,  # Ctrl-C is for this process, which then ends them
        )
        self._processes[name] = process
        assert process.stdout is not None
        assert process.stderr is not None
        self._keepers.append(asyncio.create_task(_tell(name, process.stderr)))
        first = (await process.stdout.readline()).decode()
        if not first.startswith("maskwright is ready"):
            code = await process.wait()
            raise InputError(
                f"a replica ended at its start with exit code {code}; see its log above"
            )
        self._keepers.append(asyncio.create_task(_drop(process.stdout)))
        self.replace(name, Address.parse(first.split()[-1].removesuffix("/v1")))
        log.info("replica %s is process %d", name, process.pid)

    async def _keep(self, name: str) -> None:
        """Start a replica again whenever it ends."""
        pause = FIRST_PAUSE
        while True:
            process = self._processes[name]
            code = await process.wait()
            log.warning("replica %s ended with exit code %d; it is started again", name, code)
            await asyncio.sleep(pause)
            try:
                await self._start(name)
                pause = FIRST_PAUSE
            except InputError as error:
                log.error("replica %s: %s", name, error.message)
                pause = min(2 * pause, LONGEST_PAUSE)

    async def _end_all(self) -> None:
        live = [one for one in self._processes.values() if one.returncode is None]
        for process in live:
            process.send_signal(signal.SIGTERM)
        if not live:
            return
        ends = [asyncio.ensure_future(process.wait()) for process in live]
        _, late = await asyncio.wait(ends, timeout=STOP_SECONDS)
        for process in live:
            if late and process.returncode is None:
                process.kill()
        await asyncio.gather(*ends)


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
