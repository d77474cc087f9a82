"""The file of `route --workers`: what is known of servers that are unlike each other."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast, get_args

from maskwright.cli.input.table_file import known, one_of, read_table
from maskwright.dist.front.wire import Address
from maskwright.dist.front.worker import WorkerTraits
from maskwright.dist.routing.replica_state import Role
from maskwright.errors import InputError

SETTINGS: Final = ("url", "name", "role", "model", "weight")


@dataclass(frozen=True, slots=True)
class ListedWorker:
    """One server of the file."""

    address: Address
    role: Role = "both"
    traits: WorkerTraits = field(default_factory=WorkerTraits)


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
    names: dict[str, int] = {}
    addresses: dict[Address, int] = {}
    for index, worker in enumerate(workers):
        name = worker.traits.name or f"w{index}"
        for value, seen, what in (
            (name, names, f"name {name!r}"),
            (worker.address, addresses, f"url {worker.address.url}"),
        ):
            first = cast(dict[object, int], seen).setdefault(value, index)
            if first != index:
                raise InputError(
                    f"{path}: workers[{index}] has the {what} of workers[{first}]", param="workers"
                )
