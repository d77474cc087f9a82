"""What is sent ahead of a text is what a matcher says; interrupted, it comes in parts."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import count

import numpy as np
import numpy.typing as npt
import pytest

from maskwright.errors import LimitError
from maskwright.mask import Matcher
from maskwright.mask.position import Position
from maskwright.models import LoadedModel
from maskwright.processes import ahead
from maskwright.processes.ahead import AMPLE, MOST_LOOKED_AT, Ahead
from maskwright.processes.learned import LearnedPosition
from maskwright.processes.lessons import SentRows
from maskwright.processes.messages import Expansion
from tests.processes.shapes import BUILDS


class Expanded:
    """What has been sent ahead of the first text of a grammar."""

    def __init__(self, loaded: LoadedModel, name: str) -> None:
        self.grammar = BUILDS[name](loaded.vocab)
        self.numbers: dict[Position, int] = {}
        counter = count()
        self.ahead = Ahead(
            self.grammar, lambda position: self._number(position, counter), SentRows()
        )
        self.positions: dict[int, LearnedPosition] = {}
        self.whole: set[int] = set()
        self.rows: dict[int, npt.NDArray[np.int32]] = {}

    def _number(self, position: Position, counter: Iterator[int]) -> int:
        return self.numbers.setdefault(position, next(counter))

    def listen(self, interrupted: Callable[[], bool]) -> int:
        """Take in all that is sent after a question at the start; returns the messages."""
        self.ahead.note(self.grammar.matcher())
        heard = 0
        while (expansion := self.ahead.expand(interrupted)) is not None:
            heard += 1
            self.take_in(expansion)
        return heard

    def take_in(self, expansion: Expansion) -> None:
        self.rows |= {at: np.frombuffer(row, np.int32) for at, row in expansion.rows}
        here = self.positions.setdefault(expansion.here.number, LearnedPosition(expansion.here))
        targets: list[LearnedPosition] = []
        for target in expansion.targets:
            reached = self.positions.setdefault(
                target.reached.number, LearnedPosition(target.reached)
            )
            reached.learn(target.reached, self.rows)
            targets.append(reached)
        here.expand(expansion.tokens, expansion.groups, targets, whole=expansion.whole)

    def check(self, matcher: Matcher) -> set[int]:
        """Compare what has been sent of a matcher's position with the matcher; returns the tokens
        that it was about."""
        here = self.positions[self.numbers[matcher.position]]
        row, tokens = np.zeros(self.grammar.vocabulary.words, np.int32), set[int]()
        for token in range(self.grammar.vocabulary.size):
            reached = here.after(token)
            if reached is None:
                continue
            assert matcher.accept(token)
            assert reached is self.positions[self.numbers[matcher.position]]
            assert (reached.complete, reached.accepting) == (matcher.complete, matcher.accepting)
            if not matcher.complete and (mask := reached.mask(AMPLE)) is not None:
                matcher.fill_mask(row, AMPLE)
                assert np.array_equal(mask, row)
            matcher.rollback(1)
            tokens.add(token)
        return tokens


def after_forced_text(expanded: Expanded) -> Matcher:
    matcher = expanded.grammar.matcher()
    while run := matcher.forced_tokens():
        assert all(map(matcher.accept, run))
    return matcher


@pytest.mark.parametrize(
    "name", ["order", "order, any", "anything", "grammar", "regex", "free text", "tag"]
)
def test_parts_make_the_whole(loaded: LoadedModel, name: str) -> None:
    """Interrupted after each place, it tells in more messages what it tells in one a position."""
    whole, parts = Expanded(loaded, name), Expanded(loaded, name)
    whole.listen(lambda: False)
    first = after_forced_text(whole)
    expected = whole.check(first)
    assert expected
    assert not whole.positions[whole.numbers[first.position]].expands

    other = after_forced_text(parts)
    heard = [parts.listen(lambda: True)]
    checked = [parts.check(other)]
    while parts.positions[parts.numbers[other.position]].expands:
        heard.append(parts.listen(lambda: True))
        checked.append(parts.check(other))
        assert checked[-2] <= checked[-1]
    assert checked[-1] == expected
    assert sum(heard) > 1


def test_a_later_text_is_told_the_rest(loaded: LoadedModel) -> None:
    """What an interruption has left is sent when a question is asked there again."""
    expanded = Expanded(loaded, "anything")
    expanded.ahead.note(expanded.grammar.matcher())
    first = expanded.ahead.expand(lambda: True)
    assert first is not None
    assert not first.whole
    assert len(first.targets) == 1
    expanded.take_in(first)
    assert expanded.positions[first.here.number].expands
    expanded.listen(lambda: False)
    assert not expanded.positions[first.here.number].expands


@pytest.mark.parametrize("name", ["free text", "tag"])
def test_all_tokens_of_free_text_are_sent(
    loaded: LoadedModel, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many lead to one place; otherwise each of them would be asked about once."""
    monkeypatch.setattr(ahead, "MOST_CHECKED", 10)
    expanded = Expanded(loaded, name)
    expanded.listen(lambda: False)
    matcher = after_forced_text(expanded)
    row = matcher.mask()
    allowed = np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little"))
    assert len(allowed) > 100
    assert expanded.check(matcher) >= {*allowed.tolist()} - {*loaded.vocab.eos}


@pytest.mark.parametrize("name", BUILDS)
def test_tokens_with_one_place_for_every_text(loaded: LoadedModel, name: str) -> None:
    """They are those after which a matcher stands at a position of the machine itself."""
    grammar, rng = BUILDS[name](loaded.vocab), random.Random(name)
    positions, every = grammar.walker.recognizer.positions, np.arange(loaded.vocab.size)
    matcher = grammar.matcher()
    for _ in range(12):
        row, here = matcher.mask(), matcher.position
        allowed = np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little")).tolist()
        found = positions.after_every_text(here, every.astype(np.int32))
        tokens = np.flatnonzero(found).tolist()
        assert {*tokens} <= {*allowed}
        for token in rng.sample(tokens, min(40, len(tokens))):
            assert matcher.accept(token)
            assert matcher.position is positions.after(here, token)
            matcher.rollback(1)
        for token in rng.sample(allowed, min(40, len(allowed))):
            assert (positions.after(here, token) is not None) == found[token]
        if not matcher.accept(rng.choice(allowed)) or matcher.complete or matcher.terminated:
            break
    with pytest.raises(IndexError):
        positions.after_every_text(matcher.position, np.array([-1], np.int32))


def test_questions_at_one_place_come_to_an_end(loaded: LoadedModel) -> None:
    """Where all that is near has been expanded, nothing far away is: texts hardly come there."""
    expanded = Expanded(loaded, "order")
    rounds = 0
    while expanded.listen(lambda: False):
        rounds += 1
        assert rounds <= MOST_LOOKED_AT
    known = [each for each in expanded.positions.values() if not each.expands]
    assert rounds > 1
    assert 6 < len(known) <= MOST_LOOKED_AT


def test_what_takes_too_much_is_left_to_the_text_that_gets_there(
    loaded: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error at one place loses nothing that has been found out at others."""
    expanded, calls = Expanded(loaded, "anything"), count()

    def forced_run(matcher: Matcher) -> object:
        if next(calls) == 3:  # the first is about the position itself
            raise LimitError("too much", limit="work", value=1)
        return original(matcher)

    original = Matcher.forced_run
    monkeypatch.setattr(Matcher, "forced_run", forced_run)
    expanded.listen(lambda: False)
    assert next(calls) > 3
    matcher = after_forced_text(expanded)
    assert expanded.check(matcher)
