"""Automata written out: where a term stands in them, and how long they live."""

from __future__ import annotations

import gc
from weakref import ref

from maskwright import compile_json_schema
from maskwright.grammar.pattern.translate import full_match, search
from maskwright.grammar.regular.character_dfa import MOST_STATES, CharacterDfa, known_place
from maskwright.grammar.regular.derivative import forget_transitions, place, split
from maskwright.grammar.regular.shortest import shortest
from maskwright.grammar.regular.terms import (
    Regular,
    alive,
    char,
    concat,
    intersection,
    length,
    repeat,
)
from tests.matching import vocabulary

_APART = ["ab1", "b12", "bc1", "c12", "ca1", "a12"]
HEAVY = {"type": "string", "allOf": [{"pattern": each} for each in _APART], "maxLength": 60}
"""Hundreds of intersections of patterns, which end in the language of every string."""


def test_an_automaton_lives_until_its_transitions_are_forgotten() -> None:
    kept = repeat(concat(char("o"), char("w"), char("l")))
    root = concat(char("n"), kept)
    automaton = ref(place(root)[0])
    place(root)[0].explore(10)
    assert known_place(kept) is not None
    gc.collect()
    assert known_place(root) is not None
    assert known_place(root) == place(root)
    del root
    assert automaton() is not None
    forget_transitions()
    assert automaton() is None
    assert known_place(kept) is None
    assert place(kept)[1] == 0  # it gets one of its own


def test_few_states_are_explored_that_have_many_transitions() -> None:
    automaton = place(full_match("(?:[ac][bd][eg]x){1,9}"))[0]
    assert automaton.find(0) == 2, "a, and c"
    automaton.explore(10, 5)
    assert len(automaton.found) == 4, "one for each range or set, until there are five"
    automaton.explore(10, 0)
    automaton.explore(-1)
    assert len(automaton.found) == 4
    automaton.explore(3)
    assert len(automaton.found) == 7


def test_an_automaton_of_too_many_states_is_not_explored_to_the_last() -> None:
    many = [search(f"{first}[a-z]{{5}}{last}") for first, last in ("xy", "yz", "zx")]
    automaton = place(intersection(*many))[0]
    assert not automaton.can_measure(10)
    assert MOST_STATES < len(automaton.terms) < MOST_STATES + 100
    assert not automaton.can_measure(0)
    assert len(automaton.terms) < MOST_STATES + 100


def test_terms_that_are_added_do_not_stand_in_the_automaton() -> None:
    root, other = full_match("[qx]+z"), full_match("q[xz]*")
    automaton = CharacterDfa(root, split, marks=False)
    assert not automaton.knows(other)
    number = automaton.add(other)
    assert automaton.knows(other)
    assert automaton.add(other) == number
    automaton.explore(20)
    assert automaton.complete
    assert automaton.terms[number] is other
    assert known_place(root) is known_place(other) is None


def test_lengths_are_found_again_when_an_automaton_has_gone() -> None:
    """The core of a term within bounds may have stood in somebody else's."""
    rest: Regular = repeat(concat(char("r"), char("e")))
    root = concat(char("t"), rest)
    place(root)[0].explore(10)
    bounded = intersection(rest, length(3, None))
    assert shortest(bounded) == "rere"
    del root
    forget_transitions()
    assert shortest(intersection(rest, length(5, 6))) == "rerere"
    assert shortest(intersection(rest, length(5, 5))) is None


def test_terms_die_with_their_grammar_and_its_vocabulary() -> None:
    def compile_once() -> None:
        vocab = vocabulary("a1", "b12")
        grammar = compile_json_schema(HEAVY, vocab)
        assert grammar.matcher().accept_bytes(b'"ab12') == 5
        assert alive() > before + 400

    forget_transitions()
    gc.collect()
    before = alive()
    compile_once()
    gc.collect()
    forget_transitions()
    assert alive() < before + 100  # each pattern by itself is kept for the next grammar
