"""Positions after texts on which they depend: what is kept of them, and for how long."""

from __future__ import annotations

import gc
import weakref

import pytest

from maskwright.automaton.machine.exits import Configuration
from maskwright.mask.position import Position
from maskwright.mask.shared import machine
from maskwright.mask.shared.machine import TextPositions

HERE = Configuration(3, 4)
START = Configuration(1, 2)


def test_a_position_is_kept_by_text_and_start() -> None:
    positions, position = TextPositions(), Position(HERE)
    positions.keep(START, b'{"a"', position)
    assert positions.after(START, b'{"a"') is position
    assert positions.after(START, b'{"b"') is None
    assert positions.after(HERE, b'{"a"') is None


def test_texts_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "MOST_TEXTS", 3)
    monkeypatch.setattr(machine, "LONGEST_TEXT", 4)
    positions, position = TextPositions(), Position(HERE)
    texts = [b"0", b"1", b"2", b"3", b"4", b"12345"]
    for text in texts:
        positions.keep(START, text, position)
    kept = [text for text in texts if positions.after(START, text) is not None]
    assert kept == [b"2", b"3", b"4"]


def test_a_variant_for_each_set_of_what_is_excluded() -> None:
    positions = TextPositions()
    a, b, new = (
        positions.variant(HERE, excluded)
        for excluded in (frozenset((b"a",)), frozenset((b"b",)), None)
    )
    assert positions.variant(HERE, frozenset((b"a",))) is a
    assert len({a.variant, b.variant, new.variant, 0}) == 4
    assert a.excluded == {b"a"}
    assert not a.begins_no_name
    assert new.begins_no_name
    assert not new.excluded


def test_estimates_grow_with_what_is_kept() -> None:
    positions = TextPositions()
    assert positions.nbytes == 0
    positions.keep(START, b"{", positions.variant(HERE, None))
    assert positions.nbytes > 500


class WeakPosition(Position):
    """One that can be referred to weakly."""


def test_released_positions_are_freed_without_a_garbage_collection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Within a new name most tokens lead back to the same position."""
    monkeypatch.setattr(machine, "Position", WeakPosition)
    positions = TextPositions()
    position = positions.variant(HERE, None)
    position.keep(97, position)
    kept = weakref.ref(position)
    del position
    gc.disable()
    try:
        positions.release()
        del positions
        assert kept() is None
    finally:
        gc.enable()


def test_variants_that_are_too_many_are_freed_without_a_garbage_collection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(machine, "Position", WeakPosition)
    monkeypatch.setattr(machine, "_MOST_VARIANTS", 2)
    positions = TextPositions()
    here, there = positions.variant(HERE, None), positions.variant(HERE, frozenset())
    here.keep(97, there)
    there.keep(98, here)
    kept = weakref.ref(here)
    del here, there
    gc.disable()
    try:
        positions.variant(HERE, frozenset([b"a"]))
        assert kept() is None
    finally:
        gc.enable()
