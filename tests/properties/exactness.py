"""The oracle of exactness: every mask against everything that could be said instead.

For texts that masks lead to, the mask is compared with a language that was enumerated naively:

- a token that begins the continuation of an enumerated text must be allowed;
- a token that is allowed and begins none of them must lead to a text that is complete and right:
  the shortest ending that the machine itself knows is put behind it, and the whole is judged;
- the text may end exactly where the judge says so.

Beside this every token's acceptance equals its bit in the mask, a refused token changes nothing,
and a text read byte by byte stands where the same text read in tokens stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random

from maskwright import Grammar, Matcher
from tests.matching import after, allowed, beginnings, position

MOST_TEXTS = 150
"""Texts looked at in one check; where there are more, they are drawn by chance."""
MOST_ENDINGS = 50
"""Endings judged in one check."""


def check_exact(
    grammar: Grammar, language: Iterable[bytes], right: Callable[[bytes], bool], *, seed: int = 0
) -> int:
    """Compare the masks of `grammar` with its language; returns how many masks were compared.

    `language`: all complete texts up to some length over the building blocks of interest; `right`
    judges any text at all.
    """
    begun = beginnings(language)
    random = Random(seed)
    texts = _reachable(grammar, begun)
    if len(texts) > MOST_TEXTS:
        texts = texts[:20] + random.sample(texts[20:], MOST_TEXTS - 20)
    masks: dict[str, set[int]] = {}
    unproved: list[tuple[bytes, Matcher, int]] = []
    for text, matcher in texts:
        here = position(matcher)
        if here not in masks:
            masks[here] = allowed(matcher)
            _check_acceptance(matcher, masks[here])
        mask = masks[here]
        for token, data in enumerate(grammar.vocabulary.tokens):
            if data and text + data in begun:
                assert token in mask, f"{data!r} is forbidden behind {text!r}"
            elif data and token in mask:
                unproved.append((text, matcher, token))
        assert matcher.accepting is right(text), f"accepting is {matcher.accepting} at {text!r}"
    endings: dict[str, bytes] = {}
    for text, matcher, token in random.sample(unproved, min(MOST_ENDINGS, len(unproved))):
        there = matcher.copy()
        assert there.accept(token)
        begin = text + grammar.vocabulary.tokens[token]
        ending = _shortest_ending(there, endings)
        assert right(begin + ending), f"{begin!r} is allowed, but it ends as {begin + ending!r}"
    return len(texts)


def _reachable(grammar: Grammar, begun: set[bytes]) -> list[tuple[bytes, Matcher]]:
    """The enumerated beginnings that masks lead to, each by the first tokens that spell it."""
    tokens = [(token, data) for token, data in enumerate(grammar.vocabulary.tokens) if data]
    found: list[tuple[bytes, Matcher]] = [(b"", grammar.matcher())]
    positions = {b"": position(grammar.matcher())}
    for text, matcher in found:  # which grows
        mask = allowed(matcher) if len(found) < 4 * MOST_TEXTS else set[int]()
        for token, data in tokens:
            longer = text + data
            if token not in mask or longer not in begun:
                continue
            following = matcher.copy()
            assert following.accept(token)
            if longer not in positions:
                positions[longer] = position(following)
                found.append((longer, following))
                replayed = after(grammar, longer)
                assert replayed is not None
                assert position(replayed) == position(following), f"tokens matter at {longer!r}"
            assert position(following) == positions[longer], f"the cut matters at {longer!r}"
    return found


def _shortest_ending(matcher: Matcher, known: dict[str, bytes]) -> bytes:
    """The text by which the budget's own masks lead from here to an accepting state.

    `known` holds the endings found before, by position, and gets those of the positions on the way:
    many texts end alike, and the masks of budgets are the costliest part of a check. An item that
    must equal an earlier one depends on the text as well, so a known ending is taken only where
    the machine reads it.
    """
    here = position(matcher)
    ending = known.get(here)
    if ending is not None:
        twin = matcher.copy()
        if twin.accept_bytes(ending) == len(ending) and twin.accepting:
            return ending
    if matcher.accepting:
        return b""
    token = min(allowed(matcher, matcher.min_tokens))
    following = matcher.copy()
    assert following.accept(token)
    data = matcher.recognizer.vocabulary.tokens[token]
    known[here] = data + _shortest_ending(following, known)
    return known[here]


def _check_acceptance(matcher: Matcher, mask: set[int]) -> None:
    """Every token: accepted if and only if its bit is set, and else nothing has changed."""
    vocabulary = matcher.recognizer.vocabulary
    here, row = position(matcher), matcher.row
    for token in range(vocabulary.size):
        twin = matcher.copy()
        assert twin.accept(token) is (token in mask), (vocabulary.tokens[token], here)
        if token in mask:
            assert twin.terminated is (token in vocabulary.eos)
            twin.rollback(1)
        assert position(twin) == here
        assert twin.row == row
        assert not twin.terminated
    ends = set(vocabulary.eos) & mask
    assert ends == (set(vocabulary.eos) if matcher.accepting else set())
    if matcher.complete:
        assert mask == ends
