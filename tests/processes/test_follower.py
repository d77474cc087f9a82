"""A follower gives the masks, the forced text and the ends that a matcher gives, whatever the text,
the budget, and what has been learned before."""

from __future__ import annotations

import queue
import random
import time

import numpy as np
import pytest

from maskwright.errors import BudgetError, RegexError
from maskwright.mask import Grammar, compile_regex
from maskwright.mask.matcher.protocol import Reply
from maskwright.models import LoadedModel
from maskwright.processes import Build, FollowedGrammar, GrammarProcesses
from maskwright.processes.follower import Follower
from tests.processes.shapes import BUILDS


def walk(grammar: Grammar, followed: FollowedGrammar, left: int, seed: int) -> int:
    """Write a random text with a follower and a matcher at once; returns the number of questions
    that the follower needed."""
    rng = random.Random(seed)
    follower, matcher = followed.matcher(), grammar.matcher()
    answers: queue.SimpleQueue[Reply] = queue.SimpleQueue()
    new: list[int] = []
    questions = 0
    try:
        while True:
            if not follower.knows(new, left, canonical=True):
                follower.ask(new, left, canonical=True, then=answers.put)
                reply = answers.get(timeout=30)
                assert not isinstance(reply, Exception), reply
                reply()
                questions += 1
                assert follower.knows(new, left, canonical=True)
            for token in new:
                assert follower.accept(token)
                assert matcher.accept(token)
            while run := follower.forced_run().within(left):
                assert run == matcher.forced_run().within(left)
                for token in run:
                    assert follower.accept(token)
                    assert matcher.accept(token)
                left -= len(run)
            assert (follower.complete, follower.accepting) == (matcher.complete, matcher.accepting)
            if follower.complete or matcher.terminated or not left:
                break
            assert not matcher.forced_run().within(left)
            row, other = follower.mask(left), matcher.mask(left)
            assert np.array_equal(row, other)
            free, unbounded = follower.free_mask(left, row), matcher.mask()
            assert np.array_equal(unbounded, row if free is None else free)
            assert (free is None) == (matcher.free_mask(left, other) is None)
            allowed = np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little"))
            new, left = [int(rng.choice(allowed))], left - 1
    finally:
        follower.close()
    assert matcher.accepting
    return questions


@pytest.mark.parametrize("name", BUILDS)
@pytest.mark.parametrize("extra", [0, 2, 40])
def test_masks_are_those_of_a_matcher(
    loaded: LoadedModel, processes: GrammarProcesses, name: str, extra: int
) -> None:
    build = BUILDS[name]
    grammar = build(loaded.vocab)
    followed = processes.compile(build).result(60)
    assert followed.min_tokens == grammar.min_tokens
    assert followed.report == grammar.report
    for seed in range(4):
        walk(grammar, followed, grammar.min_tokens + extra, seed)


def test_what_has_been_learned_is_not_asked_again(
    loaded: LoadedModel, processes: GrammarProcesses
) -> None:
    build = BUILDS["order"]
    grammar, followed = build(loaded.vocab), processes.compile(build).result(60)
    first = walk(grammar, followed, 200, 1)
    again = walk(grammar, followed, 200, 1)
    assert first > again == 0


def test_errors_of_compiling_come_back(processes: GrammarProcesses) -> None:
    with pytest.raises(RegexError) as caught:
        processes.compile(Build(compile_regex, ("(",), {})).result(60)
    assert caught.value.position == 0


def test_a_budget_that_is_too_small_is_an_error_of_its_text(
    loaded: LoadedModel, processes: GrammarProcesses
) -> None:
    followed = processes.compile(BUILDS["order"]).result(60)
    follower = followed.matcher()
    answers: queue.SimpleQueue[Reply] = queue.SimpleQueue()
    least = followed.least_tokens(1)
    assert least <= followed.min_tokens
    follower.ask([], least - 1, canonical=False, then=answers.put)
    reply = answers.get(timeout=30)
    assert isinstance(reply, BudgetError)
    assert reply.needed == least


def expanded(follower: Follower, seconds: float = 10) -> bool:
    """Whether a process expands the position of a follower within some seconds."""
    follower.look_ahead()
    deadline = time.monotonic() + seconds
    while follower.position.expands and time.monotonic() < deadline:
        time.sleep(0.002)
    return not follower.position.expands


def test_a_text_that_is_waited_for_needs_one_question(
    loaded: LoadedModel, processes: GrammarProcesses
) -> None:
    """Where tokens lead is sent before they are drawn, even by what comes before the lesson has
    been taken in; and again after all of it was forgotten."""
    followed = processes.compile(BUILDS["order"]).result(60)
    rng = random.Random(3)
    for _ in range(2):
        follower, left = followed.matcher(), 300
        answers: queue.SimpleQueue[Reply] = queue.SimpleQueue()
        follower.ask([], left, canonical=True, then=answers.put)
        reply = answers.get(timeout=30)
        assert not isinstance(reply, Exception)
        time.sleep(0.1)  # expansions of the position that the lesson is about come first
        reply()
        steps = 0
        while not follower.complete:
            while run := follower.forced_run().within(left):
                assert all(map(follower.accept, run))
                left -= len(run)
            if follower.complete:
                break
            assert expanded(follower)
            allowed = np.flatnonzero(
                np.unpackbits(follower.mask(left).view(np.uint8), bitorder="little")
            )
            token, left = int(rng.choice(allowed)), left - 1
            assert follower.knows([token], left, canonical=True), (steps, token)
            assert follower.accept(token)
            steps += 1
        assert steps > 5
        follower.close()
        followed.forget()


def test_a_long_name_of_its_own_is_learned_once(
    loaded: LoadedModel, processes: GrammarProcesses
) -> None:
    """Also where the text has other names, from which it differs: a small model may write one to
    the end of its context."""
    build = BUILDS["names"]
    grammar, followed = build(loaded.vocab), processes.compile(build).result(60)
    follower = followed.matcher()
    text = [loaded.vocab.tokens.index(bytes([byte])) for byte in b'{"ab":true,"ba' + 200 * b"c"]
    answers: queue.SimpleQueue[Reply] = queue.SimpleQueue()
    questions = 0
    matcher = grammar.matcher()
    for at, token in enumerate(text):
        if not follower.knows([token], 500 - at, canonical=False):
            follower.ask([token], 500 - at, canonical=False, then=answers.put)
            reply = answers.get(timeout=30)
            assert not isinstance(reply, Exception)
            reply()
            questions += at > 14
        assert follower.accept(token)
        assert matcher.accept(token)
    assert np.array_equal(follower.mask(500), matcher.mask(500))
    assert questions <= 2
    follower.close()
