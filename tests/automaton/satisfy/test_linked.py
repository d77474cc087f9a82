"""Sequences that share their beginnings."""

from __future__ import annotations

from maskwright.automaton.satisfy.distinct import LinkedParts, unlinked


def test_two_ends_share_a_beginning() -> None:
    begun = LinkedParts(LinkedParts(None, "a"), "b")
    assert unlinked(LinkedParts(begun, "c")) == ("a", "b", "c")
    assert unlinked(LinkedParts(begun, "d")) == ("a", "b", "d")
    assert unlinked(None) == ()
