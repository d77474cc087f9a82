"""Reading values: which scalars each thread allows, which need a label, and which are excluded."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from maskwright.automaton.json.distinguish import DistinguishedValues
from maskwright.automaton.json.values import ValueReader
from maskwright.automaton.satisfy.solver import Solver
from maskwright.automaton.value.equality import equality_candidates
from maskwright.automaton.value.level import Thread
from maskwright.automaton.value.progress import ArrayProgress
from maskwright.grammar.regular.derivative import contains
from maskwright.limits import DEFAULT_LIMITS
from tests.automaton.solving import array, conjunction


def read(*threads: Thread) -> ValueReader:
    solving = Solver("any", DEFAULT_LIMITS)
    return ValueReader.of(threads, solving, DistinguishedValues(solving))


def item(progress: ArrayProgress) -> Thread:
    """A thread that waits for an array's next item."""
    option = next(iter(progress.options()))
    return Thread(0, option.after, option.value, option.by_value)


def free(schema: Any, tag: int = 0) -> Thread:
    return Thread(tag, None, conjunction(schema))


SCALARS: list[tuple[Any, list[str], list[str], list[str], list[str]]] = [
    # schema, strings it allows and not, spellings of other scalars it allows and not
    ({"type": "string", "maxLength": 1}, ["", "a", '"'], ["ab"], [], ["1", "null"]),
    ({"enum": ["a", 1, None]}, ["a"], ["b", ""], ["1", "1.0", "1e0", "null"], ["2", "true"]),
    ({"type": "boolean"}, [], ["true"], ["true", "false"], ["null", "1"]),
    (False, [], ["", "a"], [], ["0", "null"]),
]


@pytest.mark.parametrize(("schema", "strings", "no_strings", "scalars", "no_scalars"), SCALARS)
def test_one_thread(
    schema: Any,
    strings: list[str],
    no_strings: list[str],
    scalars: list[str],
    no_scalars: list[str],
) -> None:
    found = read(free(schema))
    assert all(contains(found.strings, text) for text in strings)
    assert not any(contains(found.strings, text) for text in no_strings)
    assert all(contains(found.scalars, text) for text in scalars)
    assert not any(contains(found.scalars, text) for text in no_scalars)
    assert found.words == found.values == ()


def test_threads_with_equal_scalars_are_of_one_kind() -> None:
    found = read(free({"const": 1}, 0), free({"enum": [1]}, 1), free({"const": 2}, 2))
    assert found.kinds == (0, 0, 1)
    assert [each.thread.tag for each in found.read((1, 0))] == [0, 1]
    assert [each.thread.tag for each in found.read((0, 1))] == [2]
    assert [each.thread.tag for each in found.read(None)] == [0, 1, 2]


UNIQUE: list[tuple[dict[str, Any], set[str], set[str], set[str]]] = [
    # array of unique items, those read, the values that the next item may and may not be
    ({"items": {"enum": [1, 2]}}, {"1"}, {"2"}, {"1"}),
    ({"items": {"enum": ["a", "b"]}}, {'"a"'}, {'"b"'}, {'"a"'}),
    ({"items": {"enum": [1, "a", [1]]}}, {"[1]"}, {"1", '"a"'}, {"[1]"}),
    ({"items": {"enum": [1, 2]}, "minItems": 2}, set(), {"1", "2"}, set()),
    ({"prefixItems": [{"enum": [1, 2]}, {"const": 1}], "minItems": 2}, set(), set(), {"1"}),
]


@pytest.mark.parametrize(("keywords", "seen", "allowed", "excluded"), UNIQUE)
def test_items_that_must_differ(
    keywords: dict[str, Any], seen: set[str], allowed: set[str], excluded: set[str]
) -> None:
    progress = replace(array({"uniqueItems": True, **keywords}), seen=frozenset(seen))
    (reading,) = read(item(progress)).readings
    assert reading.distinguished == allowed
    assert reading.excluded == excluded


def test_listed_strings_stay_one_list_behind_a_gate() -> None:
    """Whichever strings have come, the words are the same: only the gate's bits change."""
    words = {"uniqueItems": True, "items": {"enum": ["a", "b", "c"]}}
    first, second = (
        read(item(replace(array(words), seen=frozenset(seen)))) for seen in ([], ['"b"'])
    )
    assert first.words == second.words == ("a", "b", "c")
    assert (first.gate, second.gate) == ((0b111, 3), (0b101, 3))
    assert first.strings is second.strings


def test_an_item_without_followers_needs_no_label() -> None:
    last = array({"uniqueItems": True, "items": {"type": "string"}, "maxItems": 1})
    (reading,) = read(item(last)).readings
    assert reading.distinguished == frozenset()
    assert not reading.must_equal_one


def test_the_last_item_may_have_to_repeat_one() -> None:
    schema = {"not": {"uniqueItems": True}, "items": {"enum": [1, 2, 3]}, "maxItems": 3}
    progress = replace(array(schema), index=2, seen=frozenset(("1", "2")))
    (reading,) = read(item(progress)).readings
    assert reading.must_equal_one
    assert reading.distinguished == {"1", "2"}
    assert contains(reading.scalars, "1.0")
    assert not contains(reading.scalars, "3")


def test_containers_carry_the_values_they_must_not_equal() -> None:
    candidates = equality_candidates(["[[1]]"], (), "[")
    schema = {"items": {"type": "array", "items": {"const": 1}, "maxItems": 1}, "maxItems": 1}
    thread = item(replace(array(schema), candidates=candidates))
    opened = read(thread).opened
    (start,) = opened["["]
    assert start.tag == 0
    assert start.progress is not None
    assert len(start.progress.candidates) == 1
    assert opened["{"] == ()
