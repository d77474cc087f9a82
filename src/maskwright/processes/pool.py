"""The running grammar processes, and which of them has which task.

Grammars begin in the first of the shared processes. One that is proven by some questions, and then
has to wait there for a job of another grammar, moves to the next shared process and stays there.
What takes long is nearly always new: what is new has to wait for it, and the texts under way do
not. A grammar moves on likewise where it has to wait again, or its process has ended.
"""

from __future__ import annotations

import time
from collections import deque
from typing import Final

from maskwright.processes.connected import Connected
from maskwright.processes.follower import FollowedGrammar
from maskwright.processes.tasks import Moved, PendingJob

IDLE_SECONDS: Final = 5.0
"""After so long without a job a process of a single grammar is ended."""

IDLE_PER_SECOND: Final = 20.0
"""Seconds without a job after which one is ended, for each second of processor time that it has
taken, if it holds little: the grammar's next text would have to wait as long again."""

LONGEST_IDLE_SECONDS: Final = 30.0
"""After so long without a job every process of a single grammar is ended."""

LITTLE_BYTES: Final = 32 << 20
"""What a process may hold for that."""

MOST_OWN: Final = 8
"""Most processes of single grammars at a time."""

SHARED_BYTES: Final = 128 << 20
"""Memory that a shared process may add; then a fresh one takes its place."""

PATIENCE: Final = 0.008
"""Processor time of a job in the process of new grammars after which others move away from it."""

LONGER_PATIENCE: Final = 0.02
"""The like in other shared processes, whose grammars have shown that they take little."""


class Pool:
    """Running processes: `shared` ones, None where one has to be started, and processes of single
    grammars, by the grammars' numbers.

    The lock of `GrammarProcesses` guards it.
    """

    def __init__(self, count: int) -> None:
        """`count` shared processes besides the one in which grammars begin."""
        self.shared: Final[list[Connected | None]] = [None] * (count + 1)
        self.own: Final[dict[int, Connected]] = {}
        self.homeless: deque[PendingJob] = deque()
        """Tasks whose process does not run yet."""
        self.starting: Final[list[FollowedGrammar | None]] = []
        """For which grammars a process is being started, None for a shared one."""

    @property
    def running(self) -> list[Connected]:
        """All processes."""
        return [*filter(None, self.shared), *self.own.values()]

    def place(self, task: PendingJob) -> Connected | None:
        """Queue a task at its process, and return that; None if it does not run yet."""
        process = self._home(task)
        if process is None:
            self.homeless.append(task)
        else:
            process.queue.append(task)
        return process

    def _home(self, task: PendingJob) -> Connected | None:
        grammar = task.grammar
        if grammar.heavy:
            return self.own.get(grammar.number)
        if self.shared[grammar.home] is None and grammar.is_proven:
            self._move(grammar, self._least_busy(grammar.home))
        return self.shared[grammar.home]

    def _least_busy(self, but: int) -> int:
        """The shared process with the fewest tasks, of those that run; number `but` if no other
        one does."""
        others = [
            (len(shared.sent) + len(shared.queue), at)
            for at, shared in enumerate(self.shared)
            if shared is not None and at != but
        ]
        return min(others)[1] if others else but

    def _move(self, grammar: FollowedGrammar, home: int) -> None:
        before = self.shared[grammar.home]
        if before is not None and home != grammar.home:
            before.holds.forget(grammar=grammar.number)
        grammar.home = home

    def is_at_work(self, grammar: FollowedGrammar) -> bool:
        """Whether the process of a single grammar has something to do, or something waits for it to
        be started."""
        own = self.own.get(grammar.number)
        waits = any(task.grammar is grammar for task in self.homeless)
        return waits or (own is not None and not own.idle)

    def drop(self, task: PendingJob) -> None:
        """Take away a task of a single grammar's process, unless that is at work on it."""
        own = self.own.get(task.grammar.number)
        for tasks in (self.homeless, deque[PendingJob]() if own is None else own.queue):
            if task in tasks:
                tasks.remove(task)

    def relieve(self) -> list[Connected]:
        """Move tasks that wait for a job of another grammar which takes long to another shared
        process. Returns the processes that have got some."""
        receivers: list[Connected] = []
        for at, shared in enumerate(self.shared):
            if shared is None or not shared.sent or not self._takes_long(at, shared):
                continue
            to = self._least_busy(at)
            receiver = self.shared[to]
            if to == at or receiver is None or self._takes_long(to, receiver):
                continue
            tasks = shared.take_waiting()
            for task in tasks:
                self._move(task.grammar, to)
            receiver.queue.extend(tasks)
            if tasks:
                receivers.append(receiver)
        return receivers

    def _takes_long(self, at: int, shared: Connected) -> bool:
        return bool(shared.sent) and shared.spent() > (LONGER_PATIENCE if at else PATIENCE)

    def make_heavy(self, grammar: FollowedGrammar) -> bool:
        """Give a grammar a process of its own; False if it has one."""
        if grammar.heavy:
            return False
        grammar.heavy = True
        for shared in filter(None, self.shared):
            moving = [task for task in shared.queue if task.grammar is grammar]
            for task in moving:
                shared.queue.remove(task)
                self.place(task)
        return True

    def remove(self, process: Connected) -> list[PendingJob]:
        """Close the connection to a process, which ends if it hasn't. Returns what it has not
        answered."""
        if process.own is None:
            self.shared[self.shared.index(process)] = None
        else:
            del self.own[process.own.number]
        process.close()
        tasks = [*process.sent, *process.queue]
        return [task.goal for task in tasks if not isinstance(task, Moved)]

    def missing(self) -> list[FollowedGrammar | None]:
        """Make room, and return for which grammars a process is to be started, None for a shared
        one: they are `starting` from then on. What has nothing to do, holds too much, or has no
        grammar left is ended."""
        now = time.monotonic()
        for shared in filter(None, self.shared):
            if shared.idle and shared.grown > SHARED_BYTES:
                self.remove(shared)
        for own in list(self.own.values()):
            if own.idle and (not own.holds.grammars or _has_idled_too_long(own, now)):
                self.remove(own)
        missing: list[FollowedGrammar | None] = []
        missing += [None] * (self.shared.count(None) - self.starting.count(None))
        room = MOST_OWN - len(self.own) - sum(1 for each in self.starting if each is not None)
        for task in self.homeless:
            grammar = task.grammar
            if not grammar.heavy or grammar.number in self.own:
                continue
            if grammar in missing or grammar in self.starting:
                continue
            if room > 0 or self._make_room():
                room -= 1
                missing.append(grammar)
        self.starting.extend(missing)
        return missing

    def _make_room(self) -> bool:
        """End the process of a single grammar that has been idle for longest; False if all have
        something to do."""
        idle = [process for process in self.own.values() if process.idle]
        if not idle:
            return False
        self.remove(min(idle, key=lambda process: process.used))
        return True

    def install(self, process: Connected) -> list[Connected]:
        """Take in a new process, and give it the tasks that wait for it. Returns the processes that
        have got some."""
        self.starting.remove(process.own)
        if process.own is None:
            self.shared[self.shared.index(None)] = process
        else:
            self.own[process.own.number] = process
        tasks, self.homeless = self.homeless, deque()
        receivers = {self.place(task) for task in tasks}
        return [receiver for receiver in receivers if receiver is not None]


def _has_idled_too_long(own: Connected, now: float) -> bool:
    """Whether the process of a single grammar is to be ended. `now` is in seconds of
    `time.monotonic`."""
    idle_seconds = now - own.used
    chosen = 0.0 if own.own is None else own.own.idle_seconds
    if chosen:
        return idle_seconds > chosen or (idle_seconds > 0 and own.grown > SHARED_BYTES)
    if idle_seconds <= IDLE_SECONDS:  # asked at every message: what follows is a system call
        return False
    if idle_seconds > LONGEST_IDLE_SECONDS or own.grown > LITTLE_BYTES:
        return True
    return idle_seconds > IDLE_PER_SECOND * own.cpu_seconds()
