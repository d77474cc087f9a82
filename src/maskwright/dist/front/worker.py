"""What the router knows of one worker: how it answers checks, and which prompts it has been sent.

A store of keys and values on disk belongs to all servers of a machine that were given its folder.
Whatever prompt one of them has answered, all of them can fetch from there instead of computing it.
"""

from __future__ import annotations

import json
import time
from collections import OrderedDict
from collections.abc import Callable, Generator, Hashable, Iterable
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from maskwright.dist.front.asked import Asked, code_of
from maskwright.dist.front.wire import Address, WorkerClient, WorkerLostError
from maskwright.dist.routing.replica_state import CACHED_SECONDS, KV_STORE, ReplicaState, Role
from maskwright.dist.routing.router import leading

MOST_DIGESTS: Final = 1 << 14
"""Most beginnings of prompts that are remembered of a worker."""

MOST_STORED: Final = 1 << 17
"""Most beginnings of prompts that are remembered of a store, which is larger than a cache."""

MOST_STORES: Final = 256

Key = TypeVar("Key", bound=Hashable)


class Recent(OrderedDict[Key, float]):
    """The most recently used keys, at most `most`, with the times of their last use."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def note(self, key: Key) -> None:
        self[key] = time.monotonic()
        self.move_to_end(key)
        if len(self) > self._most:
            self.popitem(last=False)

    def forget_evicted(self, kept_seconds: bytes | str) -> None:
        """Forget the keys that may be gone, if a worker tells for how many seconds they stay."""
        with suppress(ValueError):
            oldest = time.monotonic() - float(kept_seconds)
            while self and next(iter(self.values())) < oldest:
                self.popitem(last=False)


class StoredPrompts:
    """The beginnings of prompts in each store, by the names that workers tell with their checks."""

    def __init__(self) -> None:
        self._stores: OrderedDict[str, Recent[int]] = OrderedDict()

    def of(self, store: str) -> Recent[int]:
        """Return the digests of what is in a store."""
        found = self._stores.setdefault(store, Recent(MOST_STORED))
        self._stores.move_to_end(store)
        if len(self._stores) > MOST_STORES:
            self._stores.popitem(last=False)
        return found

    def note(self, store: str, digests: Iterable[int], cached: int) -> None:
        """Note that a worker with `store` has answered a prompt, with the first `cached` digests in
        its own cache. The rest was fetched or written, which both count as uses there;
        what was in its cache is written unless it is there."""
        there = self.of(store)
        for number, digest in enumerate(digests):
            if number >= cached or digest not in there:
                there.note(digest)


MOST_GRAMMARS: Final = 1 << 10

PREFILL_RATE: Final = 4000.0
"""Tokens of prompts a second that a worker is taken to compute. Only ratios matter."""

FETCH_RATIO: Final = 10.0
"""How many times as fast as computing a prompt it is taken to be to fetch it from a store on disk
(`benchmarks/engine.py --parts stores`)."""

STEP_SECONDS: Final = 0.01
"""What one running request is taken to cost another one until its first token."""


@dataclass(frozen=True, slots=True)
class WorkerTraits:
    """What the router knows of a worker from the start, besides its address and role.

    - `name`: in metrics and logs; if it is empty, the worker is numbered.
    - `model`: requests for this model go to workers with its name alone.
    - `weight`: how fast it is, in multiples of a worker without a weight.
    """

    name: str = ""
    model: str = ""
    weight: float = 1.0


class RemoteServer:
    """One worker. It is taken to be healthy when it has answered a check, until a connection fails.
    To be used from one event loop."""

    def __init__(
        self,
        name: str,
        address: Address,
        role: Role = "both",
        traits: WorkerTraits = WorkerTraits(),
        stored: StoredPrompts | None = None,
    ) -> None:
        """`stored`: what is known of the stores of all workers."""
        self.name = name
        self.traits = traits
        self.role: Role = role
        self.client = WorkerClient(address)
        self.healthy = False
        self.failures = 0
        """Checks in a row that were not answered."""
        self.running = 0
        """Requests that it is answering for this router."""
        self.cards: list[dict[str, Any]] = []
        """The models that it lists, as it describes them."""
        self.adapters: frozenset[str] = frozenset()
        self.store = ""
        """The store on disk that it shares with others; empty if it has none."""
        self._stored = stored or StoredPrompts()
        self._draining = False
        self._waiting_tokens = 0
        self._digests: Recent[int] = Recent(MOST_DIGESTS)
        self._grammars: Recent[str] = Recent(MOST_GRAMMARS)

    @property
    def url(self) -> str:
        """Where it listens."""
        return self.client.address.url

    @property
    def ready(self) -> bool:
        return self.healthy and not self._draining

    def state(self) -> ReplicaState:
        """Return its state as the routing function takes it."""
        return ReplicaState(
            self.name,
            self.traits.model,
            role=self.role,
            healthy=self.healthy,
            draining=self._draining,
            adapters=self.adapters,
            resident_adapters=self.adapters,
            waiting_tokens=self._waiting_tokens,
            running=self.running,
            prefixes=self._digests,
            stored=self._stored.of(self.store) if self.store else frozenset(),
            grammars=self._grammars,
            prefill_rate=PREFILL_RATE * self.traits.weight,
            fetch_rate=FETCH_RATIO * PREFILL_RATE * self.traits.weight,
            step_seconds=STEP_SECONDS / self.traits.weight,
        )

    async def check(self, headers: list[tuple[bytes, bytes]]) -> None:
        """Ask whether it is ready, and when it has come (back), which models it serves."""
        try:
            response = await self.client.send("GET", "/ready", headers)
            body = await response.body()
            came = not self.healthy
            if came:
                self._digests.clear()  # a server that was started again has empty caches
                self._grammars.clear()
                await self._list_models(headers)
        except WorkerLostError:
            self.lose()
            return
        self._digests.forget_evicted(response.header(CACHED_SECONDS.encode()))
        if response.status == 200:  # one that drains tells nothing, and its store stays
            self.store, _, kept = (
                response.header(KV_STORE.encode()).decode("latin-1").partition(" ")
            )
            if self.store:
                self._stored.of(self.store).forget_evicted(kept)
        self.healthy = response.status == 200 or code_of(body) == "draining"
        self._draining = response.status != 200
        self.failures = 0 if self.healthy else self.failures + 1

    def lose(self) -> None:
        """Note that it does not answer."""
        self.healthy = False
        self.failures += 1

    def note_draining(self) -> None:
        """Note that it takes no new requests, until a check says otherwise."""
        self._draining = True

    def move(self, address: Address) -> None:
        """Let requests go to another address, where this worker has been started again."""
        self.client.abort()
        self.client = WorkerClient(address)
        self.healthy, self.failures = False, 0

    @contextmanager
    def serving(self, asked: Asked | None, cached_tokens: int) -> Generator[Callable[[], None]]:
        """Count a request while the block runs, and remember what the worker will know of it.
        Yields what is to be called once its prompt has been computed."""
        tokens = 0 if asked is None else asked.route.prompt_tokens - cached_tokens
        cached = 0
        if asked is not None:
            cached = leading(asked.route.digests, self._digests)
            for digest in asked.route.digests:
                self._digests.note(digest)
            if asked.route.grammar is not None:
                self._grammars.note(asked.route.grammar)
        self.running += 1
        self._waiting_tokens += tokens

        def begun() -> None:
            nonlocal tokens
            self._waiting_tokens -= tokens
            tokens = 0

        try:
            yield begun
        finally:
            begun()
            self.running -= 1
            if asked is not None and self.store:
                self._stored.note(self.store, asked.route.digests, cached)

    async def _list_models(self, headers: list[tuple[bytes, bytes]]) -> None:
        response = await self.client.send("GET", "/v1/models", headers)
        body = await response.body()
        if response.status != 200:
            return
        try:
            self.cards = list(json.loads(body)["data"])
            self.adapters = frozenset(card["id"] for card in self.cards if "parent" in card)
        except (ValueError, KeyError, TypeError):
            self.cards, self.adapters = [], frozenset()
