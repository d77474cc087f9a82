"""Replicas in turns: nobody is left out, and nobody who can't serve a request gets it."""

from __future__ import annotations

from dataclasses import replace

from maskwright.dist.routing.pairing import pair
from maskwright.dist.routing.replica_state import ReplicaState, RouteRequest
from maskwright.dist.routing.round_robin import RoundRobinRouter

STATES = [ReplicaState(name, "m") for name in "abc"]
REQUEST = RouteRequest("r", 100, digests=(7,), digest_tokens=16)


def test_every_replica_has_its_turn_whatever_it_does() -> None:
    busy = [replace(STATES[0], running=9, waiting_tokens=5000), *STATES[1:]]
    router = RoundRobinRouter()
    assert [router.route(REQUEST, busy, 0.0).replica for _ in range(7)] == [*"abcabca"]


def test_a_replica_that_is_out_is_passed_over() -> None:
    states = [STATES[0], replace(STATES[1], healthy=False), STATES[2]]
    router = RoundRobinRouter()
    assert [router.route(REQUEST, states, 0.0).replica for _ in range(4)] == [*"acac"]
    excluded = replace(REQUEST, excluded=frozenset("ac"))
    decision = router.route(excluded, states, 0.0)
    assert decision.replica is None
    assert decision.retry_after is not None


def test_it_says_what_is_cached() -> None:
    states = [replace(STATES[0], prefixes={7}), STATES[1]]
    router = RoundRobinRouter()
    assert [router.route(REQUEST, states, 0.0).cached_tokens for _ in range(2)] == [16, 0]


def test_prompts_and_answers_have_turns_of_their_own() -> None:
    roles = [replace(one, role=role) for one in STATES[:2] for role in ("prefill", "decode")]
    states = [replace(one, name=f"{one.name}-{one.role}") for one in roles]
    router = RoundRobinRouter()
    pairs = [pair(router, REQUEST, states, 0.0) for _ in range(2)]
    assert [one.decision.replica for one in pairs] == ["a-decode", "b-decode"]
    assert [one.prefill and one.prefill.replica for one in pairs] == ["a-prefill", "b-prefill"]
