"""Stop strings as one automaton over characters (Aho and Corasick, CACM 1975)."""

from collections.abc import Iterable
from typing import Final

START: Final[int]

class StopAutomaton:
    """An immutable automaton. A state stands for the longest suffix of the text that is a prefix of
    a stop string."""

    def __init__(self, stops: Iterable[str]) -> None: ...
    def step(self, state: int, character: str) -> int:
        """The state after one more character."""

    def depth(self, state: int) -> int:
        """Characters at the end of the text that may still become part of a stop string."""

    def matched(self, state: int) -> int:
        """Length of the longest stop string that the text now ends with; 0 for none."""
