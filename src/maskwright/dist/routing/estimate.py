"""Which replicas can serve a request, and the seconds until its first token at each of them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from itertools import takewhile

from maskwright.dist.routing.replica_state import Phase, ReplicaState, Role, RouteRequest
from maskwright.immutable import Immutable

SERVED: dict[Role, frozenset[Phase]] = {
    "both": frozenset({"whole", "prefill", "decode"}),
    "prefill": frozenset({"prefill"}),
    "decode": frozenset({"decode"}),
}
"""The phases that a replica of each role serves."""


def not_served(request: RouteRequest, state: ReplicaState) -> str | None:
    """Return why the replica serves no requests of this kind, of any length; None if it does."""
    if request.phase not in SERVED[state.role]:
        return f"it is a replica for {state.role}"
    if request.model is not None and request.model not in (state.model, *state.adapters):
        return f"it serves {state.model}"
    if request.adapter is not None and request.adapter not in state.adapters:
        return f"it has no adapter {request.adapter}"
    return None


def never_fits(request: RouteRequest, state: ReplicaState) -> str | None:
    """Return why the replica could not serve the request even if it were idle; None if it could."""
    other = not_served(request, state)
    if other is not None:
        return other
    if request.whole_tokens > state.max_context:
        return f"its context is {state.max_context} tokens"
    if request.needed_blocks(state.block_size) > state.blocks_total:
        return f"it has {state.blocks_total} blocks in all"
    return None


def is_out(request: RouteRequest, state: ReplicaState) -> str | None:
    """Return why the replica must not get the request at present; None if it may."""
    if not state.healthy:
        return "it does not answer"
    if state.draining:
        return "it is draining"
    if state.name in request.excluded:
        return "it has failed this request"
    if state.waiting >= state.max_waiting:
        return "its queue is full"
    return None


def has_room(request: RouteRequest, state: ReplicaState) -> bool:
    """Whether the replica has free blocks for the prompt and the reserved answer now."""
    return request.needed_blocks(state.block_size) <= state.blocks_free


def large_from(request: RouteRequest, states: Iterable[ReplicaState], ratio: float) -> float | None:
    """Return the size, in positions, from which a replica counts as large: `ratio` times the
    smallest of those that serve requests of this kind. None if none is large."""
    sizes = [state.positions for state in states if not_served(request, state) is None]
    if not sizes or max(sizes) < ratio * min(sizes):
        return None
    return ratio * min(sizes)


def spared(
    request: RouteRequest,
    able: Sequence[ReplicaState],
    all_states: Sequence[ReplicaState],
    *,
    ratio: float,
    protected: float,
) -> list[ReplicaState]:
    """Return the replicas of `able` without the large ones, as far as a small request is concerned.

    A request is small if `able` has a replica that is not large. It may use a large replica only
    if no small one has room, and only while the share `protected` of the blocks of the large one
    stays free; otherwise it waits at a small one. If all small replicas are out, none is spared: a
    request is never refused for the sake of larger ones that may come.
    """
    large = large_from(request, all_states, ratio)
    if large is None or not any(state.positions < large for state in able):
        return list(able)
    small = [state for state in able if state.positions < large]
    if any(has_room(request, state) for state in small):
        return small
    needed = [(state, request.needed_blocks(state.block_size)) for state in able]
    return small + [
        state
        for state, blocks in needed
        if state.positions >= large and state.blocks_free - blocks >= protected * state.blocks_total
    ]


class RouteCosts(Immutable):
    """What the router assumes where a replica does not report it, in seconds.

    - `compile_seconds`: compiling a grammar that the replica does not know.
    - `adapter_seconds`: loading an adapter that is not in the replica's memory.
    - `queue_seconds`: each request that waits there while its blocks are all in use.
    """

    compile_seconds: float = 0.02
    adapter_seconds: float = 0.2
    queue_seconds: float = 0.5


class Estimate(Immutable):
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
