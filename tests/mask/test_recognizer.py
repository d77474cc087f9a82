"""Where bytes lead in a grammar, and what may follow there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from maskwright import Grammar, Vocabulary, compile_json_schema, compile_regex
from maskwright.automaton.machine.exits import BLOCKED, POP, PUSH, STAY, Configuration, Exit
from maskwright.mask.position import unpacked
from maskwright.mask.recognizer import Recognizer
from tests.counting import Counting
from tests.matching import EVERY_BYTE

WORDS = {"type": "array", "uniqueItems": True, "items": {"type": "string"}}
UNIQUE = {"type": "array", "uniqueItems": True, "items": {"enum": [1, 2, 12]}}
SAME = {"type": "object", "additionalProperties": {"type": "null"}}
NAMED: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "ab": {"const": "x"}},
    "required": ["ab"],
    "additionalProperties": False,
}


def json(schema: Any, order: Any = "schema") -> Grammar:
    return compile_json_schema(schema, EVERY_BYTE, whitespace="compact", property_order=order)


def read(grammar: Grammar, text: bytes, cuts: int) -> bool:
    """Whether the text is a beginning, given in pieces of so many bytes."""
    recognizer = grammar.recognizer
    here = recognizer.start
    for at in range(0, len(text), cuts):
        after = recognizer.advance(here, text[at : at + cuts], text[:at])
        if after is None:
            return False
        here = after
    return True


BEGINNINGS: list[tuple[Any, str, bool]] = [
    (NAMED, '{"a":1,"ab":"x"}', True),
    (NAMED, '{"ab":"x"', True),
    (NAMED, '{"a":1}', False),
    (NAMED, '{"b', False),
    (NAMED, '{"ab":"x","a"', False),  # after a name that the schema lists later
    (UNIQUE, "[1,2,12]", True),
    (UNIQUE, "[12,1", True),
    (UNIQUE, "[1,1,", False),
    (UNIQUE, "[12,2,12", False),
    (SAME, '{"p":null,"q":null}', True),
    (SAME, '{"p":null,"p"', False),
    (SAME, '{"p":null,"\\u0070"', False),
]


@pytest.mark.parametrize("cuts", [1, 2, 100])
@pytest.mark.parametrize(("schema", "text", "expected"), BEGINNINGS)
def test_beginnings(schema: Any, text: str, expected: bool, cuts: int) -> None:
    # A piece that ends two names that must differ is refused: shorter ones lead there.
    if expected and cuts == 100 and schema is SAME and text.count(",") > 0:
        assert not read(json(schema), text.encode(), cuts)
        cuts = 2
    assert read(json(schema), text.encode(), cuts) is expected


@pytest.mark.parametrize("before", [0, 3, 100])
@pytest.mark.parametrize(
    ("schema", "text", "expected"),
    [*BEGINNINGS, (True, '[{"\u00e9\\n":[1.5e3,{}]},"\\ud83d\\ude00"] ]', False)],
)
def test_a_text_is_read_as_far_as_its_bytes_lead_one_by_one(
    schema: Any, text: str, expected: bool, before: int
) -> None:
    data, here, taken = text.encode(), json(schema).recognizer.start, 0
    recognizer = json(schema).recognizer
    while taken < len(data):
        following = recognizer.advance(here, data[taken : taken + 1], data[:taken])
        if following is None:
            break
        here, taken = following, taken + 1
    assert (taken == len(data)) is expected
    fresh = compile_json_schema(
        schema, Vocabulary(EVERY_BYTE.tokens, eos=EVERY_BYTE.eos), whitespace="compact"
    ).recognizer
    middle, first = fresh.read(fresh.start, data[:before], b"")
    last, second = fresh.read(middle, data[first:], data[:first])
    assert first + second == taken
    assert fresh.next_bytes(last) == recognizer.next_bytes(here)
    assert fresh.accepting(last) is recognizer.accepting(here)


@pytest.mark.parametrize(
    ("schema", "piece"),
    [
        ({"type": "array", "items": NAMED}, b'{"a":12345,"ab":"x"},'),
        ({"type": "string"}, b"some words \\u00e9"),
    ],
)
def test_long_texts_are_read_in_runs_without_being_copied(
    schema: Any, piece: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each byte used to copy the text before it."""
    matcher = json(schema).matcher()
    begin = (b"[" if schema["type"] == "array" else b'"') + 3 * piece
    assert matcher.accept_bytes(begin) == len(begin)
    calls: list[str] = []

    def counted(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            calls.append(name)
            return real(*arguments)

        return call

    monkeypatch.setattr(Recognizer, "advance", counted("advance", Recognizer.advance))
    arrays = Counting(matcher.recognizer.machine.arrays, "take_run")
    machine = Counting(matcher.recognizer.machine, "serve_requests")
    monkeypatch.setattr(machine, "arrays", arrays, raising=False)
    monkeypatch.setattr(matcher.recognizer, "machine", machine)
    long = piece * (50_000 // len(piece))
    assert matcher.accept_bytes(long) == len(long)
    assert calls.count("advance") == 0
    assert len(arrays.calls) == -(-len(long) // 4_096)


def test_text_is_copied_where_it_decides_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the end of each item that must differ."""
    texts: list[Any] = []
    real = Recognizer.advance

    def noted(self: Recognizer, here: Any, data: bytes, prefix: Any = b"") -> Any:
        texts.append(prefix)
        return real(self, here, data, prefix)

    matcher = json(WORDS).matcher()
    assert matcher.accept_bytes(b'["ab","cd","') == 12
    monkeypatch.setattr(Recognizer, "advance", noted)
    assert matcher.accept_bytes(b'ef","ab"') == 7
    assert len({id(text) for text in texts}) == 1


def test_any_order_takes_names_in_every_order() -> None:
    assert read(json(NAMED, "any"), b'{"ab":"x","a":1}', 1)
    assert not read(json(NAMED), b'{"ab":"x","a":1}', 1)


@pytest.mark.parametrize(
    ("pattern", "text", "following", "forced", "accepting", "complete"),
    [
        ("ab|ac", "", b"a", b"a", False, False),
        ("ab|ac", "a", b"bc", b"", False, False),
        ("ab|ac", "ab", b"", b"", True, True),
        ("a+", "a", b"a", b"", True, False),
        ("a{3}", "aa", b"a", b"a", False, False),
        ("é", "", "é".encode()[:1], "é".encode()[:1], False, False),
    ],
)
def test_what_may_follow(
    pattern: str, text: str, following: bytes, forced: bytes, accepting: bool, complete: bool
) -> None:
    recognizer = compile_regex(pattern, EVERY_BYTE).recognizer
    here = recognizer.advance(recognizer.start, text.encode())
    assert here is not None
    assert recognizer.next_bytes(here) == following
    assert recognizer.forced_byte(here) == forced
    assert recognizer.accepting(here) is accepting
    assert recognizer.complete(recognizer.position(here)) is complete


@pytest.mark.parametrize(
    ("text", "token", "leads_on", "by_text"),
    [
        (b"[", ord('"'), True, False),
        (b"[", ord("1"), False, False),
        (b'["a', ord('"'), True, True),
        (b'["a","a', ord('"'), False, False),  # compared while it was read
        (b'["a","a', ord("b"), True, False),
    ],
)
def test_a_token_reads_the_text_only_where_it_ends_an_item(
    text: bytes, token: int, leads_on: bool, by_text: bool
) -> None:
    recognizer = json(WORDS).recognizer
    here = recognizer.start
    for at in range(len(text)):
        after = recognizer.advance(here, text[at : at + 1], text[:at])
        assert after is not None
        here = after
    asked: list[int] = []

    def read_prefix() -> bytes:
        asked.append(1)
        return text

    after, depends = recognizer.take_token(here, token, read_prefix)
    assert (after is not None, depends, bool(asked)) == (leads_on, by_text, by_text)


def test_an_exit_moves_the_stack() -> None:
    recognizer = json({"type": "array", "items": {"type": "null"}}).recognizer
    arrays = recognizer.machine.arrays
    root = recognizer.start.node
    context = int(arrays.node_context[root])
    stayed = recognizer.take_exit(Exit(STAY, context, 5), root)
    assert stayed == Configuration(5, root)
    pushed = recognizer.take_exit(Exit(PUSH, context, 7), root)
    assert pushed is not None
    assert int(recognizer.machine.arrays.node_parent[pushed.node]) == root
    assert recognizer.take_exit(Exit(PUSH, context, 7), root) == pushed, "nodes are interned"
    assert recognizer.take_exit(Exit(BLOCKED), root) is None
    assert POP not in (STAY, PUSH)


@pytest.mark.parametrize(("leaf", "node"), [(0, 0), (1, 2), (70_000, 3), (5, 2**31 - 1)])
def test_a_configuration_is_unpacked(leaf: int, node: int) -> None:
    assert unpacked(leaf << 32 | node) == Configuration(leaf, node)


def test_grammars_of_one_machine_share_positions() -> None:
    first, second = json(NAMED), json(NAMED)
    here = first.recognizer.start
    assert second.recognizer.position(here) is first.recognizer.first
    assert second.recognizer.positions.added == 0
    assert second.recognizer.ended is first.recognizer.ended


@pytest.mark.parametrize(
    ("schema", "data", "alone"),
    [
        ({"type": "array", "items": {"type": "array"}}, b"[[0,10],[],[[1]]]", True),
        ({"type": "array", "items": {"type": "array"}}, b"[[0],0]", False),  # isn't allowed
        (NAMED, b'{"a":12,"ab":"x"}', True),
        (WORDS, b'["ab', True),
        (WORDS, b'["ab"]', False),
        ({"type": "array", "items": WORDS}, b"[[],[", True),
        ({"type": "array", "items": WORDS}, b'[[],["a","b"]]', False),
    ],
    ids=str,
)
def test_whether_bytes_are_read_without_the_text(schema: Any, data: bytes, alone: bool) -> None:
    recognizer = json(schema).recognizer
    for _ in range(2):  # also where everything has been built
        assert recognizer.reads_without_text(recognizer.start, data) == alone
