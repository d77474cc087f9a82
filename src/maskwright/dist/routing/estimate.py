"""The seconds until the first token of a request at one replica."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass
from itertools import takewhile

from maskwright.dist.routing.feasibility import has_room
from maskwright.dist.routing.replica_state import ReplicaState, RouteRequest


@dataclass(frozen=True, slots=True)
class RouteCosts:
    """What the router assumes where a replica does not report it, in seconds.

    - `compile_seconds`: compiling a grammar that the replica does not know.
    - `adapter_seconds`: loading an adapter that is not in the replica's memory.
    - `queue_seconds`: each request that waits there while its blocks are all in use.
    """

    compile_seconds: float = 0.02
    adapter_seconds: float = 0.2
    queue_seconds: float = 0.5


@dataclass(frozen=True, slots=True)
class Estimate:
    """What is expected of one replica. `seconds`: to the first token. `cached_tokens`: tokens of
    the prompt in its cache. `stored_tokens`: further ones in its store. `knows`: whether it has a
    part of the prompt, the grammar or the adapter, which the request then need not pay for."""

    state: ReplicaState
    seconds: float
    cached_tokens: int
    stored_tokens: int
    knows: bool


def cached_tokens(request: RouteRequest, state: ReplicaState) -> int:
    """Return how many tokens of the prompt the replica has cached, as digests tell. At least one
    token of a prompt is always computed."""
    return _tokens(request, leading(request.digests, state.prefixes))


def stored_tokens(request: RouteRequest, state: ReplicaState) -> int:
    """Return how many tokens of the prompt the replica can fetch from its store, after those that
    it has cached."""
    cached = leading(request.digests, state.prefixes)
    found = cached + leading(request.digests[cached:], state.stored)
    return _tokens(request, found) - _tokens(request, cached)


def leading(digests: Iterable[int], known: Container[int]) -> int:
    """Return how many digests are `known`, up to the first one that is not."""
    return sum(1 for _ in takewhile(known.__contains__, digests))


def _tokens(request: RouteRequest, digests: int) -> int:
    return max(0, min(digests * request.digest_tokens, request.prompt_tokens - 1))


def estimate(request: RouteRequest, state: ReplicaState, costs: RouteCosts) -> Estimate:
    """Return the expected time to the first token of `request` at `state`.

    Prompts that wait there are computed first; of the request's own prompt, what is not cached is
    fetched from the replica's store, and the rest computed, or received if another replica has
    computed it. Without free blocks the request also
    waits until those before it are done.
    """
    cached, stored = cached_tokens(request, state), stored_tokens(request, state)
    rate = state.transfer_rate if request.phase == "decode" else state.prefill_rate
    seconds = state.waiting_tokens / state.prefill_rate
    seconds += (request.prompt_tokens - cached - stored) / rate + stored / state.fetch_rate
    seconds += (state.running + state.waiting + 1) * state.step_seconds
    knows = cached > 0
    if request.grammar is not None:
        compiled = request.grammar in state.grammars
        seconds += 0.0 if compiled else costs.compile_seconds
        knows |= compiled
    if request.adapter is not None:
        resident = request.adapter in state.resident_adapters
        seconds += 0.0 if resident else costs.adapter_seconds
        knows |= resident
    if not has_room(request, state):
        seconds += costs.queue_seconds * (1 + state.waiting)
    return Estimate(state, seconds, cached, stored, knows)
