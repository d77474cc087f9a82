"""The router: feasibility first, then the lowest estimate: which replicas can serve a request, and
the seconds until its first token at each of them. Beside it a policy to compare it with, and the
choice of two replicas where prompts and answers are computed on different ones.
"""

from __future__ import annotations

import hashlib
from collections.abc import Container, Iterable, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Final, Protocol

from maskwright.dist.routing.replica_state import Decision, Phase, ReplicaState, Role, RouteRequest
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


def spared(
    request: RouteRequest,
    able: Sequence[ReplicaState],
    all_states: Sequence[ReplicaState],
    *,
    ratio: float,
    protected: float,
) -> list[ReplicaState]:
    """Return the replicas of `able` without the large ones, as far as a small request is concerned.
    A replica is large from `ratio` times the positions of the smallest one that serves requests of
    this kind.

    A request is small if `able` has a replica that is not large. It may use a large replica only
    if no small one has room, and only while the share `protected` of the blocks of the large one
    stays free; otherwise it waits at a small one. If all small replicas are out, none is spared: a
    request is never refused for the sake of larger ones that may come.
    """
    sizes = [state.positions for state in all_states if not_served(request, state) is None]
    large = ratio * min(sizes, default=0)
    if max(sizes, default=0) < large or not any(state.positions < large for state in able):
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


RETRY_SECONDS = 1.0
"""The time after which to try again where no replica may take a request at present."""


class RequestRouter(Protocol):
    """What chooses the replica of a request: `Router`, or another policy to compare it with."""

    def route(self, request: RouteRequest, states: Sequence[ReplicaState], now: float) -> Decision:
        """Return where `request` goes. `now` is the time on the clock of its deadline."""
        ...


class Router(Immutable):
    """The policy. It is immutable and keeps nothing between two calls of `route`.

    - `costs`: what is assumed of things that replicas don't report.
    - `large_ratio`: a replica this many times as large as the smallest one is large.
    - `protected`: the share of a large replica's blocks that small requests leave free.
    - `patient`: classes of service whose requests leave large replicas alone altogether.
    """

    costs: RouteCosts = RouteCosts()
    large_ratio: float = 2.0
    protected: float = 0.5
    patient: frozenset[str] = frozenset({"batch"})

    def route(self, request: RouteRequest, states: Sequence[ReplicaState], now: float) -> Decision:
        """Return where `request` goes. `now` is the time on the clock of its deadline."""
        able, obstacles = able_replicas(request, states)
        if not able:
            return refusal(request, states, obstacles)
        kept = spared(
            request,
            able,
            states,
            ratio=self.large_ratio,
            protected=1.0 if request.service in self.patient else self.protected,
        )
        estimates = [estimate(request, state, self.costs) for state in kept]
        chosen, reason = _choose(request, estimates, now)
        return Decision(
            chosen.state.name,
            reason,
            chosen.cached_tokens + chosen.stored_tokens,
            chosen.seconds,
            obstacles=tuple(obstacles),
        )


def able_replicas(
    request: RouteRequest, states: Sequence[ReplicaState]
) -> tuple[list[ReplicaState], list[tuple[str, str]]]:
    """Return the replicas that may get the request, and what hinders the others."""
    able: list[ReplicaState] = []
    obstacles: list[tuple[str, str]] = []
    for state in states:
        obstacle = never_fits(request, state) or is_out(request, state)
        if obstacle is None:
            able.append(state)
        else:
            obstacles.append((state.name, obstacle))
    return able, obstacles


def refusal(
    request: RouteRequest, states: Sequence[ReplicaState], obstacles: Sequence[tuple[str, str]]
) -> Decision:
    """Return the decision about a request that no replica may get."""
    if not states:
        return Decision(None, "there is no replica", retry_after=RETRY_SECONDS)
    fitting = [state for state in states if never_fits(request, state) is None]
    why_not = "; ".join(f"{name}: {why}" for name, why in obstacles)
    retry_after = RETRY_SECONDS if fitting else None
    what = "no replica can take it now" if fitting else "no replica can serve it"
    return Decision(
        None, f"{what} ({why_not})", retry_after=retry_after, obstacles=tuple(obstacles)
    )


def _choose(
    request: RouteRequest, estimates: Sequence[Estimate], now: float
) -> tuple[Estimate, str]:
    """Return the chosen replica and what decided. `estimates` is not empty."""
    roomy = [one for one in estimates if has_room(request, one.state)]
    left = roomy or list(estimates)
    if len(left) == 1:
        return left[0], "the only replica that can take it"
    if request.deadline is not None:
        slack = request.deadline - now
        timely = [one for one in left if one.seconds <= slack]
        if not timely:
            return min(left, key=_order), "the least late"
        left = timely
    # What all of them can fetch from one store distinguishes none of them.
    alike = len({one.stored_tokens for one in left}) == 1 and not any(one.knows for one in left)
    if len(left) > 1 and alike:
        first, second = _two(request.id, left)
        # Of equal ones the one that was drawn first, so that idle replicas share the load.
        return min(first, second, key=lambda one: _order(one)[:2]), "the less loaded of two"
    best = min(left, key=_order)
    if best.cached_tokens:
        return best, "the cached prefix"
    return best, "the stored prefix" if best.stored_tokens else "the lowest estimate"


def _order(one: Estimate) -> tuple[float, int, str]:
    """Earlier first; then the smaller replica, which leaves large ones to large requests; then by
    name, so that the order of the states does not matter."""
    return one.seconds, one.state.positions, one.state.name


def _two(request_id: str, estimates: Sequence[Estimate]) -> tuple[Estimate, Estimate]:
    """Draw two different replicas by the id of the request. `estimates` has at least two."""
    ordered = sorted(estimates, key=lambda one: one.state.name)
    drawn = int.from_bytes(hashlib.blake2b(request_id.encode(), digest_size=8).digest(), "little")
    first = drawn % len(ordered)
    second = (first + 1 + drawn // len(ordered) % (len(ordered) - 1)) % len(ordered)
    return ordered[first], ordered[second]


class RoundRobinRouter:
    """Chooses the replicas that can serve a request in turns, for each phase of requests. Unlike
    `Router`, it remembers whose turn it is, and the order of the states matters."""

    def __init__(self) -> None:
        self._turns: dict[Phase, int] = {}

    def route(self, request: RouteRequest, states: Sequence[ReplicaState], now: float) -> Decision:
        """Return where `request` goes. `now` plays no part."""
        able, obstacles = able_replicas(request, states)
        if not able:
            return refusal(request, states, obstacles)
        turn = self._turns.get(request.phase, 0)
        self._turns[request.phase] = turn + 1
        chosen = able[turn % len(able)]
        cached = cached_tokens(request, chosen)
        return Decision(chosen.name, "its turn", cached, obstacles=tuple(obstacles))


LEAST_TOKENS: Final = 32
"""Tokens of a prompt that aren't cached where it would be decoded, below which they are computed
there: handing over costs two messages, and the steps of such a prompt are hardly longer."""


class Pairing(Immutable):
    """Who serves a request. `decision`: the replica that answers. `prefill`: the replica that
    computes the prompt and hands the request over; None if the first one does so itself."""

    decision: Decision
    prefill: Decision | None = None


def pair(
    router: RequestRouter,
    request: RouteRequest,
    states: Sequence[ReplicaState],
    now: float,
    *,
    least_tokens: int = LEAST_TOKENS,
) -> Pairing:
    """Return who computes the prompt of `request` and who answers it. It is as pure as
    `router.route`; `now` is the time on the clock of the request's deadline.

    A pair of a replica for prefill and one for decode is taken if it is expected to be faster than
    a replica that does both, or if there is no such replica. Roles are a preference: if a role
    has no replica left, the others do its work, so that a request is refused only if no replica of
    any role can take it.
    """
    if all(state.role == "both" for state in states):
        return Pairing(router.route(_for_phase(request, "whole"), states, now))

    def best(phase: Phase, role: Role) -> Decision:
        some = [state for state in states if state.role == role]
        return router.route(_for_phase(request, phase), some, now)

    whole, prefill = best("whole", "both"), best("prefill", "prefill")
    decode = best("decode", "decode")
    if prefill.replica is not None and decode.replica is not None:
        long = request.prompt_tokens - decode.cached_tokens >= least_tokens
        faster = whole.replica is None or prefill.seconds + decode.seconds < whole.seconds
        if long and faster:
            return Pairing(decode, prefill)
    for decision in (whole, decode):
        if decision.replica is not None:
            return Pairing(decision)
    anyone = [replace(state, role="both") for state in states]
    return Pairing(router.route(_for_phase(request, "whole"), anyone, now))


def _for_phase(request: RouteRequest, phase: Phase) -> RouteRequest:
    return request if request.phase == phase else replace(request, phase=phase)
