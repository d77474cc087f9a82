"""What a vocabulary's tables let go of when they are begun afresh."""

from __future__ import annotations

import gc
import weakref

import pytest

from maskwright import Vocabulary, compile_json_schema
from maskwright.grammar.pattern.translate import search
from maskwright.mask.ready_rows import strings, text_rows
from maskwright.mask.shared import generations, vocabulary_tables
from maskwright.mask.shared.generations import tables_of
from tests.matching import BYTES, allowed


def own_vocabulary() -> Vocabulary:
    """One that no other test has tables of."""
    return Vocabulary((*BYTES, b""), eos=256)


def read(pattern: str, vocabulary: Vocabulary, text: str) -> None:
    """Write out the masks along a text of the pattern."""
    schema = {"type": "string", "pattern": pattern}
    matcher = compile_json_schema(schema, vocabulary).matcher()
    for byte in f'"{text}"'.encode():
        matcher.next_bytes()
        assert matcher.accept(byte)


@pytest.mark.parametrize("bound", ["MOST_BYTES", "MOST_TERMS", "MOST_TRANSITIONS"])
def test_fresh_tables_let_go_of_patterns(bound: str, monkeypatch: pytest.MonkeyPatch) -> None:
    gc.collect()  # of terms that earlier tests have left, which are counted while they live
    vocabulary = own_vocabulary()
    read("^(ab|cd)*xyzzy$", vocabulary, "abxyzzy")
    language = weakref.ref(search("^(ab|cd)*xyzzy$"))
    leaves = weakref.ref(tables_of(vocabulary).leaves)
    gc.collect()
    assert language() is not None
    assert leaves() is not None
    monkeypatch.setattr(generations, "MOST_BYTES", 0)
    monkeypatch.setattr(vocabulary_tables, bound, 0)
    compile_json_schema({"type": "null"}, vocabulary)
    gc.collect()
    assert leaves() is None
    gc.collect()  # the first one called the tables' finalizer
    assert language() is None


def test_a_grammar_keeps_its_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    vocabulary = own_vocabulary()
    grammar = compile_json_schema({"type": "string", "pattern": "^q*$"}, vocabulary)
    monkeypatch.setattr(generations, "MOST_BYTES", 0)
    monkeypatch.setattr(vocabulary_tables, "MOST_BYTES", 0)
    read("^(ab)*$", vocabulary, "abab")
    matcher = grammar.matcher()
    assert all(matcher.accept(byte) for byte in b'"qq"')
    assert matcher.accepting


def test_ready_rows_are_bounded_and_forgotten_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strings, "MOST_BYTES", 20_000)
    vocabulary = own_vocabulary()
    rows = tables_of(vocabulary).strings
    largest = 0
    held: list[int] = []
    for at in range(40):
        before = rows.nbytes
        schema = {"type": "string", "pattern": f"^([a-f]{{9}}|{at + 10})*$"}
        matcher = compile_json_schema(schema, vocabulary).matcher()
        assert matcher.accept(ord('"'))
        assert allowed(matcher)
        held.append(rows.nbytes)
        largest = max(largest, rows.nbytes - before)
    assert 0 < max(held) <= 20_000 + largest
    full = next(at for at, size in enumerate(held) if size > 20_000)
    assert min(held[full:]) > 20_000 - 2 * largest > 0


def test_a_long_list_without_repeats_is_one_list() -> None:
    """Whichever of its words have come: their states were made over again for each item."""
    names = [f"{group}/{at}" for group in ("css", "dom", "es6", "forms") for at in range(50)]
    items = {"enum": names}
    schema = {"type": "array", "items": items, "uniqueItems": True, "minItems": 190}
    vocabulary = own_vocabulary()
    matcher = compile_json_schema(schema, vocabulary, whitespace="compact").matcher()
    leaves = tables_of(vocabulary).leaves
    assert matcher.accept(ord("["))
    sizes: list[int] = []
    for name in reversed(names):
        text = f'"{name}"'.encode()
        assert matcher.accept_bytes(text) == len(text)
        sizes.append(leaves.count)
        matcher.accept(ord(","))
        assert matcher.copy().accept_bytes(text) < len(text)
    assert matcher.next_bytes() == b"]"
    assert sizes[-1] < sizes[2] + 100


def test_what_depends_on_the_tokens_alone_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each generation used to read all tokens again."""
    vocabulary = own_vocabulary()
    schema = {"type": "object", "additionalProperties": {"type": "string"}}
    compile_json_schema(schema, vocabulary)
    before = tables_of(vocabulary)
    monkeypatch.setattr(vocabulary_tables, "MOST_BYTES", 0)

    def never(*_: object) -> None:
        raise AssertionError("computed again")

    _ = before.texts
    monkeypatch.setattr(text_rows, "texts_of", never)
    monkeypatch.setattr(vocabulary_tables, "names_within", never)
    compile_json_schema({**schema, "minProperties": 1}, vocabulary)
    after = tables_of(vocabulary)
    assert after is not before
    assert after.texts is not before.texts
    assert after.parts.names_within_tokens is before.parts.names_within_tokens


def test_a_walk_takes_the_place_of_a_ready_row_before_few_tokens(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A pattern is walked where few tokens may come, and a list of words everywhere; the masks are
    those of ready rows."""
    tokens = (*BYTES, *(f"{a}{b}{c}".encode() for a in "ab" for b in 'cd"' for c in '1",'), b"")
    masks: list[list[set[int]]] = []
    held: list[int] = []
    for part in (0, 1):
        vocabulary = Vocabulary(tokens, eos=len(tokens) - 1)
        monkeypatch.setattr(vocabulary_tables, "_QUICKLY_WALKED", part)
        rows = tables_of(vocabulary).strings
        matcher = compile_json_schema(
            {"type": "string", "pattern": "^([ab][cd]1|a1){1,3}$"}, vocabulary
        ).matcher()
        masks.append([])
        for byte in b'"ac1a1"':
            masks[-1].append(allowed(matcher))
            assert matcher.accept(byte)
        held.append(rows.nbytes)
    assert masks[0] == masks[1]
    assert tokens.index(b"bd1") in masks[1][1]
    assert held[0] > held[1] == 0


def test_words_have_no_ready_rows() -> None:
    vocabulary = own_vocabulary()
    rows = tables_of(vocabulary).strings
    matcher = compile_json_schema({"enum": ["one", "only", "two"]}, vocabulary).matcher()
    for byte, following in zip(b'"one"', ('"', "ot", "n", "el", '"'), strict=True):
        assert {chr(token) for token in allowed(matcher)} - {"\\", " ", "\n", "\t", "\r"} == set(
            following
        )
        assert matcher.accept(byte)
    assert matcher.accepting
    assert rows.nbytes == 0


def test_far_from_a_bound_on_the_length_no_rows_of_its_states_are_built() -> None:
    schema = {"type": "array", "items": {"type": "string", "minLength": 2, "maxLength": 90}}
    vocabulary = Vocabulary((*BYTES, b"a" * 100, b'b",', b""), eos=258)
    matcher = compile_json_schema(schema, vocabulary).matcher()
    rows = tables_of(vocabulary).leaves.rows
    for byte in b'["abc':
        assert matcher.accept(byte)
    counted = matcher.position.leaf
    assert {ord('"'), ord("a"), 257} <= allowed(matcher)
    assert 256 not in allowed(matcher)
    assert not rows.is_built(counted)
