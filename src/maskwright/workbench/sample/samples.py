"""Texts of a grammar: random ones, the shortest, long ones within a limit."""

from __future__ import annotations

import json
import math
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate, islice
from operator import mul
from typing import Any, Final, NamedTuple

import numpy as np

from maskwright.mask import Grammar, Matcher
from maskwright.mask.position import Position
from maskwright.workbench.choices import Which

END: Final = 256
"""The end token of `reading.byte_vocabulary`, for which every grammar here is compiled."""

SHORT: Final = 100
"""Bytes more than the shortest text has, up to which texts are written."""
FREE: Final = 40
"""Bytes to choose from above which a place is in free text, where there is little to explore."""
LEAVING: Final = 0.4
"""How likely a quotation mark ends free text where it may."""
QUOTE: Final = 0x22
BACKSLASH: Final = 0x5C
_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"')

PLAINLY: Final[Mapping[str, str]] = {
    "whitespace": "spaced",
    "escapes": "needed",
    "integers": "digits",
    "numbers": "plain",
}
"""How JSON is written in texts of a schema: options of `compile_json_schema`."""

Chooser = Callable[[Matcher, Sequence[int]], int]
"""Chooses one of the bytes that may come next; `END` is among them where the text may end."""


def _readability(byte: int) -> float:
    if byte == END:
        return 40.0
    if byte >= 0x80:
        return 0.05
    if chr(byte).isalnum():
        return 8.0
    return 2.0 if 0x20 <= byte < 0x7F else 0.02


_WITHIN: Final = [_readability(byte) for byte in range(END + 1)]
"""How likely each byte is among those that lead to one place, so that people can read the texts."""
_LISTED: Final = [0.05 if byte == BACKSLASH else 1.0 for byte in range(END + 1)]
"""How likely a place is to which a byte leads, where each is an alternative that the shape
lists."""
_AMONG: Final = [0.004 if 0x80 <= byte < END else _LISTED[byte] for byte in range(END + 1)]
"""The like in free text."""
MOST_PLACES: Final = 4_096
"""Places of texts whose alternatives are remembered."""


class _Weighed(NamedTuple):
    """What may be chosen, with the sums of the weights up to each, as `random.choices` takes
    them."""

    choices: list[Any]
    sums: list[float]


class Alternatives:
    """Chooses a byte at random, in two steps: first one of the places to which bytes lead, then one
    of the bytes that lead there.

    So the ten digits that go on with a number are one alternative beside a sign that ends it, and
    a rule that contains itself is entered again as often as not. Places with many bytes are
    likelier, by the cube root of their number: names have more than one letter."""

    def __init__(self, grammar: Grammar, rng: random.Random) -> None:
        self._walker = grammar.walker
        self._rng = rng
        self._known: dict[tuple[Position, tuple[int, ...]], _Weighed] = {}

    def choose(self, matcher: Matcher, allowed: Sequence[int]) -> int:
        """One of the bytes that are allowed next, `END` among them."""
        key = matcher.position, tuple(allowed)
        weighed = self._known.get(key)
        if weighed is None:
            if len(self._known) >= MOST_PLACES:
                self._known.clear()
            weighed = self._known[key] = self._weighed(*key)
        place: _Weighed = self._rng.choices(weighed.choices, cum_weights=weighed.sums)[0]
        byte: int = self._rng.choices(place.choices, cum_weights=place.sums)[0]
        return byte

    def _weighed(self, here: Position, allowed: Sequence[int]) -> _Weighed:
        """The places to which the bytes lead, each with its bytes."""
        listed = self._walker.tokens_needing_more_than(here.configuration, -1)
        leads = dict(zip(listed.tokens.tolist(), listed.group.tolist(), strict=True))
        groups: dict[int, list[int]] = {}
        for byte in allowed:
            # A byte that only the text allows, as one of a name may be, is a place of its own.
            groups.setdefault(leads.get(byte, -1 - byte), []).append(byte)
        places = [
            _Weighed(each, [*accumulate(_WITHIN[byte] for byte in each)])
            for each in groups.values()
        ]
        among = _AMONG if len(allowed) > FREE else _LISTED
        likely = (max(among[byte] for byte in each) for each in groups.values())
        counts = (math.cbrt(len(each)) for each in groups.values())
        return _Weighed(places, [*accumulate(map(mul, likely, counts))])


def options(matcher: Matcher, budget: int) -> list[int]:
    """The bytes after which the text can be completed within `budget` bytes, the next one included;
    in ascending order, `END` last."""
    if budget == 0 and matcher.accepting:
        return [END]
    row = np.zeros(matcher.recognizer.vocabulary.words, np.int32)
    matcher.fill_mask(row, budget)
    found: list[int] = np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little")).tolist()
    return found


def text_of(grammar: Grammar, limit: int, choose: Chooser) -> bytes:
    """A text of at most `limit` bytes, in which `choose` decides wherever there is a choice.

    Raises `BudgetError` if every text is longer.
    """
    matcher = grammar.matcher()
    text = bytearray()
    while True:
        allowed = options(matcher, limit - len(text))
        byte = allowed[0] if len(allowed) == 1 else choose(matcher, allowed)
        if byte == END:
            return bytes(text)
        text.append(byte)
        matcher.accept(byte)


def random_texts(grammar: Grammar, limit: int, seed: int) -> Iterator[bytes]:
    """Random texts of at most `limit` bytes, without end. Equal seeds give equal texts."""
    alternatives = Alternatives(grammar, random.Random(seed))
    while True:
        yield text_of(grammar, limit, alternatives.choose)


def texts(
    grammar: Grammar, which: Which, count: int, seed: int, limit: int | None = None
) -> Iterator[str]:
    """`count` random texts of at most `limit` bytes, the shortest text, or the longest of some
    random ones. Without a limit: `SHORT` more than the shortest has."""
    most = grammar.min_tokens + SHORT if limit is None else limit
    if which == "shortest":
        yield shortest_text(grammar).decode()
    elif which == "longest":
        yield longest_text(grammar, most, seed).decode()
    else:
        # `islice` takes no count that a machine word doesn't hold.
        found = islice(random_texts(grammar, most, seed), min(count, sys.maxsize))
        yield from (text.decode() for text in found)


def shortest_text(grammar: Grammar) -> bytes:
    """A text with as few bytes as any that the completion of texts finds; of several the one with
    the plainest characters."""
    return text_of(
        grammar,
        grammar.min_tokens,
        lambda _, allowed: max(allowed, key=lambda byte: (_WITHIN[byte], -byte)),
    )


def longest_text(grammar: Grammar, limit: int, seed: int, attempts: int = 32) -> bytes:
    """The longest of some random texts of at most `limit` bytes that end only where they must."""
    alternatives = Alternatives(grammar, random.Random(seed))

    def choose(matcher: Matcher, allowed: Sequence[int]) -> int:
        return alternatives.choose(matcher, [byte for byte in allowed if byte != END])

    longest = b""
    for _ in range(attempts):
        longest = max(longest, text_of(grammar, limit, choose), key=len)
        if len(longest) == limit:
            break
    return longest


def exploring_texts(grammar: Grammar, limit: int, seed: int) -> Iterator[bytes]:
    """Texts of at most `limit` bytes that go where earlier ones haven't been, without end: in each
    state of the machine, a byte that has been chosen there least often."""
    rng = random.Random(seed)
    chosen: Counter[tuple[int, int, int]] = Counter()

    def choose(matcher: Matcher, allowed: Sequence[int]) -> int:
        here = matcher.position.configuration
        leaf, node = here.leaf, here.node
        context = int(matcher.recognizer.machine.arrays.node_context[node])
        plain = allowed
        if len(allowed) > FREE:
            plain = [byte for byte in allowed if byte < 0x80 or byte == END]
            if QUOTE in plain and rng.random() < LEAVING:
                return QUOTE
        least = min(chosen[context, leaf, byte] for byte in plain)
        rarest = [byte for byte in plain if chosen[context, leaf, byte] == least]
        byte = rng.choices(rarest, [_WITHIN[byte] for byte in rarest])[0]
        chosen[context, leaf, byte] += 1
        return byte

    while True:
        yield text_of(grammar, limit, choose)


def plain_json(text: str) -> str:
    """A JSON text with the same values, in whose strings nothing is escaped that JSON lets stand as
    it is. Half of a surrogate pair has no other way to be written."""
    return _STRING.sub(_plain_string, text)


def _plain_string(found: re.Match[str]) -> str:
    value: str = json.loads(found[0])
    if any("\ud800" <= character <= "\udfff" for character in value):
        return found[0]
    return json.dumps(value, ensure_ascii=False)
