"""The known word that somebody may have meant by another."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher, get_close_matches


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that is most like `word`; None if none is like it. A word that begins with
    `word` comes first, then one with the same letters: they are often exchanged."""
    words = [*known]
    begun = [each for each in words if each.startswith(word)]
    if begun:
        return begun[0]

    def likeness(each: str) -> tuple[bool, float]:
        return sorted(each) == sorted(word), SequenceMatcher(None, each, word).ratio()

    return max(get_close_matches(word, words, n=3), key=likeness, default=None)
