"""Texts that models rarely write as they stand, because no usual token spells them.

A mask allows exactly these bytes, so a model that would rather write `café` in its usual form, or a
plain space, is turned towards tokens of single bytes. That is seldom what an author wants.
"""

from __future__ import annotations

import unicodedata
from typing import Final

_UNSEEN: Final = frozenset({"Cf", "Zl", "Zp"})
"""General categories of characters without a shape of their own."""


def odd_spelling(text: str) -> str | None:
    """What is odd about how a text is spelled: None if nothing is."""
    for character in text:
        category = unicodedata.category(character)
        if category in _UNSEEN or (category == "Zs" and character != " "):
            name = unicodedata.name(character, "not named").lower()
            return f"has the character U+{ord(character):04X} ({name})"
    if not unicodedata.is_normalized("NFC", text):
        return "has letters and accents apart, which models write as one character (NFC)"
    return None


def odd_value(text: str) -> str | None:
    """What is odd about a name or a value in quotes."""
    if text != text.strip():
        return "begins or ends with white space, where most tokens begin or end a word"
    return odd_spelling(text)
