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


def counted_pattern(random: Random, letters: str, size: int) -> str:
    """A pattern of about `size` parts over `letters` in which counted repeats overlap, nest and
    stand side by side."""
    if size <= 1:
        atom = random.choice([*letters, f"[{letters}]", f"[{letters}]"])
        return atom + random.choice(["", "", "*", "+", "?", *_bounds(random)])
    left = random.randint(1, size - 1)
    match random.randrange(6):
        case 0 | 1 | 2:
            return counted_pattern(random, letters, left) + counted_pattern(
                random, letters, size - left
            )
        case 3:
            one = counted_pattern(random, letters, left)
            return f"(?:{one}|{counted_pattern(random, letters, size - left)})"
        case _:
            body = counted_pattern(random, letters, size - 1)
            return f"(?:{body}){random.choice(_bounds(random))}"


def _bounds(random: Random) -> list[str]:
    least = random.randrange(5)
    more = random.randrange(4)
    return [f"{{{least}}}", f"{{{least},{least + more}}}", f"{{{least},}}"]
