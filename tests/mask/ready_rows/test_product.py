"""Vectors of states: the judge derives the terms."""

from __future__ import annotations

from itertools import product as texts_of
from random import Random

import pytest

from maskwright.automaton.leaf.character_arrays import FOUND, NOWHERE, UNKNOWN
from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular.derivative import derivative, is_live
from maskwright.grammar.regular.shortest import shortest
from maskwright.grammar.regular.terms import EMPTY, Regular, exactly_one
from maskwright.mask.ready_rows.combination import ProductAutomaton, exclusive
from maskwright.mask.ready_rows.product import LACKING, PARTLY
from tests.properties.patterns import counted_pattern


def some(seed: int) -> Regular:
    random = Random(seed)
    options = (full_match(counted_pattern(random, "abc", 4)) for _ in range(5))
    return exactly_one(options, full_match("c[^]*") if seed % 2 else EMPTY)


LANGUAGES = [(seed, found) for seed in range(30) if (found := exclusive(some(seed)))]


@pytest.mark.parametrize("seed", [seed for seed, _ in LANGUAGES if is_live(some(seed))])
def test_states_are_those_of_the_terms(seed: int) -> None:
    term = some(seed)
    language = exclusive(term)
    assert language is not None
    automaton = ProductAutomaton(len(language.parts))
    start = automaton.state(language)
    farthest = 0
    for text in ("".join(each) for n in range(5) for each in texts_of("abc", repeat=n)):
        states, product = automaton.update()
        state = start
        for character in text:
            if states.known[state] == UNKNOWN:
                assert product.begin_state(states, state)
                assert states.known[state] == PARTLY
            state = product.find_target(states, state, ord(character))
            assert state != LACKING
            if state == NOWHERE:
                break
        left = derivative(term, text)
        assert (state != NOWHERE) == is_live(left), text
        if state != NOWHERE:
            assert product.accepts(state) == left.nullable
            found = shortest(left)
            assert found is not None
            assert product.far(state) >= len(found.encode())
            farthest = max(farthest, len(found.encode()))
    _, product = automaton.update()
    assert product.farthest >= farthest


def test_all_transitions_are_those_that_are_found_one_by_one() -> None:
    language = exclusive(exactly_one(full_match(f"{one}[^]*{other}") for one, other in PAIRS))
    assert language is not None
    automaton = ProductAutomaton(len(language.parts))
    start = automaton.state(language)
    states, product = automaton.update()
    assert product.begin_state(states, start)
    one_by_one = [product.find_target(states, start, byte) for byte in range(128)]
    assert product.find_state(states, start)
    assert states.known[start] == FOUND
    assert states.ascii[start].tolist() == one_by_one
    assert [chr(at) for at, target in enumerate(one_by_one) if target >= 0] == ["a", "b", "c", "d"]


def test_nothing_is_found_while_the_tables_are_full() -> None:
    language = exclusive(exactly_one(full_match(f"{one}[^]*{other}") for one, other in PAIRS))
    assert language is not None
    automaton = ProductAutomaton(len(language.parts))
    start = automaton.state(language)
    states, product = automaton.update()
    product.full = True
    assert not product.begin_state(states, start)
    assert product.find_target(states, start, ord("a")) == LACKING
    automaton.provide()
    states, product = automaton.update()
    assert product.begin_state(states, start)
    before = product.vectors
    assert product.find_target(states, start, ord("a")) >= 0
    assert product.vectors > before
    assert all(product.entries(state)[0] >= 0 for state in range(product.states))


PAIRS = ("ab", "bc", "cd", "da", "ac")
