"""What the router knows of a request and of each replica, and what it answers. What a prompt begins
with is compared by digests."""

from __future__ import annotations

import hashlib
from collections.abc import Container
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

DIGEST_BYTES: Final = 8


def prefix_digests(prompt: bytes, block_bytes: int, salt: str = "") -> tuple[int, ...]:
    """Return a digest (64 bits) for each whole block of `block_bytes` bytes; it covers the blocks
    before it, too (a chain, as in Mooncake), so equal digests mean equal beginnings up to a
    collision. A collision costs time only: the router then expects a cached prefix that the
    replica's own tree, which compares tokens, does not have. `salt` separates prompts that share no
    cache: model, adapter and the client's cache salt."""
    digest = salt.encode()
    digests: list[int] = []
    for end in range(block_bytes, len(prompt) + 1, block_bytes):
        block = prompt[end - block_bytes : end]
        joined = len(digest).to_bytes(4, "little") + digest + block
        digest = hashlib.blake2b(joined, digest_size=DIGEST_BYTES).digest()
        digests.append(int.from_bytes(digest, "little"))
    return tuple(digests)


Role: TypeAlias = Literal["both", "prefill", "decode"]
"""What a replica does: compute prompts, compute answers, or both."""

Phase: TypeAlias = Literal["whole", "prefill", "decode"]
"""What a request asks for: all of it, its prompt alone, or its answer after a prompt that another
replica has computed."""


CACHED_SECONDS: Final = "x-maskwright-cached-seconds"
"""The header with which a server, asked whether it is ready, tells for how many seconds prefixes
stay in its cache: none that was used later than that has been evicted."""

KV_STORE: Final = "x-maskwright-kv-store"
"""The header with which it tells the name of its store on disk, and if anything has been evicted
from there, for how many seconds blocks stay in it. Servers that share a store tell one name."""


@dataclass(frozen=True, slots=True)
class ReplicaState:
    """One replica as its last report and the router's own bookkeeping say. Tokens, blocks and
    requests are counted; rates are tokens a second.

    - `model`: its name; a request may also name one of `adapters`.
    - `adapters`, `resident_adapters`: those that it can serve, and the ones among them in memory.
    - `max_context`: most tokens of a prompt and its answer together.
    - `blocks_total`, `blocks_free`: blocks of its pool, and those that can be allocated without
      preempting a request, cached ones included.
    - `waiting_tokens`: tokens of prompts that are still to be computed.
    - `running`, `waiting`, `max_waiting`: requests in its steps, requests in its queue, and the
      most that its queue takes.
    - `prefixes`: digests of the beginnings of prompts in its cache (`prefix_digests`).
    - `stored`: digests of what it can fetch from a store outside its cache.
    - `grammars`: keys of the grammars that it has compiled.
    - `prefill_rate`: tokens of prompts that it computes in a second.
    - `fetch_rate`: tokens whose keys and values it fetches from its store in a second.
    - `transfer_rate`: tokens whose keys and values it receives in a second.
    - `step_seconds`: the seconds that each running request adds to a step.
    """

    name: str
    model: str
    role: Role = "both"
    healthy: bool = True
    draining: bool = False
    adapters: frozenset[str] = frozenset()
    resident_adapters: frozenset[str] = frozenset()
    max_context: int = 1 << 30
    block_size: int = 16
    blocks_total: int = 1 << 30
    blocks_free: int = 1 << 30
    waiting_tokens: int = 0
    running: int = 0
    waiting: int = 0
    max_waiting: int = 1 << 30
    prefixes: Container[int] = field(default=frozenset[int](), repr=False)
    stored: Container[int] = field(default=frozenset[int](), repr=False)
    grammars: Container[str] = field(default=frozenset[str](), repr=False)
    prefill_rate: float = 1000.0
    fetch_rate: float = 10_000.0
    transfer_rate: float = 100_000.0
    step_seconds: float = 0.001

    @property
    def positions(self) -> int:
        """The size of the largest request that it can serve, in tokens."""
        return min(self.max_context, self.blocks_total * self.block_size)


@dataclass(frozen=True, slots=True)
class RouteRequest:
    """A request as the router sees it.

    - `id`: what its randomness is derived from.
    - `prompt_tokens`: the length of its prompt.
    - `digests`: of the beginnings of its prompt, shortest first (`prefix_digests`), each
      `digest_tokens` tokens longer than the one before.
    - `reserve`: positions reserved for its answer; `limit`: its token limit, which decides whether
      the context is long enough. None for `reserve`.
    - `deadline`: when its first token is due, on the clock of `now`.
    - `service`: its class of service. Those in `Router.patient` may use only what others leave.
    - `excluded`: names of replicas that have failed it already.
    """

    id: str
    prompt_tokens: int
    model: str | None = None
    phase: Phase = "whole"
    digests: tuple[int, ...] = field(default=(), repr=False)
    digest_tokens: int = 16
    reserve: int = 0
    limit: int | None = None
    deadline: float | None = None
    service: str | None = None
    grammar: str | None = None
    adapter: str | None = None
    excluded: frozenset[str] = frozenset()

    def needed_blocks(self, block_size: int) -> int:
        """Blocks of `block_size` positions for the prompt and the reserved answer."""
        return -(-(self.prompt_tokens + self.reserve) // block_size)

    @property
    def whole_tokens(self) -> int:
        """Most tokens of the prompt and the answer together."""
        return self.prompt_tokens + max(self.reserve, self.limit or 0)


@dataclass(frozen=True, slots=True)
class Decision:
    """Where a request goes.

    - `replica`: the name of the replica; None if none can take the request.
    - `reason`: what decided, or why none can take it.
    - `cached_tokens`: tokens of the prompt that the replica is expected not to compute, since they
      are in its cache or in its store.
    - `seconds`: the estimated time to the first token.
    - `retry_after`: for a refusal that time may remedy, the seconds after which to try again. None
      with a refusal means that no replica could ever serve the request as they are.
    - `obstacles`: for each replica that can't take it, why.
    """

    replica: str | None
    reason: str
    cached_tokens: int = 0
    seconds: float = 0.0
    retry_after: float | None = None
    obstacles: tuple[tuple[str, str], ...] = field(default=(), repr=False)
