"""The router against tables, and against properties over random clusters."""

from __future__ import annotations

import copy
import random
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maskwright.dist.routing.replica_state import ReplicaState, RouteRequest, prefix_digests
from maskwright.dist.routing.router import (
    RoundRobinRouter,
    Router,
    has_room,
    is_out,
    never_fits,
    pair,
)

ROUTER = Router()
PROMPT = tuple(prefix_digests(bytes(range(64)), 16))


def states(**changes: dict[str, object]) -> list[ReplicaState]:
    """Two equal, idle replicas `a` and `b` of 100 blocks, with changes by name."""
    plain = [
        ReplicaState(name, "m", blocks_total=100, blocks_free=100, max_context=1600)
        for name in ("a", "b")
    ]
    return [replace(state, **changes.get(state.name, {})) for state in plain]  # pyright: ignore


def request(**changes: object) -> RouteRequest:
    plain = RouteRequest("r", prompt_tokens=64, digests=PROMPT, reserve=16)
    return replace(plain, **changes)  # pyright: ignore


Table = dict[str, tuple[dict[str, dict[str, object]], dict[str, object], str]]

CHOICES: Table = {
    "the longest cached prefix": (
        {"a": {"prefixes": set(PROMPT[:1])}, "b": {"prefixes": set(PROMPT[:3])}},
        {},
        "b",
    ),
    "a digest counts only after all before it": (
        {"a": {"prefixes": set(PROMPT[1:])}, "b": {"prefixes": set(PROMPT[:1])}},
        {},
        "b",
    ),
    "a cached prefix is not worth a long queue": (
        {"a": {"prefixes": set(PROMPT), "waiting_tokens": 500}, "b": {}},
        {},
        "b",
    ),
    "a cached prefix is worth a short queue": (
        {"a": {"prefixes": set(PROMPT), "waiting_tokens": 30}, "b": {}},
        {},
        "a",
    ),
    "a prefix in the store": ({"b": {"stored": set(PROMPT[:3])}}, {}, "b"),
    "a stored prefix goes on after a cached one": (
        {
            "a": {"prefixes": set(PROMPT[:2])},
            "b": {"prefixes": set(PROMPT[:1]), "stored": set(PROMPT[1:])},
        },
        {},
        "b",
    ),
    "a cached prefix is worth more than a stored one": (
        {"a": {"stored": set(PROMPT)}, "b": {"prefixes": set(PROMPT)}},
        {},
        "b",
    ),
    "a store that all share leaves the load to decide": (
        {"a": {"stored": set(PROMPT), "running": 9}, "b": {"stored": set(PROMPT)}},
        {},
        "b",
    ),
    "a known grammar": ({"b": {"grammars": {"g"}}}, {"grammar": "g"}, "b"),
    "a resident adapter": (
        {
            "a": {"adapters": frozenset({"x"})},
            "b": {"adapters": frozenset({"x"}), "resident_adapters": frozenset({"x"})},
        },
        {"adapter": "x"},
        "b",
    ),
    "an adapter that only one serves": ({"a": {"adapters": frozenset({"x"})}}, {"model": "x"}, "a"),
    "room for prompt and reserve": ({"a": {"blocks_free": 4}, "b": {"blocks_free": 5}}, {}, "b"),
    "load": ({"a": {"running": 9}}, {}, "b"),
    "a replica that is draining gets nothing": (
        {"a": {"draining": True}, "b": {"running": 99}},
        {},
        "b",
    ),
    "a replica that is down gets nothing": ({"a": {"healthy": False}}, {}, "b"),
    "a replica that failed it gets it no more": ({}, {"excluded": frozenset({"b"})}, "a"),
    "a full queue": ({"a": {"waiting": 3, "max_waiting": 3}}, {}, "b"),
    "prefill only": (
        {"a": {"role": "decode"}, "b": {"role": "prefill"}},
        {"phase": "prefill"},
        "b",
    ),
    "decode only": ({"a": {"role": "decode"}, "b": {"role": "prefill"}}, {"phase": "decode"}, "a"),
    "a deadline before a cached prefix": (
        {"a": {"prefixes": set(PROMPT), "waiting_tokens": 10, "step_seconds": 0.9}, "b": {}},
        {"deadline": 100.5},
        "b",
    ),
    "the least late": (
        {"a": {"waiting_tokens": 9000}, "b": {"waiting_tokens": 8000}},
        {"deadline": 100.001},
        "b",
    ),
}


@pytest.mark.parametrize("name", CHOICES)
def test_choices(name: str) -> None:
    changes, asked, expected = CHOICES[name]
    decision = ROUTER.route(request(**asked), states(**changes), now=100.0)
    assert decision.replica == expected


REFUSALS: dict[str, tuple[dict[str, dict[str, object]], dict[str, object], str, str, bool]] = {
    "no replica at all": ({}, {}, "", "there is no replica", True),
    "another model": ({}, {"model": "other"}, "ab", "it serves m", False),
    "too long for the context": ({}, {"limit": 1600}, "ab", "its context is 1600", False),
    "too long for the pool": (
        {"a": {"blocks_total": 4}, "b": {"blocks_total": 4}},
        {},
        "ab",
        "it has 4 blocks",
        False,
    ),
    "all draining": (
        {"a": {"draining": True}, "b": {"draining": True}},
        {},
        "ab",
        "it is draining",
        True,
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_refusals_say_why_and_whether_to_try_again(name: str) -> None:
    changes, asked, kept, message, again = REFUSALS[name]
    left = [state for state in states(**changes) if state.name in kept]
    decision = ROUTER.route(request(**asked), left, now=0.0)
    assert decision.replica is None
    assert message in decision.reason
    assert (decision.retry_after is not None) is again


def unlike(small_free: int, large_free: int) -> list[ReplicaState]:
    plain = ReplicaState("small", "m", blocks_total=10, blocks_free=small_free, max_context=10**6)
    return [plain, replace(plain, name="large", blocks_total=100, blocks_free=large_free)]


@pytest.mark.parametrize(
    ("prompt", "small_free", "large_free", "expected"),
    [
        (32, 10, 100, "small"),  # there is room at the small one
        (32, 1, 100, "large"),  # there is none, and most of the large one is free
        (32, 1, 51, "small"),  # it waits, since the large one would be more than half full
        (320, 10, 100, "large"),  # only the large one can serve it
        (320, 10, 1, "large"),  # and it waits there if it has to
    ],
)
def test_large_replicas_are_kept_for_large_requests(
    prompt: int, small_free: int, large_free: int, expected: str
) -> None:
    asked = RouteRequest("r", prompt_tokens=prompt, reserve=0)
    assert ROUTER.route(asked, unlike(small_free, large_free), 0.0).replica == expected


def test_patient_classes_leave_large_replicas_alone() -> None:
    asked = RouteRequest("r", prompt_tokens=32, service="batch")
    assert ROUTER.route(asked, unlike(1, 100), 0.0).replica == "small"
    gone = [replace(state, healthy=state.name == "large") for state in unlike(1, 100)]
    assert ROUTER.route(asked, gone, 0.0).replica == "large"


def test_unknown_requests_spread_over_equal_replicas() -> None:
    many = [ReplicaState(f"r{index}", "m") for index in range(8)]
    chosen = Counter(
        ROUTER.route(RouteRequest(str(index), 10), many, 0.0).replica for index in range(800)
    )
    assert len(chosen) == 8
    assert max(chosen.values()) < 150


def test_what_all_can_fetch_spreads_over_them() -> None:
    able = states(a={"stored": set(PROMPT)}, b={"stored": set(PROMPT)})
    decisions = [ROUTER.route(request(id=str(number)), able, 0.0) for number in range(40)]
    assert {decision.replica for decision in decisions} == {"a", "b"}
    assert {decision.cached_tokens for decision in decisions} == {63}, "one is always computed"


def test_two_choices_balance_better_than_one() -> None:
    """Requests that come between two reports: with one draw the fullest of 16 replicas has about
    ten more than the mean of 20, with two it has about two more."""
    load = {f"r{index:02}": 0 for index in range(16)}
    for index in range(320):
        now = [ReplicaState(name, "m", running=count) for name, count in load.items()]
        chosen = ROUTER.route(RouteRequest(f"id {index}", 10), now, 0.0).replica
        assert chosen is not None
        load[chosen] += 1
    assert max(load.values()) <= 24


REPLICAS = st.builds(
    ReplicaState,
    name=st.sampled_from("abcdefgh"),
    model=st.sampled_from(["m", "m", "m", "other"]),
    role=st.sampled_from(["both", "both", "prefill", "decode"]),
    healthy=st.sampled_from([True, True, True, False]),
    draining=st.sampled_from([False, False, False, True]),
    adapters=st.sampled_from([frozenset[str](), frozenset({"x"})]),
    resident_adapters=st.sampled_from([frozenset[str](), frozenset({"x"})]),
    max_context=st.sampled_from([100, 1000, 10_000]),
    blocks_total=st.sampled_from([8, 64, 512]),
    blocks_free=st.integers(0, 512),
    waiting_tokens=st.integers(0, 5000),
    running=st.integers(0, 40),
    waiting=st.integers(0, 4),
    max_waiting=st.just(4),
    prefixes=st.sets(st.sampled_from(PROMPT)),
    grammars=st.sampled_from([frozenset[str](), frozenset({"g"})]),
)
CLUSTERS = st.lists(REPLICAS, max_size=8, unique_by=lambda state: state.name)
REQUESTS = st.builds(
    RouteRequest,
    id=st.text(max_size=6),
    prompt_tokens=st.integers(1, 2000),
    model=st.sampled_from([None, "m", "x", "missing"]),
    phase=st.sampled_from(["whole", "prefill", "decode"]),
    digests=st.sampled_from([(), PROMPT]),
    reserve=st.integers(0, 200),
    limit=st.none() | st.integers(1, 400),
    deadline=st.none() | st.floats(0, 10),
    service=st.sampled_from([None, "batch", "interactive"]),
    grammar=st.sampled_from([None, "g"]),
    adapter=st.sampled_from([None, "x"]),
    excluded=st.frozensets(st.sampled_from("abcdefgh"), max_size=3),
)


@settings(max_examples=100)
@given(REQUESTS, CLUSTERS, st.floats(0, 10))
def test_never_infeasible_and_never_refused_without_need(
    asked: RouteRequest, cluster: list[ReplicaState], now: float
) -> None:
    feasible = {
        state.name
        for state in cluster
        if never_fits(asked, state) is None and is_out(asked, state) is None
    }
    decision = ROUTER.route(asked, cluster, now)
    if feasible:
        assert decision.replica in feasible
        assert 0 <= decision.cached_tokens < asked.prompt_tokens
    else:
        assert decision.replica is None
        assert len(decision.obstacles) == len(cluster)
    assert {name for name, _ in decision.obstacles} == {s.name for s in cluster} - feasible


@settings(max_examples=100)
@given(REQUESTS, CLUSTERS, st.floats(0, 10), st.randoms(use_true_random=False))
def test_pure_and_independent_of_order(
    asked: RouteRequest, cluster: list[ReplicaState], now: float, shuffle: random.Random
) -> None:
    before = copy.deepcopy((asked, cluster))
    first = ROUTER.route(asked, cluster, now)
    random.seed(shuffle.random())  # the module's own generator plays no part
    shuffled = shuffle.sample(cluster, len(cluster))
    again = Router().route(asked, shuffled, now)
    assert (asked, cluster) == before
    assert replace(first, obstacles=(), reason="") == replace(again, obstacles=(), reason="")


@settings(max_examples=100)
@given(REQUESTS, CLUSTERS, st.floats(0, 10))
def test_a_choice_has_room_if_a_replica_of_its_size_has(
    asked: RouteRequest, cluster: list[ReplicaState], now: float
) -> None:
    chosen = ROUTER.route(asked, cluster, now).replica
    state = next((state for state in cluster if state.name == chosen), None)
    if state is None or has_room(asked, state):
        return
    for other in cluster:
        able = never_fits(asked, other) is None and is_out(asked, other) is None
        if able and other.positions <= state.positions:
            assert not has_room(asked, other)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 900), min_size=1, max_size=40), st.integers(0, 100))
def test_no_starvation(prompts: list[int], seed: int) -> None:
    """Under any mix of requests on unlike replicas each request is placed, and a large one waits
    for no more than what was placed before it."""
    sizes = {"s1": 16, "s2": 16, "l": 64}
    held: dict[str, list[int]] = {name: [] for name in sizes}
    for index, prompt in enumerate(prompts):
        cluster = [
            ReplicaState(
                name,
                "m",
                blocks_total=total,
                blocks_free=max(0, total - sum(held[name])),
                max_context=total * 16,
                waiting=max(0, len(held[name]) - 4),
                waiting_tokens=16 * sum(held[name]),
            )
            for name, total in sizes.items()
        ]
        asked = RouteRequest(f"{seed} {index}", prompt)
        chosen = ROUTER.route(asked, cluster, 0.0).replica
        assert chosen is not None
        assert asked.needed_blocks(16) <= sizes[chosen]
        held[chosen].append(asked.needed_blocks(16))
        if index % 3 == 2:
            for blocks in held.values():
                del blocks[:1]


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
