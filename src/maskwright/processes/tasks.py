"""Jobs as the engine's process keeps them: what to send, and to whom the answer goes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Final, Generic, TypeVar, cast

import numpy as np

from maskwright.mask import Event
from maskwright.processes.follower import (
    FollowedEvents,
    FollowedGrammar,
    Follower,
    Heard,
    Taught,
)
from maskwright.processes.learned import Row, shared_array
from maskwright.processes.messages import (
    Answer,
    Compile,
    Compiled,
    Description,
    Expansion,
    Forget,
    Inquire,
    Job,
    LeastTokens,
    Lesson,
    LookAhead,
    Parcel,
    ReadEvents,
    TextQuestion,
)


class Holdings:
    """The numbers of the grammars and texts that a process knows, and the masks that it has sent.
    `number` is the process's own, which no other ever has."""

    def __init__(self, number: int) -> None:
        self.number: Final = number
        self.grammars: set[int] = set()
        self.texts: dict[int, int] = {}
        """The grammars of texts, by the texts' numbers."""
        self._forget = Forget([], [], [])
        self._rows: dict[int, Row] = {}

    def take_forgotten(self) -> Forget | None:
        """What the process is to forget with the next message; None for nothing."""
        if not any(self._forget):
            return None
        forget, self._forget = self._forget, Forget([], [], [])
        return forget

    def forget(self, *, text: int | None = None, grammar: int | None = None) -> None:
        """Have the process forget what has ended, with the next message. With a grammar it forgets
        the texts of it."""
        if text is not None and self.texts.pop(text, None) is not None:
            self._forget.texts.append(text)
        if grammar is not None and grammar in self.grammars:
            self.grammars.discard(grammar)
            self._forget.grammars.append(grammar)
            for number in [each for each, its in self.texts.items() if its == grammar]:
                self.forget(text=number)

    def known(self, text: Follower | FollowedEvents, most: int) -> int:
        """How many of the first `most` tokens of a text, or calls of its reader, are known."""
        is_known = text.process == self.number and text.number in self.texts
        return min(text.synced, most) if is_known else 0

    def note(self, text: Follower | FollowedEvents, read: int) -> None:
        """Note that the process is to read a text up to the token, or the call, number `read`."""
        text.process, text.synced = self.number, read
        self.texts[text.number] = text.grammar.number

    def teach_again(self, grammar: int) -> None:
        """What was sent about a grammar has been forgotten here; have it sent again."""
        if grammar in self.grammars:
            self._forget.taught.append(grammar)

    def take_rows(self, lesson: Lesson) -> dict[int, Row]:
        """Keep the masks that come with a lesson, and return those that it names."""
        self._keep(lesson.rows)
        named = self._named([lesson.here, *(step.reached for step in lesson.steps)])
        self._drop(lesson.forgotten)
        return named

    def take_expansion(self, expansion: Expansion, grammar: FollowedGrammar | None) -> None:
        """Keep the masks that come with an expansion, and have its grammar, if there still is one,
        learn from it."""
        self._keep(expansion.rows)
        if grammar is not None:
            described = [one for target in expansion.targets for one in target.described]
            grammar.take_in(self.number, expansion, self._named(described))
        self._drop(expansion.forgotten)

    def _named(self, described: list[Description]) -> dict[int, Row]:
        """The masks that descriptions name."""
        numbers = (number for one in described for number in (one.row, one.free_row))
        return {number: self._rows[number] for number in numbers if number is not None}

    def _keep(self, rows: list[tuple[int, bytes]]) -> None:
        for number, data in rows:
            self._rows[number] = shared_array(data, np.int32)

    def _drop(self, numbers: list[int]) -> None:
        for number in numbers:
            self._rows.pop(number, None)


T = TypeVar("T")

MOST_AGAIN: Final = 128
"""Tokens that a process reads again in one job: it takes 5 to 15 milliseconds, half of a slice at
most. With twice as many, the grammar of a long text was taken for a heavy one on a slow machine."""


class PendingJob(ABC):
    """A job of a grammar. It can be sent again, to another process, as often as its process ends
    before it answers."""

    has_answer = True
    """Whether an answer comes."""
    needs_grammar = True
    """Whether a process has to have compiled the grammar before."""
    compiles = False
    """Whether it compiles the grammar itself."""

    def __init__(self, grammar: FollowedGrammar) -> None:
        self.grammar = grammar
        self.deaths = 0
        """Processes that ended while they worked on this."""
        self.wanted = True
        """Whether somebody still waits for the answer."""

    @property
    def spent(self) -> float:
        """Seconds of processor time that a process of its own has spent on the text before."""
        return 0.0

    def note_spent(self, seconds: float) -> None:
        """A process of its own has spent this time on the job. It counts where jobs of one text
        follow each other."""
        del seconds

    @property
    def goal(self) -> PendingJob:
        """What is to be done: this job, or the one that this prepares."""
        return self

    def preparation(self, process: Holdings) -> Preparation | None:
        """What a process has to do first, because another one has done it for the tasks before:
        some milliseconds' worth of it. None if it can begin on this at once."""
        if self.needs_grammar and self.grammar.number not in process.grammars:
            return Preparation(self, self._compile_again, compiles=True)
        return None

    def _compile_again(self, process: Holdings) -> Job:
        process.grammars.add(self.grammar.number)
        return Compile(self.grammar.number, self.grammar.build.sent, again=True)

    def answered(self, process: Holdings) -> None:
        """Have a process forget what has ended meanwhile: when it has answered, or when the job has
        been sent if it has no answer."""
        del process

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

    def take(self, process: Holdings, answer: Answer) -> None:
        self.resolve(cast(Any, answer))

    def fail(self, error: Exception) -> None:
        if self.future.set_running_or_notify_cancel():
            self.future.set_exception(error)


class CompileTask(_WithFuture[FollowedGrammar]):
    """Compile a grammar."""

    needs_grammar = False
    compiles = True

    def job(self, process: Holdings) -> Job:
        process.grammars.add(self.grammar.number)
        return Compile(self.grammar.number, self.grammar.build.sent, again=False)

    def take(self, process: Holdings, answer: Answer) -> None:
        assert isinstance(answer, Compiled)
        self.grammar.report = answer.report
        self.grammar.min_tokens = answer.min_tokens
        self.resolve(self.grammar)


class InquiryTask(_WithFuture[Any]):
    """Find something out about a shape. `grammar` stands for the process in which that is done,
    and is never compiled. If the process is `kept`, it is not ended after the answer."""

    needs_grammar = False

    def __init__(self, grammar: FollowedGrammar, inquiry: Parcel, *, kept: bool) -> None:
        super().__init__(grammar)
        self._inquiry = inquiry
        self._kept = kept

    def job(self, process: Holdings) -> Job:
        if self._kept:
            process.grammars.add(self.grammar.number)
        return Inquire(self.grammar.number, self._inquiry.sent)


class Preparation(PendingJob):
    """A job that a process has to do for a task before that can be sent to it, because another one
    has done it for the tasks before."""

    def __init__(
        self, task: PendingJob, job: Callable[[Holdings], Job], *, compiles: bool = False
    ) -> None:
        super().__init__(task.grammar)
        self._task = task
        self._job = job
        self.compiles = compiles

    @property
    def goal(self) -> PendingJob:
        return self._task

    @property
    def spent(self) -> float:
        return self._task.spent

    def note_spent(self, seconds: float) -> None:
        self._task.note_spent(seconds)

    def take(self, process: Holdings, answer: Answer) -> None:
        """Keep what later answers refer to."""
        if isinstance(answer, Lesson):
            process.take_rows(answer)

    def fail(self, error: Exception) -> None:
        self._task.fail(error)

    def job(self, process: Holdings) -> Job:
        return self._job(process)


class Moved(PendingJob):
    """Stands for a job that was sent, and has been given to another process since."""

    def job(self, process: Holdings) -> Job:
        raise AssertionError("it has been sent")

    def take(self, process: Holdings, answer: Answer) -> None:
        if isinstance(answer, Lesson):
            process.take_rows(answer)  # another lesson may name its masks

    def fail(self, error: Exception) -> None:
        """Nobody waits for it here."""


class LeastTokensTask(_WithFuture[int]):
    """The fewest tokens of any text."""

    def __init__(self, grammar: FollowedGrammar, enough: int) -> None:
        super().__init__(grammar)
        self._enough = enough

    def job(self, process: Holdings) -> Job:
        return LeastTokens(self.grammar.number, self._enough)


class _TextTask(PendingJob):
    """A job about the text of a follower."""

    def __init__(self, follower: Follower, text: list[int], new: int) -> None:
        """`text`: all tokens; the last `new` are not yet the follower's."""
        super().__init__(follower.grammar)
        self._follower = follower
        self._text = text
        self._new = new

    @property
    def spent(self) -> float:
        return self._follower.spent

    def note_spent(self, seconds: float) -> None:
        self._follower.spent += seconds

    def preparation(self, process: Holdings) -> Preparation | None:
        unread = len(self._text) - self._new - self._known(process)
        if (compiling := super().preparation(process)) or unread <= MOST_AGAIN:
            return compiling
        return Preparation(self, self._read_more)

    def answered(self, process: Holdings) -> None:
        if self._follower.closed:  # since this was asked
            process.forget(text=self._follower.number)

    def _read_more(self, process: Holdings) -> Job:
        """The job to read a part of the text, about which nothing is asked."""
        known = self._known(process)
        tokens = self._text[known : known + MOST_AGAIN]
        process.note(self._follower, known + MOST_AGAIN)
        return TextQuestion(
            self.grammar.number, self._follower.number, known, tokens, 0, 0, canonical=False
        )

    def _known(self, process: Holdings) -> int:
        """The tokens of the text that a process has read."""
        return process.known(self._follower, len(self._text) - self._new)

    def _unread(self, process: Holdings) -> tuple[int, list[int]]:
        """The tokens of the text that a process knows, and the others, which it is to read now."""
        known = self._known(process)
        process.note(self._follower, len(self._text))
        return known, self._text[known:]


class LookAheadTask(_TextTask):
    """Tell that the text of a follower stands at a position that has not been expanded. The next
    question need not wait for an answer: what is found out comes as an `Expansion`."""

    has_answer = False

    def __init__(self, follower: Follower, text: list[int]) -> None:
        super().__init__(follower, text, 0)

    def job(self, process: Holdings) -> Job:
        return LookAhead(self.grammar.number, self._follower.number, *self._unread(process))

    def take(self, process: Holdings, answer: Answer) -> None:
        raise AssertionError("it has no answer")

    def fail(self, error: Exception) -> None:
        """A text that gets there meets the error itself."""


class LessonTask(_TextTask):
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
        """`text`: all tokens; the last `new` are not yet the follower's."""
        super().__init__(follower, text, new)
        self._left = left
        self._canonical = canonical
        self._then = then

    def job(self, process: Holdings) -> Job:
        return TextQuestion(
            self.grammar.number,
            self._follower.number,
            *self._unread(process),
            self._new,
            self._left,
            self._canonical,
        )

    def take(self, process: Holdings, answer: Answer) -> None:
        assert isinstance(answer, Lesson)
        self.grammar.lessons += 1
        self._then(Taught(process.number, answer, process.take_rows(answer)))

    def fail(self, error: Exception) -> None:
        self._then(error)


class EventsTask(_WithFuture[list[Event]]):
    """The events of the next tokens of a text."""

    def __init__(self, reader: FollowedEvents, tokens: list[int], *, final: bool) -> None:
        super().__init__(reader.grammar)
        self._reader = reader
        self._tokens = tokens
        self._final = final

    def preparation(self, process: Holdings) -> Preparation | None:
        unread = self._reader.earlier[self._known(process) :]
        if (compiling := super().preparation(process)) or not unread:
            return compiling
        return Preparation(self, self._read_more)

    def job(self, process: Holdings) -> Job:
        known = self._known(process)
        process.note(self._reader, len(self._reader.earlier) + 1)
        return self._events(known, [], self._tokens, final=self._final)

    def _read_more(self, process: Holdings) -> Job:
        """The job to read some of the earlier calls."""
        earlier, known = self._reader.earlier, self._known(process)
        end, count = known, 0
        while end < len(earlier) and count < MOST_AGAIN:
            count += len(earlier[end])
            end += 1
        process.note(self._reader, end)
        return self._events(known, earlier[known:end], [], final=False)

    def _events(
        self, known: int, earlier: list[list[int]], tokens: list[int], *, final: bool
    ) -> ReadEvents:
        reader = self._reader.number
        return ReadEvents(self.grammar.number, reader, known == 0, earlier, tokens, final)

    def _known(self, process: Holdings) -> int:
        """The calls whose tokens a process has read."""
        return process.known(self._reader, len(self._reader.earlier))

    def take(self, process: Holdings, answer: Answer) -> None:
        assert isinstance(answer, list)
        self._reader.earlier.append(self._tokens)
        self.resolve(answer)
