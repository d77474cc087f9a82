"""What `maskwright serve` does, once its arguments are read.

Options are checked before torch is imported, so that a mistake is told at once.
"""

from __future__ import annotations

import sys

from maskwright.cli.fleet.roles import roles_of
from maskwright.cli.process.listening import listen
from maskwright.cli.process.security import tls_files
from maskwright.cli.serving.option_checks import check_replicated, replica_options
from maskwright.cli.serving.serve import ServeOptions
from maskwright.cli.serving.trace_sinks import open_sinks
from maskwright.dist.routing.replica_state import Role
from maskwright.model_options import local_checkpoint


def run(given: ServeOptions) -> None:
    options = given.settled()
    several = options.replication
    roles = roles_of(several.replicas, several.prefill, several.decode)
    if len(roles) > 1 or several.ray:
        _replicate(options, roles)
        return
    tls = tls_files(options.tls_certificate, options.tls_key)
    sinks = open_sinks(options.trace, options.otel, options.trace_requests)
    with listen(options.host, options.port, options.engine.reader_seconds) as listening:
        for path in filter(None, (options.chosen.model, options.chosen.draft_model)):
            local_checkpoint(path)
        from maskwright.cli.serving.start import start  # noqa: PLC0415 - imports torch

        start(options, tls, sinks, listening)


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
    from maskwright.cli.fleet.replicas import (  # noqa: PLC0415 - imports a server
        ReplicatedService,
    )

    given = replica_options(sys.argv[2:], sharing, options.engine.memory_fraction)
    server = options.server
    front = server.body_bytes, server.drain_seconds, server.keep_alive_seconds
    service = ReplicatedService(roles, given, options.host, options.port, *front, options.api_key)
    if resources is None:
        service.serve_as_processes()
    else:
        service.serve_on_ray(resources)
