"""A running grammar process, as the engine's process sees it."""

from __future__ import annotations

import os
import signal
import time
from collections import deque
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Final

from maskwright.processes.follower import FollowedGrammar
from maskwright.processes.messages import Answer, Heavy, Job
from maskwright.processes.nest import memory_of
from maskwright.processes.tasks import Holdings, Moved, PendingJob

MOST_UNANSWERED: Final = 64
"""Jobs without an answer that are sent while nothing comes from a process."""

_WHOLE_PROCESS: Final = 2
"""In the number of a clock: the processor time of all threads of a process (Linux's
`CPUCLOCK_SCHED`). The other bits are the process's number, inverted."""


class Connected:
    """The connection to a grammar process, what it has been asked, and what it holds.

    `own` is the grammar that has this process to itself, None for a shared process. The lock of
    `GrammarProcesses` guards it.
    """

    def __init__(
        self, number: int, connection: Connection, pid: int, own: FollowedGrammar | None
    ) -> None:
        self.holds: Final = Holdings(number)
        self.connection: Final = connection
        self.pid: Final = pid
        self.own: Final = own
        self.queue: deque[PendingJob] = deque()
        """Tasks that have not been sent."""
        self.sent: deque[PendingJob] = deque()
        """Tasks that have been sent, in the order in which their answers come."""
        self.unanswered = 0
        """Jobs without an answer that have been sent since something has come from the process."""
        self.began = (0.0, 0.0)
        """When the first of `sent` was begun, in seconds of a clock and of the process's own."""
        self.used = 0.0
        """When the last task was sent or answered, in seconds of a clock."""
        self._first_bytes = self.memory()
        self.most_grown = 0
        """The most bytes by which the process had grown when somebody looked."""
        self._pidfd = -1  # a number that no other process can have, unlike `pid`
        with suppress(OSError):
            self._pidfd = os.pidfd_open(pid)

    @property
    def idle(self) -> bool:
        """Whether it has nothing to do."""
        return not (self.queue or self.sent)

    def pump(self, now: float) -> None:
        """Send what is queued, in one message, if everything sent before has been answered. Of what
        may take long, one job is sent, after everything else. Of jobs without an answer, no more
        are sent than fit into the connection while nothing comes from the process, since whoever
        sends would wait; the others are dropped. Raises `OSError` if the process has ended."""
        if self.sent or not self.queue:
            return
        jobs: list[Job] = []
        forget = self.holds.take_forgotten()
        if forget is not None:
            jobs.append(forget)
        for task in self._next_tasks():
            if task.has_answer:
                self.sent.append(task)
            elif self.unanswered == MOST_UNANSWERED:
                continue
            jobs.append(task.job(self.holds))
            if not task.has_answer:
                self.unanswered += 1
                task.answered(self.holds)
        if jobs:
            self.begin(now)
            self.connection.send(jobs)

    def _next_tasks(self) -> list[PendingJob]:
        """Take from the queue all questions that can be answered at once, and the first of what
        remains, or its preparation."""
        ready: list[PendingJob] = []
        others: deque[PendingJob] = deque()
        long: PendingJob | None = None
        for task in self.queue:
            preparation = task.preparation(self.holds)
            if preparation is None and task.needs_grammar:
                ready.append(task)
            elif long is None:
                long = preparation or task
            else:
                others.append(task)
        self.queue = others
        return ready if long is None else [*ready, long]

    def spent(self) -> float:
        """Seconds of processor time that the process has taken since it began on the first of
        `sent`."""
        return self.cpu_seconds() - self.began[1]

    def take_waiting(self) -> list[PendingJob]:
        """Take away the tasks of proven grammars that wait for a job of another one."""
        first = self.sent[0].grammar
        taken: list[PendingJob] = []
        for tasks in (self.sent, self.queue):
            for _ in range(len(tasks)):
                task = tasks.popleft()
                if task.grammar is first or not task.grammar.is_proven or isinstance(task, Moved):
                    tasks.append(task)
                    continue
                taken.append(task.goal)
                if tasks is self.sent:
                    tasks.append(Moved(task.grammar))
        return taken

    def begin(self, now: float) -> None:
        """The process begins the first of `sent`."""
        self.used = now
        self.began = (now, self.cpu_seconds())

    def answered(self, answer: Answer, now: float) -> PendingJob:
        """The task that the answer which has just come belongs to."""
        task = self.sent.popleft()
        before = self.began[1]
        self.begin(now)
        if self.own is not None:
            task.note_spent(self.began[1] - before)
        if isinstance(answer, Heavy) or (isinstance(answer, Exception) and task.compiles):
            self.holds.grammars.discard(task.grammar.number)
        task.answered(self.holds)
        return task

    def cpu_seconds(self) -> float:
        """Seconds of processor time that the process has taken; 0 if it has ended."""
        with suppress(OSError):
            return time.clock_gettime(~self.pid << 3 | _WHOLE_PROCESS)
        return 0.0

    def memory(self) -> int:
        """Bytes of physical memory that the process has; 0 if it has ended."""
        return memory_of(self.pid)

    def note_memory(self) -> None:
        """Look how much memory the process has."""
        self.most_grown = max(self.most_grown, self.grown)

    @property
    def grown(self) -> int:
        """Bytes of physical memory that have come since the process began."""
        return self.memory() - self._first_bytes

    def kill(self) -> None:
        """End the process at once, if it has not ended."""
        with suppress(OSError):
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)

    def close(self) -> None:
        """Close the connection, at which an idle process ends."""
        self.connection.close()
        if self._pidfd >= 0:
            os.close(self._pidfd)
            self._pidfd = -1
