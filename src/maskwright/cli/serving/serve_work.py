"""What `maskwright serve` does, once its arguments are read.

Options are checked before torch is imported, so that a mistake is said at once.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING

from maskwright.cli.fleet.route import roles_of
from maskwright.cli.output.progress import loading
from maskwright.cli.process.listening import listen, tls_files
from maskwright.cli.serving.serve import ServeOptions, check_replicated, replica_options
from maskwright.dist.routing.replica_state import Role
from maskwright.errors import InputError
from maskwright.model_options import local_checkpoint
from maskwright.server.observe.traces import TraceFile

if TYPE_CHECKING:
    from maskwright.server.observe.spans import Spans


def open_sinks(
    trace: str | None, otel: str | None, requests: bool = False
) -> list[TraceFile | Spans]:
    """The places to which traces are sent; `requests`: the file gets whole requests. Raises
    InputError for a place that can't be opened."""
    if requests and trace is None:
        raise InputError("--trace-requests needs --trace FILE", param="trace_requests")
    sinks: list[TraceFile | Spans] = []
    if otel is not None:
        if not otel.startswith(("http://", "https://")):
            raise InputError(
                f"--otel {otel}: an address that begins with http:// or https:// is needed",
                param="otel",
            )
        try:
            from maskwright.server.observe.spans import Spans  # noqa: PLC0415 - the extra may be missing
        except ModuleNotFoundError as error:
            raise InputError(
                f"--otel needs {error.name}, which is not installed; "
                "pip install 'maskwright[otel]' brings it",
                param="otel",
            ) from None
        sinks.append(Spans.sent_to(otel))
    if trace is not None:
        sinks.append(TraceFile(trace, requests=requests))
    return sinks


def run(given: ServeOptions) -> None:
    options = given.settled()
    several = options.replication
    roles = roles_of(several.replicas, several.prefill, several.decode)
    if len(roles) > 1 or several.ray:
        _replicate(options, roles)
        return
    tls = tls_files(options.tls_certificate, options.tls_key)
    sinks = open_sinks(options.trace, options.otel, options.trace_requests)
    with ExitStack() as closing:
        listening = closing.enter_context(
            listen(options.host, options.port, options.engine.reader_seconds)
        )
        for path in filter(None, (options.chosen.model, options.chosen.draft_model)):
            local_checkpoint(path)
        nursery = None
        if options.work.grammar_processes:
            from maskwright.processes import Nursery  # noqa: PLC0415 - imports what compiles

            # Its imports take as long as a third of ours, and may take another processor.
            nursery = Nursery.start()
            closing.callback(nursery.end)
        with loading():
            from maskwright.cli.serving.start import start  # noqa: PLC0415 - imports torch

        start(options, tls, sinks, listening, nursery)


def _replicate(options: ServeOptions, roles: list[Role]) -> None:
    """Serve with several replicas: processes of this one, or actors of a Ray cluster."""
    check_replicated(options.tls_certificate or options.tls_key, options.server.batch_folder)
    sharing, resources = len(roles), None
    if options.replication.ray:
        from maskwright.cli.fleet.ray_cluster import (  # noqa: PLC0415 - imports asyncio
            is_joined,
            resources_of,
        )

        sharing = 1 if is_joined() else sharing
        resources = resources_of(options.chosen.device, options.engine.threads)
    from maskwright.cli.fleet.replicas import serve_replicas  # noqa: PLC0415 - imports a server

    given = replica_options(sys.argv[2:], sharing, options.engine.memory_fraction)
    address = options.host, options.port
    serve_replicas(roles, given, resources, address, options.server, options.api_key)
