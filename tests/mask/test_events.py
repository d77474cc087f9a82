"""Typed events: the same whatever the pieces in which a text comes, and true to it."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

import pytest

from maskwright import compile_grammar, compile_json_schema, compile_structural_tag, compile_tools
from maskwright.automaton.events.events import (
    CaptureBegun,
    CaptureEnded,
    CaptureText,
    ContainerClosed,
    ContainerOpened,
    Event,
    StringText,
    ValueRead,
)
from maskwright.errors import LimitError
from maskwright.mask import Grammar
from maskwright.vocab import Vocabulary
from tests.grammar.tools.test_tools import FORMATS, NOW, NOWHERE, SPECIALS, WEATHER

EOS = 256
BYTES = Vocabulary([bytes([byte]) for byte in range(256)] + [b"<eos>"], eos=EOS)


def with_special(names: list[str]) -> Vocabulary:
    tokens = [bytes([byte]) for byte in range(256)] + [b"<eos>"]
    special = range(len(tokens), len(tokens) + len(names))
    return Vocabulary([*tokens, *(name.encode() for name in names)], special=special, eos=EOS)


def tokens_of(text: str, vocab: Vocabulary) -> list[int]:
    """Bytes, but for special tokens."""
    found: list[int] = []
    at = 0
    while at < len(text):
        name = next((n for n in vocab.special_tokens if text.startswith(n, at)), None)
        if name is not None:
            found.append(vocab.special_tokens[name])
            at += len(name)
        else:
            found += text[at].encode()
            at += 1
    return found


def reported(grammar: Grammar, tokens: list[int], cuts: set[int]) -> list[Event]:
    """The events of a text that is complete, asked for at each of `cuts`."""
    matcher = grammar.matcher()
    found: list[Event] = []
    for at, token in enumerate(tokens):
        if at in cuts:
            found += matcher.events()
        assert matcher.accept(token), (at, token)
    assert matcher.accept(EOS)
    return found + matcher.events()


def structure(events: list[Event]) -> list[Event]:
    """The events without pieces of text, which are checked to make up the whole."""
    pieces: defaultdict[str, str] = defaultdict(str)
    for event in events:
        match event:
            case CaptureText(name=name, text=text) | StringText(pointer=name, text=text):
                assert text
                pieces[type(event).__name__ + name] += text
            case CaptureEnded(name=name, text=text):
                assert pieces.pop(f"CaptureText{name}", "") == text
            case ValueRead(pointer=pointer, value=str(value)):
                assert pieces.pop(f"StringText{pointer}", "") == value
            case CaptureBegun(name=name):
                assert f"CaptureText{name}" not in pieces
            case _:
                pass
    assert not pieces
    return [event for event in events if not isinstance(event, CaptureText | StringText)]


def check_every_cut(grammar: Grammar, tokens: list[int]) -> list[Event]:
    whole = structure(reported(grammar, tokens, set()))
    assert structure(reported(grammar, tokens, set(range(len(tokens))))) == whole
    for cut in range(1, len(tokens)):
        assert structure(reported(grammar, tokens, {cut})) == whole
    return whole


DOCUMENTS: list[str] = [
    '{"a": [1, "x\\u00e9\\n", {"b/c~":null}], "d" : -2.5e1, "e":"é😀"}',
    '[[], {}, [{"a": []}]]',
    '"\\ud83d\\ude00 \\\\ \\" \\/ é"',
    "[ true , false\n, 1e2 , 0 ]",
    '{"":{"":""}}',
    "12",
]


def replayed(events: list[Event]) -> Any:
    """The JSON value that the events tell of."""
    values: dict[str, Any] = {}
    for event in events:
        match event:
            case ContainerOpened(pointer=pointer, kind=kind):
                value: Any = {} if kind == "object" else []
            case ValueRead(pointer=pointer, value=value):
                pass
            case _:
                continue
        values[pointer] = value
        if pointer:
            parent, _, step = pointer.rpartition("/")
            owner = values[parent]
            if isinstance(owner, list):
                assert step == str(len(owner))
                owner.append(value)
            else:
                owner[step.replace("~1", "/").replace("~0", "~")] = value
    return values[""]


@pytest.mark.parametrize("text", DOCUMENTS)
def test_events_of_json_tell_the_document(text: str) -> None:
    grammar = compile_json_schema(True, BYTES)
    events = check_every_cut(grammar, list(text.encode()))
    assert replayed(events) == json.loads(text)
    opened = [event.pointer for event in events if isinstance(event, ContainerOpened)]
    closed = [event.pointer for event in events if isinstance(event, ContainerClosed)]
    assert sorted(opened) == sorted(closed)


@pytest.mark.parametrize("format", FORMATS)
def test_a_stream_of_calls_cut_anywhere_tells_the_same(format: str) -> None:
    one, two = FORMATS[format]
    names = SPECIALS.get(format, [])
    for vocab in [with_special(names) if names else BYTES]:
        grammar = compile_tools([WEATHER, NOW, NOWHERE], "auto", vocab, format=format)
        lead = "" if format in ("harmony", "llama_pythonic") else "Sö <to "
        events = check_every_cut(grammar, tokens_of(lead + (two or one), vocab))
        begun = [event.name for event in events if isinstance(event, CaptureBegun)]
        called = [name for name in begun if name.startswith("call:")]
        assert called == (["call:weather", "call:now"] if two else ["call:weather"])
        if lead:
            assert CaptureEnded("text", lead) in events
        if "python:days" in begun:
            assert CaptureEnded("python:city", '"Bern"') in events
            assert CaptureEnded("python:days", "2") in events
        elif "json:days" in begun:
            assert CaptureEnded("string:city", "Bern") in events
            assert CaptureEnded("json:days", "2") in events
        else:
            assert CaptureEnded("arguments", '{"city": "Bern", "days": 2}') in events
            assert ValueRead("/city", "Bern") in events


LINES = """
start: line+
line[capture]: key "=" value "\\n"
key[capture]: /[a-zé]+/
value[capture]: /[0-9]+/
"""
NESTED = """
start: "<" e ">" name
e: "(" e ")" | "" | name "|" e "|"
name[capture="n"]: /[a-z]+/
"""
TAIL = """
start: name e
name[capture]: /[a-z]+/
e: "(" e ")" | "1"
"""
RIGHT = """
start: list
list: item | item ";" list
item[capture]: name+
name[capture]: /[a-z]/
"""
LEFT = RIGHT.replace('item ";" list', 'list ";" item')
ITEMS = "+item +name a +name b ab +item +name c c"

CAPTURES = [
    ("called", LINES, "é=1\na=2\n", "+line +key é +value 1 é=1\n +line +key a +value 2 a=2\n"),
    ("right", RIGHT, "ab;c", ITEMS),
    ("left", LEFT, "ab;c", ITEMS),
    ("not in recursion", NESTED, "<a|(b||)|>cd", "+n cd"),
    ("before recursion", TAIL, "ab((1))", "+name ab"),
]


@pytest.mark.parametrize("case", CAPTURES, ids=[case[0] for case in CAPTURES])
def test_captures_of_called_rules(case: tuple[str, str, str, str]) -> None:
    _, rules, text, expected = case
    grammar = compile_grammar(rules, BYTES, dialect="lark")
    assert spelled(check_every_cut(grammar, list(text.encode()))) == expected


def spelled(events: list[Event]) -> str:
    """`+name` where a capture begins, its text where it ends."""
    found: list[str] = []
    for event in events:
        match event:
            case CaptureBegun(name=name):
                found.append(f"+{name}")
            case CaptureEnded(text=text):
                found.append(text)
            case _:
                pass
    return " ".join(found)


def test_a_grammar_that_ends_in_recursion_has_events() -> None:
    """And none where it has neither captures nor JSON."""
    recursive = 'start: e\ne: "(" e ")" | '
    grammar = compile_grammar(recursive + "/[0-9]/", BYTES, dialect="lark")
    assert check_every_cut(grammar, list(b"((1))")) == []
    grammar = compile_grammar(recursive + '%json {"const": 1}', BYTES, dialect="lark")
    assert check_every_cut(grammar, list(b"((1))")) == [ValueRead("", 1)]


def test_captures_written_out_are_bounded() -> None:
    doubling = "\n".join(f"r{n}: r{n + 1} r{n + 1}" for n in range(40))
    grammar = f"start: r0\n{doubling}\nr40[capture]: /[a-z]/"
    with pytest.raises(LimitError, match="grammar_nodes"):
        compile_grammar(grammar, BYTES, dialect="lark")


def test_text_is_reported_as_soon_as_it_is_certain() -> None:
    tag = {"type": "tag", "begin": "<", "content": {"type": "any_text"}, "end": "</b>"}
    matcher = compile_structural_tag({"format": tag}, BYTES).matcher()
    heard: list[tuple[str, list[Event]]] = []
    for character in "<a</c></b>":
        for byte in character.encode():
            assert matcher.accept(byte)
        heard.append((character, matcher.events()))
    assert heard == [
        ("<", [CaptureBegun("text")]),
        ("a", [CaptureText("text", "a")]),
        ("<", []),
        ("/", []),
        ("c", [CaptureText("text", "</c")]),
        (">", [CaptureText("text", ">")]),
        ("<", []),
        ("/", []),
        ("b", []),
        (">", [CaptureEnded("text", "a</c>")]),
    ]


def test_more_readings_than_are_distinguished_end_no_event() -> None:
    """Any number of texts side by side: each byte may end one of them, or not."""
    texts = {"type": "star", "content": {"type": "any_text"}}
    grammar = compile_structural_tag({"type": "structural_tag", "format": texts}, BYTES)
    text = "of words there may be as many as there are places between letters"
    matcher = grammar.matcher()
    events: list[Event] = []
    for byte in text.encode():
        assert matcher.accept(byte)
        events += matcher.events()
    events += matcher.events(final=True)
    assert "".join(e.text for e in events if isinstance(e, CaptureText)) == text


def test_a_text_that_goes_no_further_is_reported_whole() -> None:
    tag = {"type": "tag", "begin": "<", "content": {"type": "any_text"}, "end": "</b>"}
    matcher = compile_structural_tag({"format": tag}, BYTES).matcher()
    for byte in b"<a</":
        assert matcher.accept(byte)
    assert matcher.events() == [CaptureBegun("text"), CaptureText("text", "a")]
    assert matcher.events(final=True) == [CaptureText("text", "</")]
    matcher = compile_structural_tag({"format": {"type": "any_text"}}, BYTES).matcher()
    matcher.accept(ord("a"))
    reported = [CaptureBegun("text"), CaptureText("text", "a"), CaptureEnded("text", "a")]
    assert matcher.events(final=True) == reported


def test_events_go_on_after_a_rollback_and_in_a_fork() -> None:
    grammar = compile_json_schema({"type": "array"}, BYTES)
    matcher = grammar.matcher()
    for byte in b'["ab':
        matcher.accept(byte)
    assert matcher.events() == [ContainerOpened("", "array"), StringText("/0", "ab")]
    twin = matcher.copy()
    matcher.rollback(1)
    assert matcher.events() == []
    for byte in b'c"]':
        matcher.accept(byte)
        twin.accept(byte)
    assert matcher.events() == [
        StringText("/0", "c"),
        ValueRead("/0", "ac"),
        ContainerClosed(""),
    ]
    assert twin.events() == [StringText("/0", "c"), ValueRead("/0", "abc"), ContainerClosed("")]
