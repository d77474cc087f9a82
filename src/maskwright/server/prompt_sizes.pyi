"""How many tokens the prompts of a body take at least, found in its bytes by compiled code.

A body of megabytes takes tens of milliseconds to become Python objects, most of them with the
interpreter's lock held. Here it is read once, in a few milliseconds, without objects and without
the lock. The text is checked as strictly as by `request.body.parse_object`, so that a prompt is
only counted in a body that is well-formed.
"""

from collections.abc import Container
from typing import Final

MAX_DEPTH: Final[int]
"""Levels of a body at most, the innermost values included."""

MAX_DIGITS: Final[int]
"""Digits of an integer at most: what Python reads by default."""

def least_tokens(
    body: bytes,
    place: str,
    shown: Container[str],
    shrinks: int,
    longest: int,
    *,
    instructed: bool = True,
) -> tuple[int, int] | None:
    """Return how many tokens the longest prompt of a body takes at least, and all of them together;
    None for a body that `parse_object` refuses.

    `place`: the field of the prompts, `messages`, `input` or `prompt`. `shown`: the roles, of
    `system`, `user` and `tool`, whose messages the chat template shows with all of their text,
    apart from space around it; a system's if it is the first one. `shrinks` and `longest`: see
    `LeastTextTokens`. `instructed`: count the `instructions` before an `input`. Of equal names, the
    last one counts. Prompts that `truncate_prompt_tokens` cuts take no tokens. Raises ValueError
    for another place or size."""
