"""The compiled machine against a plain one: no tables, no trie, each token byte by byte."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest

from maskwright import Grammar, compile_choice, compile_json_schema, compile_regex
from maskwright.automaton.machine.exits import (
    BLOCKED,
    DONE,
    DYNAMIC,
    NO_FRAME,
    POP,
    PUSH,
    Configuration,
)
from maskwright.mask.compile.rules import compile_grammar
from maskwright.mask.walk.row_table import RowTable
from tests.matching import EVERY_BYTE, after, allowed, vocabulary

Place = tuple[int, tuple[int, ...]]
"""A leaf state, and the contexts from the innermost on."""

VOCABULARY = vocabulary(
    '":', '": "', '","', '{"', '"}', '"]', "[]", "[{", "}]", "},", "true", "null", "12", "-1.5e",
    "ab", "abc", '"a"', '"a":1', "é", b"\xc3", '\\u00', "  ", "\n  ", 'a","ab":',
)  # fmt: skip


class PlainMachine:
    """Asks leaf table and contexts for every step."""

    def __init__(self, grammar: Grammar) -> None:
        self.leaves = grammar.recognizer.tables.leaves
        self.contexts = grammar.recognizer.machine.contexts
        self.too_many = False
        self.passed: tuple[int, ...] | None = None
        """What the level of the last exit that depended on the text stands on."""

    def after(self, place: Place, data: bytes) -> Place | None:
        """The place behind a token; None if it is not allowed."""
        self.too_many, self.passed = False, None
        here: Place | None = place
        for byte in data:
            here = self.moved(here, byte) if here else None
        while here and self.is_read(here[0]):
            here = self.left(here)
        return None if self.too_many else here

    def moved(self, place: Place, byte: int) -> Place | None:
        here: Place | None = place
        while here is not None:
            leaf, stack = here
            target = self.leaves.next_states(leaf).get(byte)
            if target is not None and self.is_open(target, stack[0]):
                eager = self.leaves.rows.eager[target]
                return self.left((target, stack)) if eager else (target, stack)
            here = self.left(here)
        return None

    def left(self, place: Place) -> Place | None:
        leaf, stack = place
        label = self.leaves.label_of(leaf)
        while label is not None:
            found = self.contexts.exit(stack[0], label)
            if found.kind == BLOCKED:
                return None
            if found.kind & DYNAMIC:
                self._pass(stack)
            if found.kind != POP:
                below = stack[1:]
                if found.kind == PUSH:
                    below = (stack[0] if found.frame == NO_FRAME else found.frame, *below)
                return found.leaf, (found.context, *below)
            label, stack = found.result, stack[1:]
        return None

    def _pass(self, stack: tuple[int, ...]) -> None:
        """One more exit that depends on the text: the second is too many, unless the level of the
        one before has been closed since."""
        below = stack[1:]
        if self.passed is not None and self.passed[-len(stack) :] != stack:
            self.too_many = True
        self.passed = below

    def is_read(self, leaf: int) -> bool:
        return self.leaves.label_of(leaf) is not None and not self.leaves.next_states(leaf)

    def is_open(self, leaf: int, context: int) -> bool:
        low, high = (
            int(gate[leaf]) for gate in (self.leaves.rows.gate_low, self.leaves.rows.gate_high)
        )
        gate = self.contexts.gate(context)
        return high == 0 or gate is None or any(gate[0] >> name & 1 for name in range(low, high))

    def accepting(self, place: Place) -> bool:
        here: Place | None = place
        self.too_many, self.passed = False, None
        while here is not None and here[1][0] != DONE:
            here = self.left(here)
        return here is not None


def place_of(grammar: Grammar, here: Configuration) -> Place:
    arrays = grammar.recognizer.machine.arrays
    stack: list[int] = []
    node = here.node
    while node >= 0:
        stack.append(int(arrays.node_context[node]))
        node = int(arrays.node_parent[node])
    return here.leaf, tuple(stack)


def closed(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


SCHEMAS: list[Any] = [
    True,
    {"type": ["string", "null"], "maxLength": 4},
    {"enum": ["a", "ab", "abc", 12, 123, [1, 2], {"a": 1}]},
    {"type": "number", "multipleOf": 0.5, "maximum": 12},
    closed(a={"type": "integer"}, ab={"type": "string"}, abc=closed(a=True)),
    {"type": "object", "properties": {"ab": {"const": 1}}, "additionalProperties": {"maximum": 9}},
    {"anyOf": [closed(a={"const": "ab"}), closed(a={"const": "abc"}, ab=True), {"items": True}]},
    {"type": "array", "uniqueItems": True, "items": {"type": "string"}},
    {"uniqueItems": True, "items": {"uniqueItems": True, "items": {"type": "integer"}}},
    {"type": "string", "pattern": "^(ab|é)*[0-9]{2}$"},
]
RULES = """
start: item ("," item)*
item: "[" start "]" | WORD
WORD: /[a-c]+/
"""


COMPILED: dict[str, Callable[[], Grammar]] = {
    **{
        f"{schema} {order}": partial(compile_json_schema, schema, VOCABULARY, property_order=order)
        for schema in SCHEMAS
        for order in ("schema", "any")
    },
    "regex": partial(compile_regex, "(ab|a)*c{2,9}12", VOCABULARY),
    "rules": partial(compile_grammar, RULES, VOCABULARY, dialect="lark"),
}


@pytest.mark.parametrize("name", COMPILED)
def test_walks(name: str) -> None:
    grammar = COMPILED[name]()
    plain = PlainMachine(grammar)
    random = Random(name)
    spellings = VOCABULARY.spellings
    for _ in range(5):
        matcher = grammar.matcher()
        for _ in range(14):
            place = place_of(grammar, matcher._path[-1].configuration)
            behind = {t: plain.after(place, data) for t, data in enumerate(spellings) if data}
            ends = set(VOCABULARY.eos) if plain.accepting(place) else set[int]()
            mask = allowed(matcher)
            assert mask == {t for t, there in behind.items() if there} | ends
            tokens = sorted(mask - set(VOCABULARY.eos))
            if not tokens:
                break
            token = random.choice(tokens)
            plain.after(place, spellings[token])
            by_text = plain.passed is not None
            if not matcher.accept(token):
                assert by_text, "the text names something again"
                continue
            if not by_text:  # which the plain machine can't follow
                assert place_of(grammar, matcher._path[-1].configuration) == behind[token]


NAMED = """
start: sum (" "* "," /[ \\t]*/ sum)*
sum: "-"? (NAME | "if" | KEY "(" sum? ")") ("." NAME)*
NAME: /[a-c_é][a-c0-9_é]*/
KEY: /[A-C]+|ab+/
"""


CALLED = """
start: NAME | "-" start | NAME "(" start ")"
NAME: /[A-Za-z_][A-Za-z0-9_é]*/
%ignore / +/
"""
"""A space may follow a name, and stand in a call. So each letter of a name is left at once, and the
text is then where it was before."""


@pytest.mark.parametrize("rules", [NAMED, CALLED])
@pytest.mark.parametrize("begun", ["", "-", "a", "ab", "-ab(", "A(", "a ", "b", "if", "- a"])
def test_what_leads_back_to_the_same_place_is_taken_as_a_whole(rules: str, begun: str) -> None:
    parts = ["a", "ab", "c1", "_", "é", "A", " ", "  ", "-", "(", ")", ".", ",", "if", "\t"]
    texts = ["".join(some) for count in (1, 2, 3) for some in product(parts, repeat=count)]
    vocab = vocabulary(*dict.fromkeys(texts), b"a\xc3", b"-ab\xc3", b"\xa9a", b"a\xff")
    grammar = compile_grammar(rules, vocab, dialect="lark")
    plain, matcher = PlainMachine(grammar), grammar.matcher()
    matcher.accept_bytes(begun.encode())
    place = place_of(grammar, matcher._path[-1].configuration)
    taken = {t for t, data in enumerate(vocab.spellings) if data and plain.after(place, data)}
    assert allowed(matcher) - set(vocab.eos) == taken


def test_a_place_that_all_letters_lead_back_to_is_not_walked_letter_by_letter() -> None:
    texts = ["".join(some) for some in product("abcd", repeat=5)]
    grammar = compile_grammar('start: "-" /[a-z]+/', vocabulary(*(f"-{text}" for text in texts)))
    grammar.matcher().mask()
    assert grammar.recognizer.walk.scratch.visited < len(texts)


def test_rows_are_kept_by_content() -> None:
    grammar = compile_json_schema(True, EVERY_BYTE)
    table: RowTable = grammar.recognizer.tables.rows
    seen: dict[bytes, int] = {}
    matcher = grammar.matcher()
    for byte in b'{"a":["b",1,{"c":null}],"d":"e"}':
        row = table[matcher.row]
        out = np.zeros(EVERY_BYTE.words, np.int32)
        matcher.fill_mask(out)
        assert np.array_equal(row, out)
        assert seen.setdefault(row.tobytes(), matcher.row) == matcher.row
        assert matcher.accept(byte)
    assert len(seen) > 5
    assert not table[0].any()
    assert np.array_equal(table[2:5], np.stack([table[n] for n in (2, 3, 4)]))
    with pytest.raises(IndexError):
        table[len(table)]


def test_rows_outgrow_the_table() -> None:
    vocab = vocabulary()
    options = {n: [c for bit, c in enumerate("abcdefghij") if n >> bit & 1] for n in range(1, 600)}
    grammar = compile_choice([f"{n:03}{c}" for n in options for c in options[n]], vocab)
    found: dict[int, set[int]] = {}
    for n, letters in options.items():
        matcher = after(grammar, f"{n:03}")
        assert matcher is not None
        found[matcher.row] = allowed(matcher)
        assert found[matcher.row] == {ord(c) for c in letters}
    assert len(found) == len(options)
    for number, mask in found.items():
        row = grammar.recognizer.tables.rows[number]
        assert set(np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little"))) == mask
