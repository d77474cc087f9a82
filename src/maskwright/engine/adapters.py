"""The low-rank adapters of one engine, with a least-recently-used cache of those in memory."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from maskwright.errors import InputError, OverloadedError
from maskwright.models import Adapter, AdapterFile, Decoder, Product, one_of_each_shape


class _Loaded(Struct):
    adapter: Adapter
    users: int = 0


class Adapters:
    """The adapters of an engine. An adapter is read from disk when a request needs it. When memory
    is needed, the least recently used adapter is evicted, but never one in use. `limit`: upper
    bound on the bytes in memory.

    `take` and `give_back` may be called from any thread. `loads` and `evictions` count how often
    an adapter was read, and evicted.
    """

    def __init__(self, folders: Mapping[str, Path], decoder: Decoder, limit: int) -> None:
        self.loads = 0
        self.evictions = 0
        self._decoder = decoder
        self._limit = limit
        self._files = {name: AdapterFile.at(name, folder) for name, folder in folders.items()}
        self._loaded: OrderedDict[str, _Loaded] = OrderedDict()  # last used last
        self._lock = threading.Lock()
        for name in folders:  # so that an adapter that can't be read is an error at the start
            self.have(name)

    def __contains__(self, name: object) -> bool:
        return name in self._files

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __getitem__(self, name: str) -> Adapter:
        """Return an adapter that a request has taken."""
        return self._loaded[name].adapter

    @property
    def nbytes(self) -> int:
        """Bytes of all adapters in memory."""
        return sum(loaded.adapter.nbytes for loaded in self._loaded.values())

    @property
    def products(self) -> tuple[Product, ...]:
        """The products of the adapters in memory, one of each shape. A library computes them, even
        for a model whose own products are compiled."""
        with self._lock:
            adapters = [loaded.adapter for loaded in self._loaded.values()]
        parts = [part for adapter in adapters for part in adapter.modules.values()]
        return one_of_each_shape([Product(w) for part in parts for w in (part.down, part.up)])

    def digest(self, name: str) -> str:
        """Return a digest of the adapter's files, which identifies its contents."""
        return self._files[name].digest

    def take(self, name: str) -> None:
        """Load the adapter if it is not in memory, and keep it there until it is given back.

        Raises `InputError` if it can't be read, and `OverloadedError` if the adapters in use leave
        no room for it.
        """
        with self._lock:
            loaded = self._loaded.get(name)
            if loaded is None:
                decoder = self._decoder
                shapes = decoder.adapter_shapes
                adapter = self._files[name].load(shapes, decoder.dtype).on(decoder.device, shapes)
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
        """Give up one use of the adapter, which was taken before."""
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
