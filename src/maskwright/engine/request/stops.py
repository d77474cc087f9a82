"""Stop strings as one automaton over characters (Aho and Corasick, CACM 1975)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

START = 0


class StopAutomaton:
    """An immutable automaton. A state stands for the longest suffix of the text that is a prefix of
    a stop string."""

    def __init__(self, stops: Iterable[str]) -> None:
        self._edges: list[dict[str, int]] = [{}]
        self._depth = [0]
        self._matched = [0]
        for stop in stops:
            self._insert(stop)
        self._fail = self._failures()

    def step(self, state: int, character: str) -> int:
        """The state after one more character."""
        while state != START and character not in self._edges[state]:
            state = self._fail[state]
        return self._edges[state].get(character, START)

    def depth(self, state: int) -> int:
        """Characters at the end of the text that may still become part of a stop string."""
        return self._depth[state]

    def matched(self, state: int) -> int:
        """Length of the longest stop string that the text now ends with; 0 for none."""
        return self._matched[state]

    def _insert(self, stop: str) -> None:
        state = START
        for character in stop:
            following = self._edges[state].get(character)
            if following is None:
                following = len(self._edges)
                self._edges[state][character] = following
                self._edges.append({})
                self._depth.append(self._depth[state] + 1)
                self._matched.append(0)
            state = following
        self._matched[state] = len(stop)

    def _failures(self) -> list[int]:
        """The failure links: for each state, that of its longest proper suffix. A state without a
        match of its own inherits the match of its failure link."""
        fail = [START] * len(self._edges)
        queue = deque(self._edges[START].values())
        while queue:
            state = queue.popleft()
            for character, following in self._edges[state].items():
                back = fail[state]
                while back != START and character not in self._edges[back]:
                    back = fail[back]
                fail[following] = self._edges[back].get(character, START)
                queue.append(following)
            self._matched[state] = self._matched[state] or self._matched[fail[state]]
        return fail
