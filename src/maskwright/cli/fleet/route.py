"""Serve several running servers at one address.

Each request goes to the server that is expected to answer it first. If a server is lost, its
requests and streams go on at another one. docs/scale.md describes it.
"""

from __future__ import annotations

from typing import Annotated

from maskwright.cli.arguments import Option
from maskwright.cli.options import KEEP_ALIVE_HELP, RoutePolicyName
from maskwright.cli.process.loading import loading
from maskwright.server.config import KEEP_ALIVE_SECONDS


def route(
    worker: Annotated[
        list[str],
        Option(help="Address of a server, such as http://127.0.0.1:8001. May be repeated.",
               metavar="URL"),
    ] = [],  # noqa: B006 - read by the parser, never changed
    prefill_worker: Annotated[
        list[str],
        Option(help="Address of a server that computes prompts and hands requests over. May be "
               "repeated.", metavar="URL"),
    ] = [],  # noqa: B006 - read by the parser, never changed
    decode_worker: Annotated[
        list[str],
        Option(help="Address of a server that answers requests whose prompts others have computed. "
               "May be repeated.", metavar="URL"),
    ] = [],  # noqa: B006 - read by the parser, never changed
    workers: Annotated[
        str | None,
        Option(
            help="A TOML, YAML or JSON file that lists servers with their url, name, role, model "
            "and weight, instead of the options above.",
            metavar="FILE",
        ),
    ] = None,
    handoff_key: Annotated[
        str | None,
        Option(
            envvar="MASKWRIGHT_HANDOFF_KEY",
            help="The key with which servers hand requests over: the --handoff-key of all of them.",
            metavar="KEY",
        ),
    ] = None,
    policy: Annotated[
        RoutePolicyName,
        Option(
            help="estimate: each request goes where its first token is expected soonest. "
            "round-robin: to the servers in turns, to compare with."
        ),
    ] = "estimate",
    host: Annotated[str, Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, Option(least=0, most=65535, help="Port to listen on; with 0 a free one is taken.")
    ] = 8000,
    worker_key: Annotated[
        str | None,
        Option(
            envvar="MASKWRIGHT_WORKER_KEY",
            help="A key for the router's own checks, where servers need one. Those of clients are "
            "passed on.",
            metavar="KEY",
        ),
    ] = None,
    body_bytes: Annotated[
        int, Option(is_size=True, help="Most bytes of the body of a request.")
    ] = 8 << 20,
    patience: Annotated[
        float,
        Option(least=0, help="Seconds that a request may wait while no server takes any."),
    ] = 10.0,
    drain_seconds: Annotated[
        float,
        Option(
            least=0,
            help="Time that requests may still take after SIGTERM, while new ones are answered "
            "503.",
        ),
    ] = 30.0,
    keep_alive_seconds: Annotated[
        float, Option(least=0, help=KEEP_ALIVE_HELP)
    ] = KEEP_ALIVE_SECONDS,
) -> None:  # fmt: skip
    with loading():
        from maskwright.cli.fleet import route_work  # noqa: PLC0415 - not for the help
    route_work.route(
        worker=worker,
        prefill_worker=prefill_worker,
        decode_worker=decode_worker,
        workers=workers,
        handoff_key=handoff_key,
        policy=policy,
        host=host,
        port=port,
        worker_key=worker_key,
        body_bytes=body_bytes,
        patience=patience,
        drain_seconds=drain_seconds,
        keep_alive_seconds=keep_alive_seconds,
    )
