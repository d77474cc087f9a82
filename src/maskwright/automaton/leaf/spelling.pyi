from typing import Final

# How much of a character has been read.
BETWEEN: Final = 0
"""Nothing. From 1 to 3: so many bytes of UTF-8 are missing."""
BACKSLASH: Final = 4
DIGITS: Final = 4
"""With a number from 1 to 4 added: so many digits of a \\uXXXX are missing."""
PAIR: Final = 9
"""A high surrogate; the backslash before the low one comes next."""
PAIR_U: Final = 10
PAIR_DIGITS: Final = 10
"""With a number added: so many digits of the low surrogate are missing."""
ANY_BYTES: Final = 15
ANY_DIGITS: Final = 20
"""With a number added: so many bytes or digits are missing, and all of them lead to one state."""

def following(part: int, value: int, /) -> tuple[tuple[int, int, int], ...]:
    """The bytes that may come where `part` and `value` of a character have been read, ascending,
    each with the part and the value after it: (`BETWEEN`, code point) where the character is
    complete, (`BETWEEN`, -1) where its target was known before. Between two characters these are
    the bytes that begin one that isn't plain ASCII, a backslash too."""

def points(part: int, value: int, /) -> list[tuple[int, int]]:
    """The code points that a character can still become, as ascending ranges (first, last), without
    halves of surrogate pairs."""
