"""The fewest tokens of any text of a grammar, as far as a bounded search finds them."""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count
from typing import Final

from maskwright.automaton.machine.exits import Configuration
from maskwright.mask.budget.token_costs import TokenCosts

MOST_TRIES: Final = 300
"""Configurations expanded in search of a text with fewer tokens."""


def least_tokens(costs: TokenCosts, start: Configuration, enough: int) -> int:
    """The fewest tokens found for a text from `start`, the configuration of an empty text.

    The shortest text in bytes is not always the one with the fewest tokens. So where it takes more
    than `enough`, others are tried, the most promising first (by the tokens so far and a lower
    bound on the rest: its bytes by the length of the longest token). What is found is remembered,
    so that masks within a budget lead there.
    """
    best = costs.tokens_needed(start)
    if best <= enough:
        return best
    tables = costs.walker.tables
    spellings, longest = tables.vocabulary.spellings, tables.trie.height
    tie = count()
    queue: list[tuple[int, int, int, Configuration, bytes, tuple[int, ...]]]
    queue = [(0, 0, next(tie), start, b"", ())]
    seen: set[Configuration] = set()
    for _ in range(MOST_TRIES):
        if not queue or best <= enough:
            break
        _, _, _, here, prefix, path = heappop(queue)
        if here in seen or len(path) + 1 >= best:
            continue
        seen.add(here)
        for following, token in costs.successors(here, prefix):
            text = prefix + spellings[token]
            left = len(costs.shortest(following, text))
            steps = (*path, token)
            if left == 0 and costs.record_way(start, b"", steps):
                best = min(best, len(steps))
            bound = len(steps) + -(-left // longest)
            if bound < best:
                heappush(queue, (bound, left, next(tie), following, text, steps))
    return best
