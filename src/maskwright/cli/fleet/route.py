"""Serve several running servers at one address.

Each request goes to the server that is expected to answer it first. If a server is lost, its
requests and streams go on at another one. docs/scale.md describes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from maskwright.cli.arguments import Configurable
from maskwright.cli.options import RoutePolicyName
from maskwright.errors import InputError
from maskwright.server.config import (
    body_bytes_option,
    drain_seconds_option,
    host_option,
    keep_alive_seconds_option,
    port_option,
)
from maskwright.settings import option

if TYPE_CHECKING:
    from maskwright.dist.routing.replica_state import Role


@dataclass(frozen=True)
class RouteOptions(Configurable):
    """What `maskwright route` is given."""

    worker: list[str] = option(
        [], "Address of a server, such as http://127.0.0.1:8001. May be repeated.", metavar="URL"
    )
    prefill_worker: list[str] = option(
        [],
        "Address of a server that computes prompts and hands requests over. May be repeated.",
        metavar="URL",
    )
    decode_worker: list[str] = option(
        [],
        "Address of a server that answers requests whose prompts others have computed. May be "
        "repeated.",
        metavar="URL",
    )
    workers: str | None = option(
        None,
        "A TOML, YAML or JSON file that lists servers with their url, name, role, model and "
        "weight, instead of the options above.",
        metavar="FILE",
    )
    handoff_key: str | None = option(
        None,
        "The key with which servers hand requests over: the --handoff-key of all of them.",
        metavar="KEY",
    )
    policy: RoutePolicyName = option(
        "estimate",
        "estimate: each request goes where its first token is expected soonest. round-robin: to "
        "the servers in turns, to compare with.",
    )
    host: str = host_option()
    port: int = port_option()
    worker_key: str | None = option(
        None,
        "A key for the router's own checks, where servers need one. Those of clients are passed "
        "on.",
        metavar="KEY",
    )
    body_bytes: int = body_bytes_option()
    patience: float = option(
        10.0, "Seconds that a request may wait while no server takes any.", least=0
    )
    drain_seconds: float = drain_seconds_option()
    keep_alive_seconds: float = keep_alive_seconds_option()


def roles_of(replicas: int, prefill: int, decode: int) -> list[Role]:
    """Return the roles of the replicas that are asked for. Raises InputError."""
    if (prefill > 0) != (decode > 0):
        raise InputError(
            "--prefill and --decode need each other: one side computes prompts, the other answers",
            param="prefill" if prefill else "decode",
        )
    split = prefill + decode
    if 1 < replicas < split:
        raise InputError(
            f"--replicas is {replicas}, but --prefill and --decode are {split} together",
            param="replicas",
        )
    rest = replicas - split if replicas > 1 or not split else 0
    counts: dict[Role, int] = {"prefill": prefill, "decode": decode, "both": rest}
    return [role for role, count in counts.items() for _ in range(count)]
