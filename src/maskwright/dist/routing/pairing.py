"""The replicas that compute the prompt and the answer of a request, where prefill and decode are on
different ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from maskwright.dist.routing.replica_state import Decision, Phase, ReplicaState, Role, RouteRequest
from maskwright.dist.routing.router import RequestRouter

LEAST_TOKENS: Final = 32
"""Tokens of a prompt that aren't cached where it would be decoded, below which they are computed
there: handing over costs two messages, and the steps of such a prompt are hardly longer."""


@dataclass(frozen=True, slots=True)
class Pairing:
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
