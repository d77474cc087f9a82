"""Draft tokens by prompt lookup: what followed the last time the text ended like this.

The longest of a few suffix lengths that has occurred before in prompt or output is looked up, and
the tokens that followed it are proposed. This costs an entry of a hash table for each length and
token. Sampling verifies the proposals.
"""

from collections.abc import Sequence
from typing import Final

SIZES: Final[tuple[int, ...]]
"""Lengths in tokens of the suffixes that are looked up, the longest first."""

class LookBack:
    """The drafter of one sequence. Drafts get longer, up to `most` tokens, while they are accepted,
    and pause for up to 64 steps while they are rejected."""

    most: int
    proposed: int
    accepted: int

    def __init__(self, most: int) -> None: ...
    def propose(self, tokens: Sequence[int]) -> list[int]:
        """Propose draft tokens after `tokens`; an empty list for none. Each call must pass the
        tokens of the previous call, with more appended."""

    def judge(self, proposed: int, accepted: int) -> None:
        """Record that of `proposed` draft tokens the first `accepted` were sampled."""
