"""One replica after the other, whatever is known of them: what the router is compared with."""

from __future__ import annotations

from collections.abc import Sequence

from maskwright.dist.routing.estimate import cached_tokens
from maskwright.dist.routing.replica_state import Decision, Phase, ReplicaState, RouteRequest
from maskwright.dist.routing.router import able_replicas, refusal


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
