"""The seconds until the first token of a request at one replica."""

from __future__ import annotations

from dataclasses import dataclass

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
    the prompt in its cache. `knows`: whether it has a part of the prompt, the grammar or the
    adapter, which the request then need not pay for."""

    state: ReplicaState
    seconds: float
    cached_tokens: int
    knows: bool


def cached_tokens(request: RouteRequest, state: ReplicaState) -> int:
    """Return how many tokens of the prompt the replica has cached, as digests tell. At least one
    token of a prompt is always computed."""
    count = 0
    for digest in request.digests:
        if digest not in state.prefixes:
            break
        count += 1
    return max(0, min(count * request.digest_tokens, request.prompt_tokens - 1))


def estimate(request: RouteRequest, state: ReplicaState, costs: RouteCosts) -> Estimate:
    """Return the expected time to the first token of `request` at `state`.

    Prompts that wait there are computed first; of the request's own prompt, what is not cached is
    computed, or received if another replica has computed it. Without free blocks the request also
    waits until those before it are done.
    """
    cached = cached_tokens(request, state)
    rate = state.transfer_rate if request.phase == "decode" else state.prefill_rate
    seconds = state.waiting_tokens / state.prefill_rate
    seconds += (request.prompt_tokens - cached) / rate
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
    return Estimate(state, seconds, cached, knows)
