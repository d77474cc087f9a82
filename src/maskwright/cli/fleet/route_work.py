"""What `maskwright route` does, once its arguments are read.

Servers that are unlike each other are described by the file of `--workers`.
"""

from __future__ import annotations

import logging
import math
import socket
from collections import Counter
from pathlib import Path
from typing import Any, Final, cast, get_args

from maskwright.cli.fleet.route import RouteOptions, roles_of
from maskwright.cli.input.table_file import known, one_of, read_table
from maskwright.cli.process.draining import DrainingServer, http_config
from maskwright.cli.process.listening import listen
from maskwright.dist.drain import Drain
from maskwright.dist.front.app import Front
from maskwright.dist.front.fleet import WorkerGroup
from maskwright.dist.front.wire import Address
from maskwright.dist.front.worker import WorkerTraits
from maskwright.dist.routing.replica_state import Role
from maskwright.dist.routing.router import RequestRouter, RoundRobinRouter, Router
from maskwright.errors import InputError
from maskwright.immutable import Immutable
from maskwright.server.config import KEEP_ALIVE_SECONDS
from maskwright.server.observe.figures import joined_state

SETTINGS: Final = ("url", "name", "role", "model", "weight")


class ListedWorker(Immutable):
    """One server of the file."""

    address: Address
    role: Role = "both"
    traits: WorkerTraits = WorkerTraits()


def read_workers(path: str) -> list[ListedWorker]:
    """Read a TOML, YAML or JSON file with a list `workers` of tables. Raises InputError, which
    names the place, for what can't be read and for settings that don't exist or don't fit."""
    table = read_table(Path(path))
    known(table, ("workers",), path)
    listed: object = table.get("workers")
    if not isinstance(listed, list) or not listed:
        raise InputError(f"{path}: workers has to be a list of tables", param="workers")
    workers = [
        _worker(one, f"{path}: workers[{index}]")
        for index, one in enumerate(cast(list[object], listed))
    ]
    _check_differing(workers, path)
    return workers


def _worker(given: object, where: str) -> ListedWorker:
    if not isinstance(given, dict):
        raise InputError(f"{where} has to be a table", param="workers")
    table = cast(dict[str, Any], given)
    known(table, SETTINGS, where)
    if "url" not in table:
        raise InputError(f"{where} has no url", param="workers")
    for name in ("url", "name", "role", "model"):
        if name in table and not (isinstance(table[name], str) and table[name]):
            raise InputError(f"{where}.{name} has to be a text", param="workers")
    weight = table.get("weight", 1.0)
    fits = isinstance(weight, int | float) and not isinstance(weight, bool)
    if not (fits and math.isfinite(weight) and weight > 0):
        raise InputError(f"{where}.weight has to be a number above 0", param="workers")
    try:
        address = Address.parse(table["url"])
    except InputError as error:
        raise InputError(
            f"{where}.url: {error.message.removeprefix('--worker ')}", param="workers"
        ) from None
    role = cast(Role, one_of(table.get("role", "both"), get_args(Role), f"{where}.role"))
    traits = WorkerTraits(table.get("name", ""), table.get("model", ""), float(weight))
    return ListedWorker(address, role, traits)


def _check_differing(workers: list[ListedWorker], path: str) -> None:
    """Raise InputError for names and addresses that are given twice."""
    seen: dict[str, int] = {}
    for index, worker in enumerate(workers):
        name = worker.traits.name or f"w{index}"
        for what in (f"name {name!r}", f"url {worker.address.url}"):
            first = seen.setdefault(what, index)
            if first != index:
                raise InputError(
                    f"{path}: workers[{index}] has the {what} of workers[{first}]", param="workers"
                )


def run(options: RouteOptions) -> None:
    set_up_front_logs()
    listed = _listed(options)
    roles: list[Role] = [one.role for one in listed]
    if any(role != "both" for role in roles) and not options.handoff_key:
        raise InputError(
            "servers that hand requests over need a key in common: --handoff-key KEY",
            param="handoff_key",
        )
    router: RequestRouter = RoundRobinRouter() if options.policy == "round-robin" else Router()
    fleet = WorkerGroup(
        [one.address for one in listed],
        router,
        options.worker_key,
        roles=roles,
        traits=[one.traits for one in listed],
        handoff_key=options.handoff_key,
    )
    drain = Drain(options.drain_seconds)
    front = Front(fleet, drain, options.body_bytes, options.patience, joined_state)
    with listen(options.host, options.port) as listening:
        what = f"{len(listed)} servers"
        FrontServer(front, drain, what, options.keep_alive_seconds).run([listening])


def _listed(options: RouteOptions) -> list[ListedWorker]:
    """Return the servers of a file, or of the options. Raises InputError."""
    prefill, decode = options.prefill_worker, options.decode_worker
    urls = [*prefill, *decode, *options.worker]
    if options.workers is not None:
        if urls:
            raise InputError("give servers either in --workers FILE or as options", param="workers")
        listed = read_workers(options.workers)
        counts = Counter(one.role for one in listed)
        roles_of(len(listed), counts["prefill"], counts["decode"])
        return listed
    if not urls:
        raise InputError("--worker URL is needed at least once", param="worker")
    roles = roles_of(len(urls), len(prefill), len(decode))
    return [ListedWorker(Address.parse(url), role) for url, role in zip(urls, roles, strict=True)]


def set_up_front_logs() -> None:
    """Log to stderr: the router's own records from info on, others' from warnings on."""
    logging.basicConfig(
        level=logging.WARNING, format="%(asctime)s %(levelname)s: %(message)s", force=True
    )
    logging.getLogger("maskwright").setLevel(logging.INFO)


class FrontServer(DrainingServer):
    """The HTTP server of a router. `what`: what it says at its start to stand in front of.
    `keep_alive`: seconds for which a connection without a request is kept open."""

    def __init__(
        self, front: Front, drain: Drain, what: str, keep_alive: float = KEEP_ALIVE_SECONDS
    ) -> None:
        config = http_config(
            front,
            keep_alive,
            lifespan="on",
            access_log=False,
            # Headers about clients are passed on to the workers, and the router reads none of them.
            proxy_headers=False,
            server_header=False,
            date_header=False,
        )
        ready = f"maskwright is ready: {what} at"
        super().__init__(
            config,
            drain,
            lambda: None,
            announce=lambda address: print(f"{ready} {address}/v1", flush=True),
        )
        self._front = front

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the requests that are left with an error that says so."""
        self._front.cut()
        await super().shutdown(sockets)
