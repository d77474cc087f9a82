"""The engines of a scenario, and its sections `prefill`, `decode` and `transfer`: pools of engines
with settings for each phase."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, get_args

from maskwright.cli.input.table_file import known, one_of
from maskwright.errors import InputError
from maskwright_sim.costs.sheet import SheetCosts
from maskwright_sim.costs.work import CostModel
from maskwright_sim.fleet.phase_pools import PhasePool, PhasePools
from maskwright_sim.fleet.transfer import Transfer, TransferMode
from maskwright_sim.policy.choice import POLICIES, EngineSettings
from maskwright_sim.policy.order import ORDERS
from maskwright_sim.settings import costs_of, made, table_of

RECEIVED: Final = 1 << 16
"""Blocks of the host's pool in which a decoding engine receives keys and values."""
DEFAULTS: Final[dict[str, dict[str, Any]]] = {
    "prefill": {"policy": "splitfuse", "chunk": 2048},
    "decode": {"policy": "orca", "reserves": False, "host_blocks": RECEIVED},
}
"""Settings of the engines of a phase where a file gives no others."""


def engine_of(table: Mapping[str, Any], costs: CostModel) -> EngineSettings:
    """The settings of an engine. Without a number of blocks, they are as many as the memory of the
    data sheet has room for."""
    settings = made(EngineSettings, table, "engine")
    one_of(settings.policy, POLICIES, "policy")
    one_of(settings.order, tuple(ORDERS), "order")
    one_of(settings.preemption, ("recompute", "swap", "drop"), "preemption")
    if isinstance(costs, SheetCosts) and "blocks" not in table:
        settings = replace(settings, blocks=max(1, costs.positions() // settings.block_size))
    return settings


def phases_of(table: Mapping[str, Any], costs: CostModel, folder: Path) -> PhasePools | None:
    """The pools of a scenario, whose `costs` hold for a phase that has none of its own; None
    without such sections. Raises InputError if there is only one of the two phases."""
    present = [name for name in ("prefill", "decode") if name in table]
    if not present:
        if "transfer" in table:
            raise InputError("transfer needs prefill and decode", param="transfer")
        return None
    if len(present) == 1:
        raise InputError("prefill and decode have to be given together", param=present[0])
    prefill, decode = (_pool(name, table_of(table, name), costs, folder) for name in present)
    return PhasePools(prefill, decode, _transfer(table_of(table, "transfer"), prefill.costs))


def _pool(name: str, table: Mapping[str, Any], costs: CostModel, folder: Path) -> PhasePool:
    known(table, ("replicas", "engine", "costs"), name)
    if "costs" in table:
        costs, _ = costs_of(table_of(table, "costs"), folder)
    replicas = int(table.get("replicas", 1))
    if replicas < 1:
        raise InputError(f"{name} needs at least one replica", param=name)
    return PhasePool(replicas, engine_of(DEFAULTS[name] | table_of(table, "engine"), costs), costs)


def _transfer(table: Mapping[str, Any], costs: CostModel) -> Transfer:
    """The transfer of a table; without sizes, those of the data sheet of the prefill engines."""
    sizes: dict[str, Any] = {}
    if isinstance(costs, SheetCosts):
        model, device = costs.model, costs.device
        sizes = {"kv_bytes": model.kv_bytes, "layers": model.layers, "bandwidth": device.network}
    transfer = made(Transfer, sizes | dict(table), "transfer")
    one_of(transfer.mode, get_args(TransferMode), "mode")
    return transfer
