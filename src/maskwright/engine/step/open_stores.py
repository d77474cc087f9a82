"""Opens the stores that an engine's settings ask for."""

from __future__ import annotations

import platform
from collections.abc import Callable
from importlib.metadata import version

import torch

from maskwright.engine.config import EngineConfig
from maskwright.engine.tiers.disk_folder import DiskFolder
from maskwright.engine.tiers.disk_thread import DiskThread
from maskwright.engine.tiers.host_store import HostStore
from maskwright.engine.tiers.stores import Stores
from maskwright.instructions import INSTRUCTIONS


def open_stores(config: EngineConfig, layout: str, notify: Callable[[], None]) -> Stores | None:
    """Return the stores of an engine; None if its settings ask for none. `layout`: weights and
    storage format of its blocks. `notify`: see `DiskThread`.

    The bits of a block also depend on the program that computed it, so versions and the kind of
    processor are parts of the key.
    """
    if not config.kv_host_bytes and config.kv_disk is None:
        return None
    versions = [version(package) for package in ("maskwright", "torch")]
    instructions = (INSTRUCTIONS, torch.backends.cpu.get_cpu_capability())
    processor = (platform.machine(), *instructions, config.threads)
    told = f"{layout} {versions} {processor}"
    host = HostStore(config.kv_host_bytes, config.kv_policy) if config.kv_host_bytes else None
    disk = None
    if config.kv_disk is not None:
        folder = DiskFolder(config.kv_disk, config.kv_disk_bytes, config.kv_policy)
        disk = DiskThread(folder, notify)
    return Stores(told, host, disk)
