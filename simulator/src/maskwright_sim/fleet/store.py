"""Keys and values that prefill engines fetch instead of computing them: from memory and disks that
all of them share, and from each other (Qin et al., "Mooncake", FAST'25)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from maskwright.immutable import Immutable
from maskwright_sim.engine.simulated_engine import SimulatedEngine
from maskwright_sim.fleet.loads import cached_tokens, load
from maskwright_sim.load.demand import Demand


class Tier(Immutable):
    """One kind of memory. It holds `blocks` blocks, and is read with `bandwidth` bytes a second."""

    name: str
    blocks: int
    bandwidth: float


class TieredStore:
    """Blocks by the hashes of their tokens and of all blocks before them, in `tiers`, the fastest
    first. A block that is used is moved to the first tier; where a tier is full, the block that has
    not been used for longest falls into the next one, and out of the last one."""

    def __init__(self, tiers: Sequence[Tier], kv_bytes: float, block_size: int = 16) -> None:
        self._tiers = list(tiers)
        self._kept = [OrderedDict[int, None]() for _ in tiers]
        self._block_bytes = kv_bytes * block_size
        self._block_size = block_size

    def keep(self, tokens: Sequence[int]) -> None:
        """Keep the whole blocks of a prompt. The last ones are the first to fall out."""
        for key in reversed(self._keys(tokens)):
            self._use(key)

    def find(self, tokens: Sequence[int], known: int) -> tuple[int, float]:
        """How many leading tokens can be had from the tiers by an engine that knows the first
        `known` itself, and the seconds that reading the others takes. At least one token is left to
        compute."""
        keys = self._keys(tokens[:-1])
        seconds, found = 0.0, known // self._block_size
        for key in keys[found:]:
            place = next((n for n, kept in enumerate(self._kept) if key in kept), None)
            if place is None:
                break
            seconds += self._block_bytes / self._tiers[place].bandwidth
            found += 1
        return max(known, found * self._block_size), seconds

    def _keys(self, tokens: Sequence[int]) -> list[int]:
        size, key, keys = self._block_size, 0, list[int]()
        for start in range(0, len(tokens) - size + 1, size):
            key = hash((key, tuple(tokens[start : start + size])))
            keys.append(key)
        return keys

    def _use(self, key: int) -> None:
        for kept in self._kept:
            kept.pop(key, None)
        for tier, kept in zip(self._tiers, self._kept, strict=True):
            kept[key] = None
            if len(kept) <= tier.blocks:
                return
            key, _ = kept.popitem(last=False)


class Conductor(Immutable):
    """Chooses the engine with the earliest first token: `per_token` seconds for each prompt token
    that waits there, then what the prompt lacks there. With `copies`, what another engine knows of
    the prompt may be copied from there, at `per_copied` seconds for each token, which makes a copy
    of what is hot; it is copied if the other engine knows more than `factor` times as much, and
    if computing it would take longer."""

    per_token: float
    per_copied: float
    copies: bool = True
    factor: float = 1.5

    def choose(self, demand: Demand, engines: Sequence[SimulatedEngine]) -> int:
        """The engine for the prompt of `demand`."""
        known = [cached_tokens(engine, demand) for engine in engines]
        return min(
            range(len(engines)),
            key=lambda at: (self._seconds(demand, engines[at], known, at), at),
        )

    def source(self, demand: Demand, engines: Sequence[SimulatedEngine], at: int) -> int | None:
        """The engine from which what it knows of the prompt is copied to engine `at`, if any is."""
        known = [cached_tokens(engine, demand) for engine in engines]
        best = max(range(len(engines)), key=lambda other: known[other])
        return best if self._pays(known[at], known[best]) else None

    def _pays(self, here: int, there: int) -> bool:
        more = there > self.factor * here
        return self.copies and more and self.per_copied < self.per_token

    def _seconds(
        self, demand: Demand, engine: SimulatedEngine, known: Sequence[int], at: int
    ) -> float:
        queued, requests = load(engine)
        here, there = known[at], max(known)
        copied = there - here if self._pays(here, there) else 0
        lacking = len(demand.prompt) - here - copied
        return (queued + requests + lacking) * self.per_token + copied * self.per_copied
