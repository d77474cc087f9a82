"""Who computes a prompt and who answers it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maskwright.dist.routing.replica_state import ReplicaState, Role, RouteRequest, prefix_digests
from maskwright.dist.routing.router import LEAST_TOKENS, Pairing, Router, pair

ROUTER = Router()
LONG = RouteRequest("a", prompt_tokens=1000)
PREFILL = [ReplicaState(f"p{i}", "m", "prefill") for i in range(2)]
DECODE = [ReplicaState(f"d{i}", "m", "decode") for i in range(2)]
BOTH = ReplicaState("b", "m")


def names(pairing: Pairing) -> tuple[str | None, str | None]:
    prefill = pairing.prefill
    return None if prefill is None else prefill.replica, pairing.decision.replica


def test_a_long_prompt_is_computed_by_one_and_answered_by_another() -> None:
    prefill, decode = names(pair(ROUTER, LONG, PREFILL + DECODE, 0.0))
    assert prefill in {"p0", "p1"}
    assert decode in {"d0", "d1"}


def test_the_less_loaded_ones_are_taken() -> None:
    busy = [replace(PREFILL[0], waiting_tokens=9000), PREFILL[1], replace(DECODE[0], running=50)]
    assert names(pair(ROUTER, LONG, [*busy, DECODE[1]], 0.0)) == ("p1", "d1")


@pytest.mark.parametrize("tokens", [1, LEAST_TOKENS - 1, LEAST_TOKENS])
def test_a_short_prompt_stays_where_it_is_answered(tokens: int) -> None:
    request = replace(LONG, prompt_tokens=tokens)
    prefill, decode = names(pair(ROUTER, request, PREFILL + DECODE, 0.0))
    assert (prefill is None) == (tokens < LEAST_TOKENS)
    assert decode in {"d0", "d1"}


def test_a_prompt_that_is_cached_where_it_is_answered_is_not_computed_elsewhere() -> None:
    digests = prefix_digests(bytes(n % 251 for n in range(1000)), 16)
    request = replace(LONG, digests=digests)
    knowing = replace(DECODE[1], prefixes=frozenset(digests))
    assert names(pair(ROUTER, request, [*PREFILL, DECODE[0], knowing], 0.0)) == (None, "d1")


def test_a_replica_for_both_serves_where_that_is_faster() -> None:
    idle = [*PREFILL, *DECODE, BOTH]
    loaded = [replace(state, waiting_tokens=20_000) for state in PREFILL] + [*DECODE, BOTH]
    slow = [*PREFILL, *DECODE, replace(BOTH, waiting_tokens=20_000)]
    assert names(pair(ROUTER, LONG, loaded, 0.0)) == (None, "b")
    assert names(pair(ROUTER, LONG, slow, 0.0))[0] is not None
    assert names(pair(ROUTER, LONG, idle, 0.0))[1] is not None


@pytest.mark.parametrize("out", ["prefill", "decode"])
def test_the_others_do_the_work_of_a_role_without_replicas(out: Role) -> None:
    states = [replace(state, healthy=state.role != out) for state in PREFILL + DECODE]
    prefill, answering = names(pair(ROUTER, LONG, states, 0.0))
    assert prefill is None
    assert answering is not None
    assert answering[0] != out[0]


def test_with_nobody_left_the_refusal_says_why() -> None:
    states = [replace(state, draining=True) for state in PREFILL + DECODE]
    pairing = pair(ROUTER, LONG, states, 0.0)
    assert names(pairing) == (None, None)
    assert pairing.decision.retry_after is not None
    assert {name for name, _ in pairing.decision.obstacles} == {"p0", "p1", "d0", "d1"}


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["both", "prefill", "decode"]),
            st.booleans(),
            st.integers(0, 5000),
            st.integers(0, 9),
        ),
        max_size=6,
    ),
    st.integers(1, 3000),
)
def test_whoever_is_left_is_used_and_roles_are_kept(
    drawn: list[tuple[Role, bool, int, int]], tokens: int
) -> None:
    states = [
        ReplicaState(f"r{i}", "m", role, healthy=healthy, waiting_tokens=waiting, running=running)
        for i, (role, healthy, waiting, running) in enumerate(drawn)
    ]
    request = replace(LONG, prompt_tokens=tokens)
    pairing = pair(ROUTER, request, states, 0.0)
    assert pairing == pair(ROUTER, request, states, 0.0)
    prefill, answering = names(pairing)
    assert (answering is None) == (not any(state.healthy for state in states))
    named = {state.name: state for state in states}
    if prefill is not None:
        assert answering is not None
        assert (named[prefill].role, named[answering].role) == ("prefill", "decode")
        assert named[prefill].healthy
    if answering is not None:
        assert named[answering].healthy
    if all(state.role == "both" for state in states):
        assert pairing.decision == ROUTER.route(request, states, 0.0)
