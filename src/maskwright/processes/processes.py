"""Grammar processes: starts and replaces them, and passes jobs to them and answers on.

Grammars share a process until a job of one takes longer there than a slice; that grammar then gets
a process of its own, with limits of time and memory. A process that ends is replaced, and what it
knew of the texts under way is made again from their tokens.
"""

from __future__ import annotations

import itertools
import logging
import queue
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from multiprocessing.connection import Connection, Pipe, wait
from typing import Any, Final, TypeAlias

from msgspec import Struct

from maskwright.errors import WHOLE_GRAMMAR, EngineStoppedError, LimitError
from maskwright.mask import Event
from maskwright.processes.connected import Connected
from maskwright.processes.follower import FollowedEvents, FollowedGrammar, Follower, Heard
from maskwright.processes.messages import Answer, Build, Expansion, Heavy, Inquiry, Parcel
from maskwright.processes.nest import Nest, Nursery
from maskwright.processes.pool import IDLE_SECONDS, Pool
from maskwright.processes.tasks import (
    CompileTask,
    EventsTask,
    InquiryTask,
    LeastTokensTask,
    LessonTask,
    LookAheadTask,
    Moved,
    PendingJob,
    Preparation,
)
from maskwright.processes.worker import Terms, too_much_memory
from maskwright.vocab import Vocabulary

STUCK_SECONDS: Final = 0.1
"""Processor time after which the shared process is ended for a job that it did not abandon."""

log = logging.getLogger(__name__)

UNWANTED_SECONDS: Final = 1.0
"""Processor time after which a process is ended at an inquiry for whose answer nobody waits. A
shorter one is let go on: the process that is kept learns from it what the next can use."""

MOST_DEATHS: Final = 20
"""Processes of its own that a job may bring to an end. They may have been ended from outside."""

MOST_WALL: Final = 4
"""How many times as long as its processor time a job may take where the machine is busy. Processes
of single grammars get a third of a processor for which the server competes."""

DESK_SECONDS: Final = 120.0
"""Seconds without an inquiry after which the process that is kept for them is ended: as long as
somebody who writes a shape may think."""

TICK: Final = 0.02
"""Seconds between two looks at processes that have something to do."""

SHORT_TICK: Final = 0.004
"""The like while a shared process is at work: others may have to move away."""


class ProcessStats(Struct):
    """Counts since the start.

    `running`: processes at this moment, the one that forks the others not counted. `restarts`:
    processes replaced because they had ended or had to be ended. `questions` about texts and `jobs`
    of every kind that were sent; `heavy`: grammars that got a process of their own; `limits`: jobs
    that met a limit of time or memory.
    """

    running: int = 0
    restarts: int = 0
    jobs: int = 0
    questions: int = 0
    heavy: int = 0
    limits: int = 0


class GrammarProcesses:
    """The grammar processes of one vocabulary. May be used from any thread; `close` ends all."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        *,
        count: int = 1,
        seconds: float = 10.0,
        nbytes: int = 512 << 20,
        nursery: Nursery | None = None,
    ) -> None:
        """`count` processes that grammars share, besides the one in which they begin. A grammar
        with a process of its own may take `seconds` of processor time to be compiled, and as much
        for each text, and `nbytes` of memory. `nursery`: one that has been started already, which
        is ended with the others."""
        self.vocabulary: Final = vocabulary
        self._seconds = seconds
        self._nbytes = nbytes
        self._nest = Nest(vocabulary, nursery)
        self._stats = ProcessStats()
        self._lock = threading.RLock()
        self._numbers = itertools.count(1)
        self._pool = Pool(count)
        self._desk = self._standing(Parcel(None))
        """Stands for the process that is kept for inquiries."""
        self._desk.idle_seconds = DESK_SECONDS
        self._grammars: weakref.WeakValueDictionary[int, FollowedGrammar]
        self._grammars = weakref.WeakValueDictionary()
        self._busy_at = 0.0
        """When the last task came, in seconds of a clock."""
        self._sleeps = False
        """Whether the thread waits without an end, and has to be woken to watch processes."""
        self._closed = False
        self._wake_reader, self._wake_writer = Pipe(duplex=False)
        self._thread = threading.Thread(
            target=self._run, name="maskwright-grammar-processes", daemon=True
        )
        self._to_start: queue.SimpleQueue[FollowedGrammar | None] = queue.SimpleQueue()
        self._starter = threading.Thread(
            target=self._start_all, name="maskwright-grammar-process-starts", daemon=True
        )
        self._starter.start()
        self._thread.start()

    # Jobs

    def compile(self, build: Build) -> Future[FollowedGrammar]:
        """Compile a grammar. The future raises what compiling raises, and `LimitError` where that
        takes too much time or memory."""
        number = next(self._numbers)
        grammar = FollowedGrammar(self, number, Parcel(build), self.vocabulary)
        self._grammars[number] = grammar
        weakref.finalize(grammar, self.forget, grammar=number).atexit = False
        task = CompileTask(grammar)
        self._submit(task)
        return task.future

    def inquire(self, inquiry: Inquiry, *, kept: bool = False) -> Future[Any]:
        """Find something out about a shape, in a process that does nothing else and is ended
        afterwards: neither the shape nor what reads it can delay anybody. The future raises what
        the inquiry raises, and `LimitError` where it takes too much time or memory.

        `kept`: in a process that is kept for the next such inquiry, with what it has learned of
        shapes; unless it is at work, because nobody may have to wait for another's inquiry.

        An inquiry whose future is cancelled is given up."""
        parcel = Parcel(inquiry)
        with self._lock:
            kept = kept and not self._pool.is_at_work(self._desk)
            standing = self._desk if kept else self._standing(parcel)
            task = InquiryTask(standing, parcel, kept=kept)
            self._submit(task)
        task.future.add_done_callback(lambda _: self._end_if_unwanted(task))
        return task.future

    def _end_if_unwanted(self, task: InquiryTask) -> None:
        """See that an inquiry whose future was cancelled isn't begun. One that has been is ended by
        `_watch`."""
        if task.future.cancelled():
            with self._lock:
                task.wanted = False
                self._pool.drop(task)

    def _standing(self, parcel: Parcel) -> FollowedGrammar:
        """What stands for a process of inquiries among grammars that have a process of their
        own."""
        standing = FollowedGrammar(self, next(self._numbers), parcel, self.vocabulary)
        standing.heavy = True
        return standing

    def least_tokens(self, grammar: FollowedGrammar, enough: int) -> Future[int]:
        """See `FollowedGrammar.least_tokens`."""
        task = LeastTokensTask(grammar, enough)
        self._submit(task)
        return task.future

    def ask(
        self,
        follower: Follower,
        text: list[int],
        new: int,
        left: int,
        *,
        canonical: bool,
        then: Callable[[Heard], None],
    ) -> None:
        """Ask what comes next in a text whose last `new` tokens are not yet the follower's;
        see `Follower.ask`."""
        self._stats.questions += 1
        self._submit(LessonTask(follower, text, new, left, canonical=canonical, then=then))

    def look_ahead(self, follower: Follower, text: list[int]) -> None:
        """Have the position expanded at which the text of a follower stands."""
        self._submit(LookAheadTask(follower, text))

    def events(
        self, reader: FollowedEvents, tokens: list[int], *, final: bool
    ) -> Future[list[Event]]:
        """The events of the next tokens; `final`: the text goes no further. A reader's next call
        comes after the answer to the one before."""
        task = EventsTask(reader, tokens, final=final)
        self._submit(task)
        return task.future

    def forget(self, *, text: int | None = None, grammar: int | None = None) -> None:
        """What has ended, by its number, need not be known any longer: the text of a follower or of
        a reader, or a grammar."""
        with self._lock:
            for process in self._pool.running:
                process.holds.forget(text=text, grammar=grammar)

    def teach_again(self, grammar: FollowedGrammar) -> None:
        """What has been learned of a grammar was forgotten."""
        with self._lock:
            for process in self._pool.running:
                process.holds.teach_again(grammar.number)

    @property
    def stats(self) -> ProcessStats:
        """The counts so far."""
        self._stats.running = len(self._pool.running)
        return self._stats

    @property
    def memory(self) -> int:
        """Bytes of physical memory of all grammar processes; pages that they share count for
        each."""
        with self._lock:
            return self._nest.memory() + sum(process.memory() for process in self._pool.running)

    @property
    def pids(self) -> list[int]:
        """The system's numbers of the processes at this moment."""
        with self._lock:
            return [process.pid for process in self._pool.running]

    def close(self) -> None:
        """End all processes. Jobs that have not been answered fail."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._wake()
        self._thread.join()
        self._to_start.put(None)  # which wakes the thread
        self._starter.join()
        error = EngineStoppedError("The grammar processes were ended.")
        with self._lock:
            tasks = [*self._pool.homeless]
            for process in self._pool.running:
                process.kill()
                tasks += self._pool.remove(process)
            self._nest.close()
        for task in tasks:
            task.fail(error)

    # Inside

    def _submit(self, task: PendingJob) -> None:
        with self._lock:
            if not self._closed:
                self._stats.jobs += 1
                self._place(task)
                return
        task.fail(EngineStoppedError("The grammar processes have ended."))

    def _place(self, task: PendingJob) -> None:
        """Queue a task at its process, and send it if that has nothing else to do."""
        process = self._pool.place(task)
        self._busy_at = time.monotonic()
        if self._sleeps:
            self._sleeps = False
            self._wake()
        if process is None:
            self._wake()
        else:
            self._pump(process)

    def _pump(self, process: Connected) -> None:
        try:
            process.pump(time.monotonic())
        except OSError:
            self._wake()  # the thread sees its end, and starts another

    def _wake(self) -> None:
        self._wake_writer.send(None)

    # The thread

    def _run(self) -> None:
        while True:
            with self._lock:
                if self._closed:
                    return
                for own in self._pool.missing():
                    self._to_start.put(own)
                by_connection = {process.connection: process for process in self._pool.running}
                patience = self._patience()
                self._sleeps = patience is None or patience > TICK
            ready = wait([self._wake_reader, *by_connection], patience)
            while self._wake_reader.poll():
                self._wake_reader.recv()
            failed: list[Failure] = []
            for connection in ready:
                process = by_connection.get(connection)  # pyright: ignore[reportArgumentType]
                if process is not None:
                    failed += self._receive(process)
            with self._lock:
                if self._closed:
                    return
                failed += self._watch()
                for process in self._pool.relieve():
                    self._pump(process)
            for task, error in failed:
                task.fail(error)

    def _patience(self) -> float | None:
        """Seconds until processes have to be looked at; None for any time."""
        at_work = [process for process in self._pool.running if process.sent]
        if any(process.own is None for process in at_work):
            return SHORT_TICK
        if at_work or time.monotonic() - self._busy_at < 1.0:
            return TICK
        return IDLE_SECONDS / 4 if self._pool.own else None

    def _receive(self, process: Connected) -> list[Failure]:
        """Pass on all answers that have come from a process. Returns the tasks that are given up
        because it has ended."""
        try:
            while process.connection.poll():
                answer: Answer = process.connection.recv()
                process.unanswered = 0
                if isinstance(answer, Expansion):
                    process.holds.take_expansion(answer, self._grammars.get(answer.grammar))
                    continue
                with self._lock:
                    task = process.answered(answer, time.monotonic())
                    if isinstance(answer, Heavy):
                        self._make_heavy(task.grammar)
                        if not isinstance(task, Moved):
                            self._place(task.goal)
                        continue
                    if isinstance(task, Preparation) and not isinstance(answer, Exception):
                        process.queue.appendleft(task.goal)
                if isinstance(answer, Exception):
                    task.fail(answer)
                else:
                    task.take(process.holds, answer)
            with self._lock:
                process.pump(time.monotonic())
        except (EOFError, OSError):
            with self._lock:
                return self._ended(process)
        return []

    def _make_heavy(self, grammar: FollowedGrammar) -> None:
        if self._pool.make_heavy(grammar):
            self._stats.heavy += 1
            self._wake()

    def _ended(self, process: Connected) -> list[Failure]:
        """A process has ended: its tasks go to others. Returns those that are given up."""
        if process not in self._pool.running:
            return []
        first = process.sent[0].goal if process.sent else None
        failed: list[Failure] = []
        if first is not None:
            first.deaths += 1
            if process.own is None and first.deaths > 1:
                self._make_heavy(first.grammar)
            elif process.own is not None and (
                first.deaths > MOST_DEATHS or 2 * process.most_grown > self._nbytes
            ):
                process.sent.popleft()
                self._stats.limits += 1
                failed.append((first, too_much_memory(self._nbytes)))
        self._replace(process)
        return failed

    def _replace(self, process: Connected) -> None:
        """End a process, unless it has ended, and give its tasks to others at once."""
        process.kill()
        self._stats.restarts += 1
        for task in self._pool.remove(process):
            if task.wanted:
                self._place(task)

    def _watch(self) -> list[Failure]:
        """End processes that are at one job for too long. Returns the tasks that are given up."""
        now = time.monotonic()
        failed: list[Failure] = []
        for process in self._pool.running:
            if not process.sent:
                continue
            since, _ = process.began
            if now - since < STUCK_SECONDS:
                continue
            process.note_memory()
            spent = process.spent()
            if process.own is None and spent > STUCK_SECONDS:
                self._make_heavy(process.sent[0].grammar)
                self._replace(process)
            elif process.own is not None and self._is_over(process.sent[0], spent, now - since):
                if process.sent[0].wanted:
                    self._stats.limits += 1
                    task = process.sent.popleft()
                    used = task.spent + spent
                    failed.append((task.goal, _too_long(self._seconds, used, now - since)))
                self._replace(process)
        return failed

    def _is_over(self, task: PendingJob, spent: float, waited: float) -> bool:
        """Whether a process of a single grammar has been at a task for too long: `spent` seconds of
        processor time, and `waited` seconds of a clock."""
        seconds = self._seconds if task.wanted else min(UNWANTED_SECONDS, self._seconds)
        return task.spent + spent > seconds or waited > MOST_WALL * seconds

    # The thread that starts processes, which takes milliseconds, or seconds with the nursery

    def _start_all(self) -> None:
        while True:
            own = self._to_start.get()
            if self._closed:
                return
            try:
                forked = self._nest.fork(
                    Terms(own is None, self._nbytes, int(4 * self._seconds) + 60)
                )
            except (OSError, EOFError) as error:
                self._give_up(error)
                return
            self._install(own, forked)

    def _give_up(self, cause: Exception) -> None:
        """No process can be started: fail everything, now and from now on."""
        log.error("Grammar processes can't be started: %s", cause)
        with self._lock:
            self._closed = True
            self._wake()
        self._thread.join()  # before connections are closed on which it waits
        with self._lock:
            tasks, self._pool.homeless = [*self._pool.homeless], deque()
            for process in self._pool.running:
                tasks += self._pool.remove(process)
        for task in tasks:
            task.fail(EngineStoppedError(f"Grammar processes can't be started: {cause}"))

    def _install(self, own: FollowedGrammar | None, forked: tuple[Connection, int]) -> None:
        """Give a new process the tasks that wait for it."""
        with self._lock:
            process = Connected(next(self._numbers), *forked, own)
            for receiver in self._pool.install(process):
                self._pump(receiver)
            self._wake()


Failure: TypeAlias = tuple[PendingJob, Exception]
"""A task that is given up, and why."""


def _too_long(seconds: float, used: float, waited: float) -> LimitError:
    """The error of a job that may use `seconds` of processor time, and has used `used` within
    `waited` seconds of a clock."""
    if used > seconds:
        return LimitError(
            f"the grammar takes more than {seconds:g} seconds to work out",
            limit="seconds",
            value=seconds,
            construct=WHOLE_GRAMMAR,
        )
    return LimitError(
        f"the grammar is not worked out after {waited:.0f} seconds, in which other work has left it"
        f" {used:.1f} of the {seconds:g} seconds that it may take",
        limit="seconds",
        value=seconds,
        construct=WHOLE_GRAMMAR,
        way_out="send it again when the server is less busy, or make it simpler",
    )
