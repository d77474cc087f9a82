"""Texts of a grammar: random ones, the shortest, long ones within a limit."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from maskwright.mask import Grammar, Matcher

END: Final = 256
"""The end token of `reading.byte_vocabulary`, for which every grammar here is compiled."""

FREE: Final = 40
"""Bytes to choose from above which a place is in free text, where there is little to explore."""
LEAVING: Final = 0.4
"""How likely a quotation mark ends free text where it may."""
QUOTE: Final = 0x22

Chooser = Callable[[Matcher, Sequence[int]], int]
"""Chooses one of the bytes that may come next; `END` is among them where the text may end."""


class Weights(NamedTuple):
    """How much likelier kinds of bytes are than others: texts that a person can read."""

    letter: float = 8.0
    printable: float = 2.0
    beyond_ascii: float = 0.05
    control: float = 0.02
    end: float = 40.0


WEIGHTS: Final = Weights()


def _weight(byte: int) -> float:
    if byte == END:
        return WEIGHTS.end
    if byte >= 0x80:
        return WEIGHTS.beyond_ascii
    if chr(byte).isalnum():
        return WEIGHTS.letter
    return WEIGHTS.printable if 0x20 <= byte < 0x7F else WEIGHTS.control


_WEIGHTS: Final = [_weight(byte) for byte in range(END + 1)]


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
    rng = random.Random(seed)

    def choose(matcher: Matcher, allowed: Sequence[int]) -> int:
        del matcher
        return rng.choices(allowed, [_WEIGHTS[byte] for byte in allowed])[0]

    while True:
        yield text_of(grammar, limit, choose)


def shortest_text(grammar: Grammar) -> bytes:
    """A text with as few bytes as any that the completion of texts finds; of several the one with
    the plainest characters."""
    return text_of(grammar, grammar.min_tokens, _plainest)


def _plainest(matcher: Matcher, allowed: Sequence[int]) -> int:
    del matcher
    return max(allowed, key=lambda byte: (_WEIGHTS[byte], -byte))


def longest_text(grammar: Grammar, limit: int, seed: int, attempts: int = 32) -> bytes:
    """The longest of some random texts of at most `limit` bytes that end only where they must."""
    rng = random.Random(seed)

    def choose(matcher: Matcher, allowed: Sequence[int]) -> int:
        del matcher
        further = [byte for byte in allowed if byte != END]
        return rng.choices(further, [_WEIGHTS[byte] for byte in further])[0]

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
        leaf, node = matcher.position.configuration
        context = int(matcher.recognizer.machine.arrays.node_context[node])
        plain = [byte for byte in allowed if byte < 0x80 or byte == END] or allowed
        if len(plain) > FREE and QUOTE in plain and rng.random() < LEAVING:
            return QUOTE
        least = min(chosen[context, leaf, byte] for byte in plain)
        rarest = [byte for byte in plain if chosen[context, leaf, byte] == least]
        byte = rng.choices(rarest, [_WEIGHTS[byte] for byte in rarest])[0]
        chosen[context, leaf, byte] += 1
        return byte

    while True:
        yield text_of(grammar, limit, choose)
