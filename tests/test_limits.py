"""Steps, seconds and bytes of a question, and slices of time."""

from __future__ import annotations

from collections.abc import Iterator
from mmap import mmap
from time import monotonic, sleep

import pytest

from maskwright import compile_json_schema, compile_regex
from maskwright.errors import InputError, LimitError, SliceExceeded
from maskwright.limits import Limits, Work, resident_bytes, slice_of, spend
from tests.matching import EVERY_BYTE, matches

ENDLESS = Limits(work=1 << 40)


def work_for(seconds: float) -> int:
    """Spend steps until that much time has passed; returns how many."""
    end = monotonic() + seconds
    steps = 0
    while monotonic() < end:
        spend()
        steps += 1
    return steps


def take_memory(kept: list[mmap]) -> None:
    """Take a gigabyte within half a second, of which nothing was the process's before."""
    for _ in range(1_000):
        kept.append(mmap(-1, 1 << 20))
        kept[-1].write(b"x" * (1 << 20))
        work_for(0.0005)


@pytest.mark.parametrize("wrong", [{"work": 0}, {"seconds": 0}, {"seconds": -1.0}, {"bytes": 0}])
def test_limits_are_positive(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Limits(**wrong)


def test_seconds_bound_a_question() -> None:
    began = monotonic()
    with pytest.raises(LimitError) as raised, Work(Limits(work=1 << 40, seconds=0.05)):
        work_for(10)
    assert raised.value.limit == "seconds"
    assert 0.05 <= monotonic() - began < 1


def test_seconds_begin_with_each_question() -> None:
    work = Work(Limits(work=1 << 40, seconds=0.2))
    for _ in range(3):
        work.begin()
        with work:
            work_for(0.1)


def test_seconds_of_the_outer_question_bound_the_inner_one() -> None:
    with pytest.raises(LimitError) as raised, Work(Limits(seconds=0.02)), Work(ENDLESS):
        work_for(10)
    assert raised.value.limit == "seconds"


def test_bytes_bound_a_question() -> None:
    kept: list[mmap] = []
    before = resident_bytes()
    with pytest.raises(LimitError) as raised, Work(Limits(work=1 << 40, bytes=32 << 20)):
        take_memory(kept)
    assert raised.value.limit == "bytes"
    assert 16 << 20 < resident_bytes() - before < 200 << 20


@pytest.fixture(params=["alone", "in a question"])
def surroundings(request: pytest.FixtureRequest) -> Iterator[None]:
    if request.param == "alone":
        yield
    else:
        with Work(ENDLESS):
            yield


@pytest.mark.usefixtures("surroundings")
def test_a_slice_ends_what_is_worked_on() -> None:
    began = monotonic()
    with pytest.raises(SliceExceeded), slice_of(0.02):
        work_for(10)
    assert 0.02 <= monotonic() - began < 1
    assert work_for(0.05) > 10  # no slice any more


def test_time_in_which_others_have_the_processor_is_not_of_the_slice() -> None:
    with slice_of(0.5):
        sleep(1)
        work_for(0.01)


@pytest.mark.parametrize("slices", [(0.02, 10), (10, 0.02)])
def test_the_shorter_of_two_slices_counts(slices: tuple[float, float]) -> None:
    began = monotonic()
    outer, inner = slices
    with pytest.raises(SliceExceeded), slice_of(outer), slice_of(inner), Work(ENDLESS):
        work_for(5)
    assert monotonic() - began < 1


def test_a_slice_within_another_leaves_it_as_it_was() -> None:
    with slice_of(10):
        with pytest.raises(SliceExceeded), slice_of(0.01):
            work_for(5)
        work_for(0.05)


def test_a_slice_is_no_mistake_of_the_caller() -> None:
    assert not issubclass(SliceExceeded, InputError)


def test_work_that_was_part_of_a_slice_is_not_bounded_by_it_afterwards() -> None:
    work = Work(ENDLESS)
    with pytest.raises(SliceExceeded), slice_of(0.01), work:
        work_for(5)
    work.begin()
    with work:
        work_for(0.05)
        with Work(ENDLESS):
            work_for(0.05)
        with slice_of(10):
            work_for(0.05)


def test_all_steps_count_of_work_that_is_entered_within_a_slice_and_without() -> None:
    work = Work(Limits(work=1_000))
    with slice_of(10), work:
        spend(600)
    with work:
        spend(400)
        with pytest.raises(LimitError):
            spend(1)


def test_steps_are_counted_in_a_slice_too() -> None:
    with pytest.raises(LimitError) as raised, slice_of(10), Work(Limits(work=1_000)):
        work_for(5)
    assert raised.value.limit == "work"


HARD = {
    "oneOf": [
        {"properties": {"a": {"type": "string", "pattern": f"^.*{letter}.{{4}}$"}}}
        for letter in "abc"
    ]
}
"""A name's value takes a tenth of a second to work out."""


def test_a_question_that_was_given_up_can_be_asked_again() -> None:
    matcher = compile_json_schema(HARD, EVERY_BYTE).matcher()
    with pytest.raises(SliceExceeded), slice_of(0.001):
        matcher.accept_bytes(b'{"a":"a----"}')
    assert matcher.accept_bytes(b'{"a":"a----"}') == 13
    assert matcher.accepting


def test_the_compilers_keep_to_the_seconds() -> None:
    hopeless = Limits(seconds=1e-6)
    pattern = "(.*a.{9})&~(.*ab.*)&~(.*ba.*)"
    with pytest.raises(LimitError, match="seconds"):
        compile_regex(pattern, EVERY_BYTE, algebra=True, limits=hopeless)
    with pytest.raises(LimitError, match="seconds"):
        compile_json_schema(HARD, EVERY_BYTE, limits=hopeless).matcher().accept_bytes(b'{"a":')


def test_generous_limits_change_nothing() -> None:
    limits = Limits(seconds=60, bytes=1 << 32)
    with slice_of(60):
        grammar = compile_json_schema({"type": "integer"}, EVERY_BYTE, limits=limits)
        assert matches(grammar, "12")
