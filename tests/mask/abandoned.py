"""Faults thrown at steps of counted work, and what a grammar offers with and without them."""

from __future__ import annotations

import gc
from collections.abc import Callable, Generator
from contextlib import contextmanager
from random import Random
from typing import Any

import pytest

from maskwright import Grammar
from maskwright.errors import InputError, LimitError, SliceExceeded
from maskwright.limits import Work
from maskwright.mask.shared.vocabulary_tables import forget_languages
from tests.matching import allowed

_SIGN = "thrown by a test"
_TRIES = 3
"""Faults in a row for one question; then it is answered."""
_STEPS = 8
"""Tokens of each text."""


class Faults:
    """Stops questions at steps drawn at random."""

    def __init__(self, random: Random) -> None:
        self.thrown = 0
        self._random = random
        self._left: int | None = None

    def look(self) -> None:
        """Stands in for `Work.look`."""
        if self._left is not None:
            self._left -= 1
            if self._left < 0:
                self.thrown += 1
                raise self._random.choice(
                    [SliceExceeded(_SIGN), LimitError(_SIGN, limit="seconds")]
                )

    def ask(self, question: Callable[[], Any]) -> Any:
        """The answer to a question, which is given up a few times first."""
        for _ in range(_TRIES):
            self._left = int(2 ** self._random.uniform(0, 9)) - 1
            try:
                return question()
            except (SliceExceeded, LimitError) as error:
                if _SIGN not in str(error):
                    raise
            finally:
                self._left = None
        return question()


@contextmanager
def faults(random: Random) -> Generator[Faults]:
    """Questions are given up within the block, where they are asked by `Faults.ask`."""
    found, begin = Faults(random), Work.begin

    def look_at_each_step(work: Work) -> None:
        begin(work)
        work.until_look = -1

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Work, "look", lambda _work: found.look())
        patch.setattr(Work, "begin", look_at_each_step)
        yield found


def forget() -> None:
    """Forget everything that isn't in use, as if the process were new."""
    forget_languages()
    gc.collect()


Ask = Callable[[Callable[[], Any]], Any]


def plainly(question: Callable[[], Any]) -> Any:
    return question()


def observe(compile_it: Callable[[], Grammar], seed: str, ask: Ask = plainly) -> list[Any]:
    """What a grammar offers along random texts: masks, events, what is forced."""
    try:
        grammar = ask(compile_it)
    except InputError as error:
        return [type(error)]
    seen: list[Any] = []
    for walk in range(2):
        random = Random(f"{seed} {walk}")
        matcher = ask(grammar.matcher)
        for step in range(_STEPS):
            mask = ask(lambda m=matcher: allowed(m))
            seen.append(mask)
            seen.append((ask(lambda m=matcher: m.accepting), ask(lambda m=matcher: m.complete)))
            seen.append(ask(matcher.forced_tokens))
            if step % 4 == 1:  # which takes most of the time
                tight = ask(lambda m=matcher: allowed(m, m.min_tokens + 2))
                assert tight <= mask
                assert tight
            token = random.choice(sorted(mask))
            assert ask(lambda m=matcher, t=token: m.accept(t))
            seen.append([repr(event) for event in ask(matcher.events)])
            if matcher.terminated:
                break
    return seen
