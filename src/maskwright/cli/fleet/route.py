"""Serve several running servers at one address.

Each request goes to the server that is expected to answer it first. If a server is lost, its
requests and streams go on at another one. docs/scale.md describes it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from maskwright.cli.arguments import Configurable
from maskwright.cli.options import RoutePolicyName
from maskwright.server.config import (
    BODY_BYTES,
    DRAIN_SECONDS,
    HOST,
    KEEP_ALIVE_SECONDS,
    PORT,
    BodyBytes,
    DrainSeconds,
    Host,
    KeepAliveSeconds,
    Port,
)
from maskwright.settings import Option


@dataclass(frozen=True)
class RouteOptions(Configurable):
    """What `maskwright route` is given."""

    worker: Annotated[
        list[str],
        Option(
            help="Address of a server, such as http://127.0.0.1:8001. May be repeated.",
            metavar="URL",
        ),
    ] = field(default_factory=list[str])
    prefill_worker: Annotated[
        list[str],
        Option(
            help="Address of a server that computes prompts and hands requests over. May be "
            "repeated.",
            metavar="URL",
        ),
    ] = field(default_factory=list[str])
    decode_worker: Annotated[
        list[str],
        Option(
            help="Address of a server that answers requests whose prompts others have computed. "
            "May be repeated.",
            metavar="URL",
        ),
    ] = field(default_factory=list[str])
    workers: Annotated[
        str | None,
        Option(
            help="A TOML, YAML or JSON file that lists servers with their url, name, role, model "
            "and weight, instead of the options above.",
            metavar="FILE",
        ),
    ] = None
    handoff_key: Annotated[
        str | None,
        Option(
            help="The key with which servers hand requests over: the --handoff-key of all of them.",
            metavar="KEY",
        ),
    ] = None
    policy: Annotated[
        RoutePolicyName,
        Option(
            help="estimate: each request goes where its first token is expected soonest. "
            "round-robin: to the servers in turns, to compare with."
        ),
    ] = "estimate"
    host: Host = HOST
    port: Port = PORT
    worker_key: Annotated[
        str | None,
        Option(
            help="A key for the router's own checks, where servers need one. Those of clients are "
            "passed on.",
            metavar="KEY",
        ),
    ] = None
    body_bytes: BodyBytes = BODY_BYTES
    patience: Annotated[
        float, Option(least=0, help="Seconds that a request may wait while no server takes any.")
    ] = 10.0
    drain_seconds: DrainSeconds = DRAIN_SECONDS
    keep_alive_seconds: KeepAliveSeconds = KEEP_ALIVE_SECONDS
