"""How tokens end a name: against reading each token alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from maskwright import Vocabulary, compile_json_schema
from maskwright.automaton.machine.step import DEPENDS_ON_TEXT, PENDING
from maskwright.mask import name_positions
from maskwright.mask.shared.generations import tables_of
from maskwright.mask.walk.name_endings import NameEndings, characters_before_quote
from tests.counting import Counting
from tests.matching import after

PIECES = ['a"', '"', 'a":', 'b\\"', 'b\\"c"', '"a"', 'é"', '\\u0061"', '0061"', '":1,"a"', 'a"b"']
SPELLINGS = [b"", *(bytes([byte]) for byte in range(256)), b'\xa9"', *map(str.encode, PIECES), b""]
VOCABULARY = Vocabulary(SPELLINGS, special=(0, len(SPELLINGS) - 1), eos=0)
OPEN: dict[str, Any] = {"type": "object", "additionalProperties": {"type": "integer"}}


@pytest.mark.parametrize(
    ("token", "characters"),
    [
        (b'"', ""),
        (b'a"', "a"),
        (b'a":"b"', "a"),
        (b'\\u0061\xc3\xa9"', "aé"),
        (b'b\\"c"', 'b"c'),
        (b'b\\"', None),
        (b'\xa9"', None),
        (b'u0061"', "u0061"),
        (b"abc", None),
        (b'\n"', None),
    ],
)
def test_the_characters_before_a_quote(token: bytes, characters: str | None) -> None:
    assert characters_before_quote(token) == characters


def test_endings_are_grouped_by_beginning_and_by_characters() -> None:
    tokens = np.array([1, 2, 3, 4], np.int32)
    spellings = [b"", b'a":', b'a"', b"a", b'\\u0061"']
    endings = NameEndings(spellings, tokens, np.array([2, 2, 0, 7], np.int32))
    assert endings.tokens == {b'"': [], b'a"': [1, 2], b'\\u0061"': [4]}
    assert endings.by_characters == {"": [b'"'], "a": [b'a"', b'\\u0061"']}


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        (OPEN, b'{"b":1,"'),
        (OPEN, b'{"b":1,"a'),
        (OPEN, b'{"b":1,"\\u'),
        (OPEN, b'{"b":1,"\xc3'),
        ({**OPEN, "propertyNames": {"pattern": "^[ab]*$"}}, b'{"b":1,"a'),
        ({**OPEN, "additionalProperties": OPEN}, b'{"b":{"b":1,"a'),
        ({**OPEN, "properties": {"ab": {}}}, b'{"b":1,"a'),
    ],
)
def test_every_token_that_ends_a_name_is_an_ending(schema: Any, text: bytes) -> None:
    """Here a token that begins the value after the name, or another name, ends it too."""
    matcher = after(compile_json_schema(schema, VOCABULARY), text)
    assert matcher is not None
    recognizer, here = matcher.recognizer, matcher.position.configuration
    names = name_positions.NamePositions(recognizer)
    found = names._endings_at(here).tokens  # pyright: ignore[reportPrivateUsage]
    ending = {token for tokens in found.values() for token in tokens}
    for token, spelling in enumerate(SPELLINGS):
        if spelling:
            while (target := recognizer.walk.take_token(here.leaf, here.node, token)) == PENDING:
                recognizer.machine.serve_requests()
            assert (target == DEPENDS_ON_TEXT) is (token in ending), spelling
    for beginning, tokens in found.items():
        assert beginning.endswith(b'"')
        assert all(SPELLINGS[token].startswith(beginning) for token in tokens)


def test_endings_are_read_once_for_each_configuration_and_only_where_a_name_may_be_repeated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    vocabulary = Vocabulary(SPELLINGS, special=(0, len(SPELLINGS) - 1), eos=0)
    grammar = compile_json_schema(OPEN, vocabulary, whitespace="compact")
    walk = Counting(grammar.recognizer.walk, "read_endings")
    monkeypatch.setattr(grammar.recognizer, "walk", walk)
    read = walk.calls
    assert after(grammar, b'{"xyz":1,"xy0":2,"x1":3,"') is not None
    assert read == []  # no token holds the rest of an earlier name
    assert after(grammar, b'{"xyz":1,"xyz') is not None
    first = len(read)
    assert first > 0
    assert after(grammar, b'{"vw":1,"vw') is not None
    assert after(grammar, b'{"vw":1,"xyz":2,"xyz') is not None
    assert len(read) == first


def test_tokens_with_quotes_are_those_with_a_quote() -> None:
    parts = tables_of(VOCABULARY).parts
    expected = [token for token, spelling in enumerate(SPELLINGS) if b'"' in spelling]
    assert parts.tokens_with_quotes.tolist() == expected
    assert parts.characters_before_quotes >= {"", "a", "é", 'b"c', "0061"}
