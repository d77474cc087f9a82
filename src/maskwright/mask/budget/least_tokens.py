"""The fewest tokens of any text of a grammar, as far as a bounded search finds them."""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count
from typing import Final

import numpy as np

from maskwright.automaton.machine.exits import Configuration
from maskwright.errors import UnspellableError
from maskwright.limits import spend
from maskwright.mask.budget.token_costs import TokenCosts

MOST_TRIES: Final = 300
"""Configurations expanded in search of a text with fewer tokens."""
_BYTES_A_STEP: Final = 16
"""Bytes whose tokens are counted in some 15 microseconds."""
MOST_COMPARED: Final = 400
"""The longest tokens, which are compared at each place of a dive."""


def least_tokens(costs: TokenCosts, start: Configuration, enough: int) -> int:
    """The fewest tokens found for a text from `start`, the configuration of an empty text; where
    they are more than `enough`, fewer may exist.

    The shortest text in bytes is not always the one with the fewest tokens. So where it takes more
    than `enough`, others are tried. What is found is remembered, so that masks within a budget lead
    there.
    """
    best = costs.tokens_needed(start)
    for apart in (True, False):
        if best > enough:
            best = _by_dive(costs, start, enough, best, apart=apart)
    return best if best <= enough else _by_search(costs, start, enough, best)


def _by_dive(
    costs: TokenCosts, start: Configuration, enough: int, best: int, *, apart: bool
) -> int:
    """The tokens of a text in which each token leaves the fewest bytes to be read, as far as some
    of the longest tokens show; from the place on where that takes fewer, of the shortest ending.

    Where hundreds of characters have to come and nearly any will do, this is near the least, and
    no more configurations are met than there are places in the text.

    `apart`: without tokens that share a byte with what has to come. Where places are counted from
    some character on (`.*a.{300}`), each that comes more makes states larger.
    """
    vocabulary, advance = costs.walker.tables.vocabulary, costs.walker.recognizer.advance
    by_length = _longest(costs)
    bytes_of = {each: frozenset(vocabulary.spellings[each]) for each in by_length}
    here, text, steps = start, b"", list[int]()
    rest = costs.shortest(here, text)
    found: tuple[int, list[int], bytes] | None = None
    """Tokens of the best way so far, those of the dive on it, and the bytes after these."""
    try:
        while rest and len(steps) < enough:
            spend(1 + len(rest) // _BYTES_A_STEP)
            tried, coming = by_length, frozenset(rest)
            if apart:
                tried = [each for each in by_length if bytes_of[each].isdisjoint(coming)]
            token = _most_progress(costs, here, text, rest, tried)
            token = vocabulary.first_of(rest) if token is None else token
            following = advance(here, vocabulary.spellings[token], text)
            if following is None:
                break
            here, text = following, text + vocabulary.spellings[token]
            steps.append(token)
            rest = costs.shortest(here, text)
            tokens = len(steps) + vocabulary.fewest_count(rest)
            if tokens < (best if found is None else found[0]):
                found = tokens, [*steps], rest
    except UnspellableError:
        pass
    if found is None:
        return best
    tokens, begun, rest = found
    way = [*begun, *vocabulary.spelled(rest)]
    return tokens if costs.record_way(start, b"", way) else best


def _most_progress(
    costs: TokenCosts,
    here: Configuration,
    text: bytes,
    rest: bytes,
    tokens: list[int],
) -> int | None:
    """Of some tokens, from the longest on, the one that leaves the fewest bytes; None if none of
    them leaves fewer than the `rest` that has to come now.

    No token of n bytes leaves fewer than n bytes less, or there would be a shorter text. Masks are
    not asked: at a place where counters are read, each takes hundreds of new states.
    """
    spellings, advance = costs.walker.tables.vocabulary.spellings, costs.walker.recognizer.advance
    best, most = None, 0
    left: dict[Configuration, int] = {}
    """The bytes that have to come after a token, where that depends on its target alone."""
    for token in tokens:
        data = spellings[token]
        if len(data) <= most:
            break
        following = advance(here, data, text)
        if following is None:
            continue
        after = left.get(following)
        if after is None:
            after = len(costs.shortest(following, text + data))
            if costs.is_fixed(following):
                left[following] = after
        progress = len(rest) - after
        if progress > most:
            best, most = token, progress
    return best


def _longest(costs: TokenCosts) -> list[int]:
    """The longest tokens, from the longest on."""
    lengths = np.fromiter(map(len, costs.walker.tables.vocabulary.spellings), np.int64)
    return np.argsort(-lengths, kind="stable")[:MOST_COMPARED].tolist()


def _by_search(costs: TokenCosts, start: Configuration, enough: int, best: int) -> int:
    """The tokens of a text found by a best-first search, the most promising beginnings first (by
    the tokens so far and a lower bound on the rest: its bytes by the length of the longest
    token)."""
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
