"""Several servers of one model after one address, which this command starts and watches."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from typing import Final, TypeAlias

from maskwright.cli.fleet.process_replica import ProcessReplica
from maskwright.cli.fleet.ray_cluster import RayReplica, RayResources, passed_on, ray_cluster
from maskwright.cli.fleet.route_work import FrontServer, set_up_front_logs
from maskwright.cli.process.listening import listen
from maskwright.dist.drain import Drain
from maskwright.dist.front.app import Front
from maskwright.dist.front.fleet import WorkerGroup
from maskwright.dist.front.wire import Address
from maskwright.dist.routing.replica_state import Role
from maskwright.errors import InputError
from maskwright.server.config import ServerConfig
from maskwright.server.observe.figures import joined_state

NOWHERE: Final = Address("127.0.0.1", 0)
"""The address of a replica that has not started yet."""

FIRST_PAUSE: Final = 0.5
LONGEST_PAUSE: Final = 30.0
"""Seconds before a replica is started again: the first and the longest time."""

Driver: TypeAlias = Callable[[str, Mapping[str, str]], ProcessReplica | RayReplica]
"""Makes a replica from its name and the variables that it gets besides its machine's. It can be
started again whenever it has ended. Requests, streams and hand-offs reach all kinds by HTTP."""

log = logging.getLogger(__name__)


def serve_replicas(
    roles: Sequence[Role],
    options: Sequence[str],
    resources: RayResources | None,
    address: tuple[str, int],
    server: ServerConfig,
    key: str | None,
) -> None:
    """Serve with replicas until a signal ends it: processes of this one, or with `resources`, which
    each of them reserves, actors of a Ray cluster. Raises InputError if one ends at its start.

    `options`: options of `serve` for each replica. `address`: host and port of the router, which
    has the bound on bodies and the times of `server`. `key`: a key that replicas demand, for the
    router's own checks."""
    set_up_front_logs()
    what = f"{len(roles)} replicas"
    with ExitStack() as closing:
        ray = None
        if resources is not None:
            what += " on Ray"
            ray = closing.enter_context(ray_cluster(len(roles), resources))

        def driver(name: str, variables: Mapping[str, str]) -> ProcessReplica | RayReplica:
            if resources is None:
                return ProcessReplica(name, options, {**os.environ, **variables})
            return RayReplica(ray, name, options, {**passed_on(), **variables}, resources)

        group = ReplicaGroup(roles, driver, key)
        drain = Drain(server.drain_seconds)
        if group.handoff_key is not None:
            counts = Counter(roles)
            what += f" ({counts['prefill']} for prompts, {counts['decode']} for answers)"
        listening = closing.enter_context(listen(*address))
        front = Front(group, drain, server.body_bytes, join_states=joined_state)
        # uvicorn exits with a code of its own where the application does not start.
        with suppress(SystemExit):
            FrontServer(front, drain, what, server.keep_alive_seconds).run([listening])
        if group.failure is not None:
            raise InputError(group.failure, param="replicas")


class ReplicaGroup(WorkerGroup):
    """Workers that it starts itself. One that ends is started again."""

    def __init__(self, roles: Sequence[Role], driver: Driver, key: str | None = None) -> None:
        split = any(role != "both" for role in roles)
        handoff_key = secrets.token_hex(16) if split else None
        nowhere = [NOWHERE] * len(roles)
        super().__init__(nowhere, key=key, roles=roles, handoff_key=handoff_key)
        # As a variable, since other users of this machine can read options.
        known = {} if handoff_key is None else {"MASKWRIGHT_HANDOFF_KEY": handoff_key}
        self._replicas = {worker.name: driver(worker.name, known) for worker in self.workers}
        self._keepers: list[asyncio.Task[None]] = []
        self.failure: str | None = None
        """Why the replicas did not start."""

    async def start(self) -> None:
        """Start all replicas, and wait until they are ready. Raises InputError."""
        try:
            await asyncio.gather(*(self._start(name) for name in self._replicas))
        except InputError as error:
            self.failure = error.message
            await self._end_all()
            raise
        self._keepers = [asyncio.create_task(self._keep(name)) for name in self._replicas]
        await super().start()

    async def stop(self) -> None:
        """End all replicas, which have answered their requests."""
        for keeper in self._keepers:
            keeper.cancel()
        await asyncio.gather(*self._keepers, return_exceptions=True)
        await super().stop()
        await self._end_all()

    async def _start(self, name: str) -> None:
        url, place = await self._replicas[name].start()
        self.replace(name, Address.parse(url))
        log.info("replica %s is %s", name, place)

    async def _keep(self, name: str) -> None:
        """Start a replica again whenever it ends."""
        pause = FIRST_PAUSE
        while True:
            ended = await self._replicas[name].ended()
            log.warning("replica %s ended (%s); it is started again", name, ended)
            await asyncio.sleep(pause)
            try:
                await self._start(name)
                pause = FIRST_PAUSE
            except InputError as error:
                log.error("replica %s: %s", name, error.message)
                pause = min(2 * pause, LONGEST_PAUSE)

    async def _end_all(self) -> None:
        await asyncio.gather(*(replica.end() for replica in self._replicas.values()))
