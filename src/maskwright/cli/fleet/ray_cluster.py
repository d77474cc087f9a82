"""The Ray cluster of `serve --ray`, an existing one or one on this machine, and servers in its
actors.

Ray chooses the machine, reserves processors and GPUs there, and notices when the machine is lost.
Requests don't go through Ray: the router reaches the server of an actor by HTTP, as any other one.
Needs the extra `ray`, which is imported only by `serve --ray`.

Ray's own services listen on every interface by default, and report usage to its makers. A cluster
that is started here does neither, has no dashboard, and reserves little memory for objects, since
no request goes through Ray.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final

from maskwright.cli.fleet.process_replica import STOP_SECONDS, ProcessReplica
from maskwright.cli.process.environment import set_defaults
from maskwright.errors import InputError
from maskwright.immutable import Immutable

ADDRESS: Final = "RAY_ADDRESS"
"""The variable that names an existing cluster."""

OBJECT_BYTES: Final = 80 << 20
"""Memory for objects: the least that Ray takes is 75 MiB."""

LOCAL: Final = {
    "RAY_USAGE_STATS_ENABLED": "0",
    # Despite its name it decides on every system whether a cluster is bound to the loopback
    # interface (0) or to all.
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    # Lines of replicas are not left out where they are alike.
    "RAY_DEDUP_LOGS": "0",
}
"""Variables of a cluster on this machine alone. Those that the user has set are kept."""


def require_ray() -> Any:
    """The module `ray`. Raises InputError that says how to get it."""
    try:
        return importlib.import_module("ray")
    except ModuleNotFoundError:
        raise InputError(
            "--ray needs Ray, which is not installed; pip install 'maskwright[ray]' brings it",
            param="ray",
        ) from None


def is_joined() -> bool:
    """Whether an existing cluster is named."""
    return bool(os.environ.get(ADDRESS))


@contextmanager
def ray_cluster(count: int, resources: RayResources) -> Generator[Any]:
    """The module `ray`, connected to a cluster while the block runs. `count`: replicas, for each of
    which a cluster on this machine has the `resources`. Raises InputError."""
    if is_joined():
        ray = require_ray()
        try:
            ray.init(log_to_driver=True)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise InputError(
                f"the Ray cluster at {os.environ.get(ADDRESS)} can't be reached: {error}",
                param="ray",
            ) from None
    else:
        set_defaults(LOCAL)
        ray = require_ray()
        ray.init(
            address="local",
            num_cpus=max(count * resources.cpus, os.cpu_count() or 1),
            object_store_memory=OBJECT_BYTES,
            include_dashboard=False,
            log_to_driver=True,
        )
    try:
        yield ray
    finally:
        ray.shutdown()


def passed_on() -> dict[str, str]:
    """Return the variables of this process that servers on other machines get as well."""
    return {
        name: value
        for name, value in os.environ.items()
        if name.startswith("MASKWRIGHT_") or name == OF_RAY
    }


def resources_of(device: str, threads: int | None) -> RayResources:
    """Return what a replica with these options reserves. Raises InputError for a GPU with a number:
    Ray gives a replica its GPUs, which it then counts from zero."""
    kind, colon, _ = device.partition(":")
    if colon and kind == "cuda":
        raise InputError(
            f"--device {device}: with --ray, Ray chooses the GPU; use --device cuda", param="device"
        )
    return RayResources(cpus=threads or 1, gpus=int(kind == "cuda"))


PLACED_SECONDS: Final = 20.0
"""Seconds after which a line in the log says that a replica has not started yet."""

OF_RAY: Final = "OMP_NUM_THREADS"
"""Ray sets this variable to the processors that an actor reserves. A server chooses its threads by
its own options, as it does without Ray."""

log = logging.getLogger(__name__)


class RayResources(Immutable):
    """What a replica reserves in the cluster: processors and GPUs."""

    cpus: int = 1
    gpus: int = 0

    def __str__(self) -> str:
        return f"{self.cpus} CPU" + (f" and {self.gpus} GPU" if self.gpus else "")


class ReplicaActor:
    """The actor: it starts the server as a process of its own on its machine, and watches it. What
    it returns are values that any version of Ray can send."""

    def __init__(self, name: str, options: Sequence[str], variables: Mapping[str, str]) -> None:
        """`variables`: variables of the environment that the server gets besides the machine's."""
        self._host: str = importlib.import_module("ray").util.get_node_ip_address()
        kept = {key: value for key, value in os.environ.items() if key != OF_RAY}
        self._server = ProcessReplica(name, options, {**kept, **variables}, self._host)

    async def start(self) -> tuple[str, str, str | None]:
        """Start the server. Returns its address and the process that it is, and what went wrong."""
        try:
            url, place = await self._server.start()
        except InputError as error:
            return "", "", error.message
        return url, f"{place} on {self._host}", None

    async def ended(self) -> str:
        """Wait until the server has ended, and return how it did."""
        return await self._server.ended()

    async def end(self) -> None:
        """End the server if it runs."""
        await self._server.end()


class RayReplica:
    """A replica in an actor. If the actor is lost, the next start makes a new one, which Ray may
    place on another machine."""

    def __init__(
        self,
        ray: Any,
        name: str,
        options: Sequence[str],
        variables: Mapping[str, str],
        resources: RayResources,
    ) -> None:
        """`ray`: the module, connected to a cluster. The others: as for `ReplicaActor`."""
        self._ray = ray
        self._lost: tuple[type[BaseException], ...] = (ray.exceptions.RayError,)
        self._name = name
        self._arguments = (name, list(options), dict(variables))
        self._resources = resources
        self._actor: Any = None

    async def start(self) -> tuple[str, str]:
        """Start the server, in a new actor if there is none. Returns its address without a path,
        and the process that it is. Raises InputError."""
        if self._actor is None:
            actor_class = self._ray.remote(
                num_cpus=self._resources.cpus, num_gpus=self._resources.gpus
            )(ReplicaActor)
            self._actor = actor_class.remote(*self._arguments)
        warning = asyncio.create_task(self._tell_if_late())
        try:
            url, place, wrong = await self._actor.start.remote()
        except self._lost as error:
            self._drop()
            raise InputError(f"the actor of a replica was lost at its start: {error}") from None
        finally:
            warning.cancel()
        if wrong is not None:
            raise InputError(wrong)
        return url, place

    async def ended(self) -> str:
        """Wait until the server or its actor has ended, and return how it did."""
        try:
            return await self._actor.ended.remote()
        except self._lost as error:
            self._drop()
            return f"its actor: {str(error).splitlines()[0]}"

    async def end(self) -> None:
        """End the server and the actor."""
        if self._actor is None:
            return
        with suppress(TimeoutError, *self._lost):
            async with asyncio.timeout(STOP_SECONDS):
                await self._actor.end.remote()
        self._drop()

    def _drop(self) -> None:
        with suppress(*self._lost):
            self._ray.kill(self._actor)
        self._actor = None

    async def _tell_if_late(self) -> None:
        await asyncio.sleep(PLACED_SECONDS)
        free = self._ray.available_resources()
        log.warning(
            "replica %s has not started yet; it needs %s, and %g CPU and %g GPU of the cluster are "
            "free now",
            *(self._name, self._resources, free.get("CPU", 0), free.get("GPU", 0)),
        )
