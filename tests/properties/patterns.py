"""Random regular expressions that Python's `re` and ECMA-262 read alike."""

from __future__ import annotations

from random import Random

ALPHABET = "ab1 "
_ATOMS = (
    "a",
    "b",
    "1",
    " ",
    "ab",
    ".",
    r"\d",
    r"\w",
    r"\s",
    r"\W",
    "[ab]",
    "[^a]",
    "[a-b1]",
    r"\x61",
)
_QUANTIFIERS = ("*", "+", "?", "{2}", "{1,2}", "{0,1}", "{2,}", "*?", "+?", "{1,3}?")
_ASSERTIONS = ("^", "$", r"\b", r"\B")


def pattern(random: Random, size: int = 5) -> str:
    """A pattern of about `size` atoms."""
    if size <= 1:
        return random.choice(_ATOMS)
    left = random.randint(1, size - 1)
    match random.randrange(10):
        case 0 | 1 | 2:
            return pattern(random, left) + pattern(random, size - left)
        case 3:
            return f"(?:{pattern(random, left)}|{pattern(random, size - left)})"
        case 4 | 5:
            return f"({pattern(random, size - 1)}){random.choice(_QUANTIFIERS)}"
        case 6:
            return f"(?={pattern(random, left)}){pattern(random, size - left)}"
        case 7:
            return f"(?!{pattern(random, left)}){pattern(random, size - left)}"
        case 8:
            return random.choice(_ASSERTIONS) + pattern(random, size - 1)
        case _:
            return pattern(random, size - 1) + random.choice(_ASSERTIONS)
