"""Which process has which task: grammars that are proven do not wait for what takes long."""

from __future__ import annotations

import queue
import time
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from maskwright.mask import compile_regex
from maskwright.mask.matcher.protocol import Reply
from maskwright.models import LoadedModel
from maskwright.processes import Build, FollowedGrammar, GrammarProcesses, pool
from maskwright.processes.follower import PROVEN, Follower
from tests.bounds import PATIENCE, wait_until
from tests.processes.misbehaving import slow, slow_until

PATTERN = "([a-d]{1,9} ){40,400}"


@pytest.fixture(autouse=True)
def any_load(monkeypatch: pytest.MonkeyPatch) -> None:
    """No job is given up because the machine does other work: processor time alone counts."""
    monkeypatch.setattr("maskwright.processes.processes.MOST_WALL", PATIENCE)


@pytest.fixture
def grammar(processes: GrammarProcesses) -> FollowedGrammar:
    """A grammar that begins in the first process, and is proven."""
    grammar = processes.compile(Build(compile_regex, (PATTERN,), {})).result(60)
    grammar.home, grammar.lessons = 0, PROVEN
    return grammar


def asked(follower: Follower, new: list[int], left: int = 5000) -> float:
    """Ask a question; the seconds until its answer."""
    answers: queue.SimpleQueue[Reply] = queue.SimpleQueue()
    begin = time.monotonic()
    follower.ask(new, left, canonical=False, then=answers.put)
    reply = answers.get(timeout=30)
    assert not isinstance(reply, Exception), reply
    reply()
    return time.monotonic() - begin


def write(follower: Follower, text: bytes, vocabulary: Any) -> None:
    """Write a text, a byte a token."""
    for byte in text:
        token = [vocabulary.tokens.index(bytes([byte]))]
        if not follower.knows(token, 5000, canonical=False):
            asked(follower, token)
        assert follower.accept(token[0])


def test_a_proven_grammar_does_not_wait_for_what_takes_long(
    loaded: LoadedModel, processes: GrammarProcesses, grammar: FollowedGrammar, tmp_path: Path
) -> None:
    follower = grammar.matcher()
    asked(follower, [])
    write(follower, b"abc d ", loaded.vocab)
    enough = tmp_path / "enough"
    build = Build(slow_until, (str(enough), 0.7, "m+"), {})
    busy: Future[FollowedGrammar] = processes.compile(build)
    letter = loaded.vocab.tokens.index(b"b")
    asked(follower, [letter])
    assert not busy.done()
    assert grammar.home == 1, "it was to move"
    assert not grammar.heavy
    asked(follower, [letter])  # it goes on where it moved to
    enough.touch()
    assert busy.result(60).heavy
    follower.close()


def test_it_moves_before_anything_has_to_be_ended(
    processes: GrammarProcesses, grammar: FollowedGrammar, tmp_path: Path
) -> None:
    follower, restarts = grammar.matcher(), processes.stats.restarts
    asked(follower, [])
    enough = tmp_path / "enough"
    # Too short to be ended for it.
    busy = processes.compile(Build(slow_until, (str(enough), 0.03, "o+"), {}))
    asked(follower, [])
    assert grammar.home == 1
    enough.touch()
    assert busy.result(60).min_tokens == 1
    assert processes.stats.restarts == restarts
    follower.close()


def test_a_new_grammar_stays_with_the_new_ones(
    processes: GrammarProcesses, grammar: FollowedGrammar
) -> None:
    grammar.lessons = 0
    follower = grammar.matcher()
    busy = processes.compile(Build(slow, (0.3, "n+"), {}))
    asked(follower, [])
    assert grammar.home == 0
    assert busy.result(60).heavy
    follower.close()


def test_a_long_text_is_read_again_in_parts(
    loaded: LoadedModel, processes: GrammarProcesses, grammar: FollowedGrammar
) -> None:
    """Whole, it would be longer than a slice, which would take the grammar for heavy."""
    follower = grammar.matcher()
    asked(follower, [])
    write(follower, b"abcd " * 300, loaded.vocab)
    jobs = processes.stats.jobs
    moves = 0
    for _ in range(6):
        grammar.home = 1 - grammar.home
        asked(follower, [loaded.vocab.tokens.index(b"b")])
        moves += 1
    assert processes.stats.jobs == jobs + moves, "parts are no jobs of their own"
    assert not grammar.heavy
    write(follower, b"b ", loaded.vocab)
    follower.close()


def test_what_has_moved_is_forgotten_where_it_was(
    loaded: LoadedModel, processes: GrammarProcesses, grammar: FollowedGrammar
) -> None:
    follower = grammar.matcher()
    asked(follower, [])
    before = processes._pool.shared[0]
    assert before is not None
    with processes._lock:
        processes._pool._move(grammar, 1)
    write(follower, b"ab c", loaded.vocab)
    asked(follower, [loaded.vocab.tokens.index(b"d")])
    assert grammar.number not in before.holds.grammars
    assert follower.number not in before.holds.texts
    with processes._lock:  # and back, where it is new
        processes._pool._move(grammar, 0)
    asked(follower, [loaded.vocab.tokens.index(b"d")])
    assert grammar.number in before.holds.grammars
    follower.close()


def test_what_took_long_is_kept_longer(
    processes: GrammarProcesses, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next text of a grammar that took a second to compile would wait for another one."""
    monkeypatch.setattr(pool, "IDLE_SECONDS", PATIENCE)  # until both have been compiled
    costly = processes.compile(Build(slow, (0.8, "r+"), {})).result(60)
    quick = processes.compile(Build(slow, (0.1, "q+"), {})).result(60)
    own = processes._pool.own
    with processes._lock:
        monkeypatch.setattr(pool, "IDLE_SECONDS", 0.1)
        monkeypatch.setattr(pool, "IDLE_PER_SECOND", 1.0)
        first, second = own[costly.number], own[quick.number]
        between = (first.cpu_seconds() + second.cpu_seconds()) / 2
        assert not pool._has_idled_too_long(first, first.used + between)
        assert pool._has_idled_too_long(second, second.used + between)
    wait_until(lambda: quick.number not in own)
    wait_until(lambda: costly.number not in own)
