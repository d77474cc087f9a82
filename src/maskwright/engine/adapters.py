"""The low-rank adapters of one engine, with a least-recently-used cache of those in memory."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from maskwright.errors import InputError, OverloadedError
from maskwright.models import Adapter, AdapterFile, Decoder, Product, one_of_each_shape


@dataclass(slots=True)
class _Loaded:
    adapter: Adapter
    users: int = 0


class Adapters:
    """An adapter is read from disk when a request needs it. When room is needed, the adapter used
    longest ago is evicted, but never one in use. `limit`: upper bound on the bytes in memory.

    `take` and `give_back` may be called from any thread; `loads` counts how often one was read,
    `evictions` how often one was given up.
    """

    def __init__(self, folders: Mapping[str, Path], decoder: Decoder, limit: int) -> None:
        self.loads = 0
        self.evictions = 0
        self._decoder = decoder
        self._limit = limit
        self._files = {name: AdapterFile.at(name, folder) for name, folder in folders.items()}
        self._loaded: OrderedDict[str, _Loaded] = OrderedDict()  # last used last
        self._lock = threading.Lock()
        for name in (
            folders
        ):  # an adapter that can't be read is an error at the start, not at the first request
            self.have(name)

    def __contains__(self, name: object) -> bool:
        return name in self._files

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __getitem__(self, name: str) -> Adapter:
        """An adapter that a request has taken."""
        return self._loaded[name].adapter

    @property
    def nbytes(self) -> int:
        """Bytes of all that are in memory."""
        return sum(loaded.adapter.nbytes for loaded in self._loaded.values())

    @property
    def products(self) -> tuple[Product, ...]:
        """Those of the adapters in memory, one of each shape; a library computes them, even where
        the model's own are compiled."""
        with self._lock:
            adapters = [loaded.adapter for loaded in self._loaded.values()]
        parts = [part for adapter in adapters for part in adapter.modules.values()]
        return one_of_each_shape([Product(w) for part in parts for w in (part.down, part.up)])

    def digest(self, name: str) -> str:
        """A digest of the adapter's files, which identifies its contents."""
        return self._files[name].digest

    def take(self, name: str) -> None:
        """Have it in memory until it is given back.

        Raises `InputError` for one that can't be read, and `OverloadedError` where those in use
        leave no room.
        """
        with self._lock:
            loaded = self._loaded.get(name)
            if loaded is None:
                decoder = self._decoder
                adapter = self._files[name].load(decoder.adapter_shapes, decoder.dtype)
                self._make_room(name, adapter.nbytes)
                self.loads += 1
                loaded = self._loaded[name] = _Loaded(adapter)
            loaded.users += 1
            self._loaded.move_to_end(name)

    def have(self, name: str) -> None:
        """Load an adapter without holding it; raises as `take` does."""
        self.take(name)
        self.give_back(name)

    def give_back(self, name: str) -> None:
        """Count one user of the adapter less."""
        with self._lock:
            self._loaded[name].users -= 1

    def _make_room(self, name: str, size: int) -> None:
        if size > self._limit:
            raise InputError(
                f"Adapter {name} takes {size} bytes; adapter_bytes allows {self._limit}.",
                param="adapter_bytes",
            )
        idle = [other for other, loaded in self._loaded.items() if not loaded.users]
        while self.nbytes + size > self._limit:
            if not idle:
                raise OverloadedError(
                    "The adapters in use leave no room for another.", retry_after=1.0
                )
            del self._loaded[idle.pop(0)]
            self.evictions += 1
