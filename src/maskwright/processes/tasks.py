"""Jobs as the engine's process keeps them: what to send, and to whom the answer goes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

from maskwright.mask import Event
from maskwright.processes.follower import FollowedGrammar, Follower, Heard, Reader, Taught
from maskwright.processes.holdings import Holdings
from maskwright.processes.messages import (
    Answer,
    Compile,
    Compiled,
    Job,
    LeastTokens,
    Lesson,
    ReadEvents,
    TextQuestion,
)

T = TypeVar("T")


class PendingJob(ABC):
    """A job of a grammar. It can be sent again, to another process, as often as its process ends
    before it answers."""

    def __init__(self, grammar: FollowedGrammar) -> None:
        self.grammar = grammar
        self.deaths = 0
        """Processes that ended while they worked on this."""

    @property
    def spent(self) -> float:
        """Seconds of processor time that a process of its own has spent on the text before."""
        return 0.0

    def note_spent(self, seconds: float) -> None:
        """A process of its own has spent this time on the job. It counts where jobs of one text
        follow each other."""
        del seconds

    @abstractmethod
    def job(self, process: Holdings) -> Job:
        """The message for a process."""

    @abstractmethod
    def take(self, process: Holdings, answer: Answer) -> None:
        """Pass on an answer that is no error."""

    @abstractmethod
    def fail(self, error: Exception) -> None:
        """Pass on an error."""


class _WithFuture(PendingJob, Generic[T]):
    """A task whose answer is waited for."""

    def __init__(self, grammar: FollowedGrammar) -> None:
        super().__init__(grammar)
        self.future: Future[T] = Future()

    def resolve(self, answer: T) -> None:
        """Give the answer to those who wait, unless they have gone."""
        if self.future.set_running_or_notify_cancel():
            self.future.set_result(answer)

    def fail(self, error: Exception) -> None:
        if self.future.set_running_or_notify_cancel():
            self.future.set_exception(error)


class CompileTask(_WithFuture[FollowedGrammar]):
    """Compile a grammar."""

    def job(self, process: Holdings) -> Job:
        process.grammars.add(self.grammar.number)
        return Compile(self.grammar.number, self.grammar.build)

    def take(self, process: Holdings, answer: Answer) -> None:
        assert isinstance(answer, Compiled)
        self.grammar.report = answer.report
        self.grammar.min_tokens = answer.min_tokens
        self.resolve(self.grammar)


class CompileAgainTask(CompileTask):
    """Compile a grammar in another process than before, for a task that follows. Nobody waits for
    it: where it fails, the task that follows fails too."""


class LeastTokensTask(_WithFuture[int]):
    """The fewest tokens of any text."""

    def __init__(self, grammar: FollowedGrammar, enough: int) -> None:
        super().__init__(grammar)
        self._enough = enough

    def job(self, process: Holdings) -> Job:
        return LeastTokens(self.grammar.number, self._enough)

    def take(self, process: Holdings, answer: Answer) -> None:
        assert isinstance(answer, int)
        self.resolve(answer)


class LessonTask(PendingJob):
    """A question about the text of a follower."""

    def __init__(
        self,
        follower: Follower,
        text: list[int],
        new: int,
        left: int,
        *,
        canonical: bool,
        then: Callable[[Heard], None],
    ) -> None:
        """`text`: all tokens, of which the last `new` are not yet the follower's."""
        super().__init__(follower.grammar)
        self._follower = follower
        self._text = text
        self._new = new
        self._left = left
        self._canonical = canonical
        self._then = then

    @property
    def spent(self) -> float:
        return self._follower.spent

    def note_spent(self, seconds: float) -> None:
        self._follower.spent += seconds

    def job(self, process: Holdings) -> Job:
        follower = self._follower
        known = follower.synced if follower.process == process.number else 0
        known = min(known, len(self._text) - self._new)
        follower.process, follower.synced = process.number, len(self._text)
        process.texts.add(follower.number)
        rest = self._text[known:]
        return TextQuestion(
            self.grammar.number,
            follower.number,
            known,
            rest,
            self._new,
            self._left,
            self._canonical,
        )

    def take(self, process: Holdings, answer: Answer) -> None:
        assert isinstance(answer, Lesson)
        self._then(Taught(process.number, answer, process.take_rows(answer)))

    def fail(self, error: Exception) -> None:
        self._then(error)


class EventsTask(_WithFuture[list[Event]]):
    """The events of the next tokens of a text."""

    def __init__(self, reader: Reader, tokens: list[int], *, final: bool) -> None:
        super().__init__(reader.grammar)
        self._reader = reader
        self._tokens = tokens
        self._final = final

    def job(self, process: Holdings) -> Job:
        reader = self._reader
        fresh = reader.process != process.number
        reader.process = process.number
        process.readers.add(reader.number)
        return ReadEvents(
            self.grammar.number,
            reader.number,
            reader.earlier.copy() if fresh else None,
            self._tokens,
            self._final,
        )

    def take(self, process: Holdings, answer: Answer) -> None:
        assert isinstance(answer, list)
        self._reader.earlier.append(self._tokens)
        self.resolve(answer)
