"""Threads that wait for a value: what they remember, and where a value leads."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from maskwright.automaton.value.equality import equality_candidates
from maskwright.automaton.value.level import Level, LevelPhase, Thread
from tests.automaton.solving import array

UNIQUE: dict[str, Any] = {"uniqueItems": True}
REPEATING: dict[str, Any] = {"not": {"uniqueItems": True}}


def waiting(schema: dict[str, Any], seen: str = "", excluded: str = "") -> Thread:
    """A thread that waits for the next item of an array."""
    candidates = equality_candidates([excluded], (), "[") if excluded else frozenset()
    progress = replace(array(schema), seen=frozenset(seen), candidates=candidates)
    option = next(iter(progress.options()))
    return Thread(0, option.after, option.value, option.by_value)


THREADS = [
    # thread, whether the value makes no difference, whether the items to come depend on it
    (waiting({}), True, False),
    (waiting(UNIQUE), False, True),
    (waiting({**UNIQUE, "maxItems": 1}), False, False),  # nothing comes after it
    (waiting(REPEATING), False, True),
    (waiting({}, excluded="[1]"), False, False),
    (Thread(0, None, frozenset()), True, False),
]


@pytest.mark.parametrize(("thread", "is_free", "is_watched"), THREADS)
def test_what_depends_on_the_value(thread: Thread, is_free: bool, is_watched: bool) -> None:
    assert thread.is_free is is_free
    assert thread.is_watched is is_watched


LEADS = [
    # thread, value, the items seen after it; None where the value is refused
    (waiting(UNIQUE, "1"), "2", {"1", "2"}),
    (waiting(UNIQUE, "1"), "1", None),
    (waiting(UNIQUE, "1"), None, {"1"}),
    (waiting({**UNIQUE, "maxItems": 1}, "1"), "2", {"1"}),
    (waiting({**UNIQUE, "maxItems": 1}, "1"), "1", None),
    (waiting(REPEATING, "1"), "2", {"1", "2"}),
    (waiting(REPEATING, "1"), "1", set()),
    (waiting({}), "1", set()),
]


@pytest.mark.parametrize(("thread", "value", "seen"), LEADS)
def test_where_a_value_leads(thread: Thread, value: str | None, seen: set[str] | None) -> None:
    after = thread.after_value(value)
    assert (None if after is None else set(after.seen)) == seen


def test_levels_say_what_their_threads_remember() -> None:
    def level(*threads: Thread) -> Level:
        return Level(LevelPhase.NEXT, "[", threads, 1)

    plain, unique, repeating = (Thread(0, array(s)) for s in ({}, UNIQUE, REPEATING))
    assert (level(plain).remembers_items, level(plain).wants_repeat) == (False, False)
    assert (level(plain, unique).remembers_items, level(unique).wants_repeat) == (True, False)
    assert (level(repeating).remembers_items, level(plain, repeating).wants_repeat) == (True, True)
