"""Small vocabularies, and a matcher's answers as sets: what the tests of the machine share."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import numpy as np

from maskwright import Grammar, Matcher, Vocabulary
from maskwright.automaton.machine.exits import Configuration

BYTES = tuple(bytes([byte]) for byte in range(256))
EVERY_BYTE = Vocabulary((*BYTES, b""), eos=256)
"""Each byte a token, and an end token."""


def vocabulary(*tokens: str | bytes, alphabet: str | bytes = b"") -> Vocabulary:
    """The bytes of `alphabet` (every byte if empty), then `tokens`, then an end token."""
    letters = alphabet.encode() if isinstance(alphabet, str) else alphabet
    single = [bytes([byte]) for byte in dict.fromkeys(letters)] if letters else list(BYTES)
    longer = [token.encode() if isinstance(token, str) else token for token in tokens]
    return Vocabulary((*single, *longer, b""), eos=len(single) + len(longer))


def allowed(matcher: Matcher, budget: int | None = None) -> set[int]:
    """The tokens in the mask."""
    vocab = matcher.recognizer.vocabulary
    out = np.full(vocab.words, -1, np.int32)
    matcher.fill_mask(out, budget)
    bits = np.unpackbits(out.view(np.uint8), bitorder="little")
    assert not bits[vocab.size :].any(), "bits behind the vocabulary are set"
    return set(np.flatnonzero(bits).tolist())


def spelled(matcher: Matcher, budget: int | None = None) -> set[bytes]:
    """The texts of the tokens in the mask; b"" is the end token."""
    tokens = matcher.recognizer.vocabulary.tokens
    return {tokens[token] for token in allowed(matcher, budget)}


def position(matcher: Matcher) -> str:
    """What tells a matcher's state from others of the same grammar."""
    return repr(matcher).partition(" at ")[2]


def after(grammar: Grammar, text: str | bytes) -> Matcher | None:
    """A matcher behind `text`, fed byte by byte; None if the text is no beginning."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    matcher = grammar.matcher()
    return matcher if matcher.accept_bytes(data) == len(data) else None


def matches(grammar: Grammar, text: str | bytes) -> bool:
    """Whether `text` is a complete text of the grammar."""
    matcher = after(grammar, text)
    return matcher is not None and matcher.accepting


def configuration(grammar: Grammar, text: bytes) -> Configuration:
    """The configuration after `text`, which is a beginning, read byte by byte."""
    recognizer = grammar.recognizer
    here = recognizer.start
    for at in range(len(text)):
        following = recognizer.advance(here, text[at : at + 1], text[:at])
        assert following is not None, f"{text!r} is no beginning"
        here = following
    return here


def shortest_ending(matcher: Matcher) -> bytes:
    """The text by which the budget's own masks lead from here to an accepting state."""
    matcher = matcher.copy()
    tokens = matcher.recognizer.vocabulary.tokens
    text = b""
    while not matcher.accepting:
        token = min(allowed(matcher, matcher.min_tokens))
        assert matcher.accept(token)
        text += tokens[token]
    return text


def parsed(text: str | bytes) -> Any:
    """The JSON value; `ValueError` also for NaN, and for a name that comes twice."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        if len(set(names)) < len(names):
            raise ValueError(f"a name comes twice among {names}")
        return dict(pairs)

    def refused(name: str) -> Any:
        raise ValueError(f"{name} is not JSON")

    return json.loads(text, object_pairs_hook=unique, parse_constant=refused)


def beginnings(texts: Iterable[bytes]) -> set[bytes]:
    """Every prefix of every text."""
    return {text[:end] for text in texts for end in range(len(text) + 1)}
