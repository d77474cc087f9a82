"""The Ray cluster of `serve --ray`: an existing one, or one on this machine alone.

Ray's own services listen on every interface by default, and report usage to its makers. A cluster
that is started here does neither, has no dashboard, and reserves little memory for objects, since
no request goes through Ray.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Final

from maskwright.cli.fleet.ray_replica import OF_RAY, RayResources
from maskwright.cli.process.environment import set_defaults
from maskwright.errors import InputError

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
