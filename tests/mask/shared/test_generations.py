"""Generations of tables: what is forgotten, in which order, and what follows for grammars."""

from __future__ import annotations

import gc
import weakref

import pytest

from maskwright import Grammar, Limits, Vocabulary, compile_grammar, compile_json_schema
from maskwright.mask.shared import generations, machine, vocabulary_tables
from maskwright.mask.shared.generations import Generations, generations_of
from tests.matching import BYTES, allowed, matches


@pytest.fixture
def vocab() -> Vocabulary:
    """One that no other test has tables of."""
    return Vocabulary((*BYTES, b""), eos=256)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Generations of some five schemas, and room for five of them."""
    monkeypatch.setattr(vocabulary_tables, "MOST_BYTES", 1 << 20)
    monkeypatch.setattr(generations, "MOST_BYTES", 5 << 20)


def compiled(vocab: Vocabulary, number: int) -> Grammar:
    """A schema of its own, with its text read."""
    names = [f"n{number}_{at}" for at in range(8)]
    schema = {"properties": {name: {"type": "string", "maxLength": 40 + number} for name in names}}
    grammar = compile_json_schema(schema, vocab)
    text = ",".join(f'"{name}":"x"' for name in names)
    assert matches(grammar, f"{{{text}}}")
    return grammar


def is_known(vocab: Vocabulary, grammar: Grammar) -> bool:
    return grammar.recognizer.tables in generations_of(vocab).all


@pytest.mark.usefixtures("small")
def test_memory_is_bounded(vocab: Vocabulary) -> None:
    held = [0]
    for number in range(60):
        compiled(vocab, number)
        held.append(generations_of(vocab).nbytes)
    assert max(held) < 6 << 20
    assert min(held[40:]) > 3 << 20  # never all at once


def test_tables_are_looked_at_every_few_grammars(
    vocab: Vocabulary, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever else is asked of the generations in between."""
    monkeypatch.setattr(generations, "LOOKED_AT_EVERY", 4)
    monkeypatch.setattr(vocabulary_tables, "MOST_BYTES", 0)
    held = Generations(vocab)
    counts: list[int] = []
    for _ in range(12):
        held.newest()
        for _ in range(3):
            held.use_again(held.all[-1])
        counts.append(len(held.all))
    assert counts == [1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4]


@pytest.mark.usefixtures("small")
def test_what_is_used_again_stays(vocab: Vocabulary) -> None:
    kept = compiled(vocab, 0)
    for number in range(1, 60):
        assert compiled(vocab, 0).recognizer.first is kept.recognizer.first
        compiled(vocab, number)
    assert is_known(vocab, kept)


@pytest.mark.usefixtures("small")
def test_what_was_used_longest_ago_goes_first(vocab: Vocabulary) -> None:
    held = Generations(vocab)
    for _ in range(4):
        held.newest().leaves.weight += 800  # 1 MB of leaves
    for tables in held.all:
        held.use_again(tables)
    held.use_again(held.all[0])
    second = held.all[1]
    for _ in range(3):
        held.newest().leaves.weight += 800
        held.use_again(held.all[-1])
        if second.is_retired:
            break
    assert second.is_retired
    assert not held.all[0].is_retired


@pytest.mark.usefixtures("small")
def test_of_a_circle_that_is_too_long_some_are_still_known(vocab: Vocabulary) -> None:
    """More schemas than there is room for come round again and again."""
    known = compiled_again = 0
    for turn in range(3):
        for number in range(30):
            grammar = compiled(vocab, number)
            if turn:
                compiled_again += 1
                known += grammar.recognizer.added.exits == 0
    assert known > compiled_again // 4


@pytest.mark.usefixtures("small")
def test_a_generation_that_takes_half_of_the_room_goes_first(vocab: Vocabulary) -> None:
    first = compiled(vocab, 0)
    held = generations_of(vocab)
    held.all[-1].leaves.weight += 800
    large = held.newest()
    large.leaves.weight += 4_000
    held.use_again(large)
    held.newest()
    held.newest().leaves.weight += 800
    held.newest()
    assert large.is_retired
    assert is_known(vocab, first)


def test_a_grammar_begins_afresh_once_it_is_forgotten(vocab: Vocabulary) -> None:
    grammar = compiled(vocab, 1)
    matcher = grammar.matcher()
    assert matcher.accept_bytes(b'{"n1_') == 5
    before = grammar.recognizer
    generations_of(vocab).retire(before.tables)
    assert allowed(matcher) >= {ord("0")}  # goes on where it began
    assert matches(grammar, '{"n1_2":""}')
    assert grammar.recognizer is not before
    assert is_known(vocab, grammar)
    assert matcher.accept_bytes(b'7":"yes"}') == 9
    assert matcher.accepting


@pytest.mark.parametrize("kind", ["schema", "rules"])
def test_an_overgrown_machine_is_left_to_its_matchers(
    vocab: Vocabulary, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    if kind == "schema":
        grammar = compile_json_schema({"type": "array"}, vocab)
    else:
        grammar = compile_grammar('start: "[" ["1" ("," "1")*] "]"', vocab)
    assert matches(grammar, "[1,1]")
    before = weakref.ref(grammar.recognizer.machine)
    monkeypatch.setattr(machine, "MOST_BYTES", 0)
    monkeypatch.setattr("maskwright.mask.recognizer.MOST_BYTES", 0)
    assert matches(grammar, "[1,1]")
    gc.collect()
    assert before() is None


def test_what_a_grammar_adds_for_one_text_is_no_error_of_another(vocab: Vocabulary) -> None:
    """Names that a schema doesn't list take contexts; a grammar may have so many."""
    grammar = compile_json_schema({"type": "object"}, vocab, limits=Limits(contexts=150))
    for text in range(40):
        members = ",".join(f'"k{text}_{at}":1' for at in range(10))
        assert matches(grammar, f"{{{members}}}")
