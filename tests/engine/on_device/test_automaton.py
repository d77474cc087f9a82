"""Tables of states against the matchers that they are made from, and their bounds."""

from __future__ import annotations

import random

import numpy as np
import pytest

from maskwright.engine.on_device.automata import MatcherSite
from maskwright.engine.on_device.automaton import STOPPED, Bounds, TokenAutomaton, tabulate
from maskwright.errors import BudgetError
from maskwright.mask import Grammar, Matcher, compile_json_schema, compile_regex
from maskwright.models import LoadedModel
from maskwright.sampling import Mask

SCHEMAS: list[object] = [
    {"type": "boolean"},
    {"enum": ["the cat", "the end", 7, None]},
    {"type": "string", "format": "date"},
    {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"enum": ["the cat", "the end"]}},
        "required": ["a", "b"],
        "additionalProperties": False,
    },
    {"type": "array", "items": {"enum": ["a", "the", 3]}, "maxItems": 3},
]
UNIQUE = {"type": "array", "items": {"enum": ["a", "the", 3]}, "uniqueItems": True, "maxItems": 3}


def after(automaton: TokenAutomaton, state: int, token: int) -> int:
    """Where an allowed token leads, read naively."""
    begin, end = automaton.starts[state : state + 2]
    for place in range(begin, end):
        if automaton.tokens[place] == token:
            return int(automaton.targets[place])
    return int(automaton.others[state])


def allowed(mask: Mask) -> list[int]:
    return np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little")).tolist()


def expected_mask(matcher: Matcher, run: list[int], left: int) -> Mask:
    """The mask with which the engine draws: one token of a forced run, or the matcher's own."""
    mask = np.zeros(matcher.recognizer.vocabulary.words, np.int32)
    if run:
        np.bitwise_or.at(mask.view(np.uint32), run[0] // 32, np.uint32(1 << run[0] % 32))
    else:
        matcher.fill_mask(mask, left)
    return mask


def follow(grammar: Grammar, automaton: TokenAutomaton, rng: random.Random, left: int) -> int:
    """Write a random text as the engine does; returns how many of its draws the table had."""
    matcher, run, had, canonical = grammar.matcher(), [], 0, True
    state = automaton.state(matcher.position, matcher.forced_run().within(left))
    while left and not matcher.complete:
        run = run or (list(matcher.forced_run().within(left)) if canonical else [])
        mask = expected_mask(matcher, run, left)
        if state != STOPPED and left >= automaton.needs[state]:
            assert automaton.rests[state] == tuple(run)
            assert automaton.rows[automaton.mask[state]].tolist() == mask.tolist()
            had += 1
        token = rng.choice(allowed(mask))
        if state != STOPPED:
            state = after(automaton, state, token)
        run = run[1:]
        assert matcher.accept(token)
        if matcher.terminated:
            assert state == STOPPED
            break
        left -= 1
        if state != STOPPED and left >= automaton.needs[state]:
            key = tuple(run) or matcher.forced_run().within(left)
            assert automaton.state(matcher.position, key) == state
    return had


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_a_table_says_what_the_matcher_says(schema: object, loaded: LoadedModel) -> None:
    grammar = compile_json_schema(schema, loaded.vocab)
    automaton = tabulate(MatcherSite(grammar.matcher()), canonical=True)
    rng, had = random.Random(1), 0
    for number in range(60):
        left = rng.choice([grammar.min_tokens, grammar.min_tokens + 1, 40])
        try:
            had += follow(grammar, automaton, rng, left)
        except BudgetError:
            pytest.fail(f"text {number} was not followed within its budget")
    assert had > 20


def test_what_is_whole(loaded: LoadedModel) -> None:
    closed = compile_regex("(yes|no|the (cat|sat)) [0-9]{3}", loaded.vocab)
    automaton = tabulate(MatcherSite(closed.matcher()), canonical=True)
    assert automaton.whole
    unique = compile_json_schema(UNIQUE, loaded.vocab)  # the items so far decide what may follow
    depends = tabulate(MatcherSite(unique.matcher()), canonical=True)
    assert not depends.whole
    for seed in range(20):
        follow(unique, depends, random.Random(seed), 30)


@pytest.mark.parametrize(
    ("bounds", "most"),
    [
        (Bounds(states=3), 3),
        (Bounds(moves=1), 12),
        (Bounds(mask_bytes=0), 1),
        (Bounds(seconds=-1.0), 0),
    ],
)
def test_bounds_stop_texts_in_the_table(bounds: Bounds, most: int, loaded: LoadedModel) -> None:
    grammar = compile_json_schema(SCHEMAS[3], loaded.vocab)
    automaton = tabulate(MatcherSite(grammar.matcher()), canonical=True, bounds=bounds)
    assert len(automaton.mask) <= most
    assert not automaton.whole
    for seed in range(5):
        follow(grammar, automaton, random.Random(seed), 40)


def test_moves_to_the_commonest_place_are_left_out(loaded: LoadedModel) -> None:
    grammar = compile_regex("[0-9]{30}x", loaded.vocab)
    automaton = tabulate(MatcherSite(grammar.matcher()), canonical=True)
    assert automaton.whole
    assert len(automaton.mask) == 31
    assert len(automaton.tokens) == 0
