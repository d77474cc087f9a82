"""A grammar process: compiles grammars and answers questions about texts, one after the other."""

from __future__ import annotations

import gc
import itertools
import pickle
import resource
from collections import deque
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final, TypeAlias

from msgspec.structs import replace

from maskwright.errors import WHOLE_GRAMMAR, GenerationError, LimitError, SliceExceeded
from maskwright.immutable import Immutable
from maskwright.limits import slice_of
from maskwright.mask import Event, Grammar, Matcher
from maskwright.mask.position import Position
from maskwright.processes.ahead import Ahead
from maskwright.processes.lessons import Reading, SentRows
from maskwright.processes.messages import (
    Answer,
    Build,
    Compile,
    Compiled,
    Expansion,
    Forget,
    Heavy,
    Inquire,
    Inquiry,
    Job,
    LeastTokens,
    LookAhead,
    ReadEvents,
    TextQuestion,
    opened,
)
from maskwright.vocab import Vocabulary

SLICE_SECONDS: Final = 0.03
"""Processor time that a shared process gives to one job; the job's grammar then gets a process of
its own."""

AGAIN_SECONDS: Final = 0.06
"""The like to compile a grammar again, which took less than a slice when it was compiled first."""

EXPANSION_SECONDS: Final = 0.02
"""Processor time for one expansion. A question that comes meanwhile interrupts it only after the
place that is being described."""


LINGER_SECONDS: Final = 0.0003
"""How long the next question is waited for before anything is expanded: it often comes as soon as
an answer has let a token be drawn, and would have to wait for the first place to be described."""

REST_SECONDS: Final = 0.2
"""Seconds without a job after which a full garbage collection is made."""
REST_OBJECTS: Final = 200_000
"""New objects after which a full collection is worth while."""
MOST_OBJECTS: Final = 5_000_000
"""New objects after which a process that never rests makes a full collection between two jobs."""


AnsweredJob: TypeAlias = Compile | Inquire | LeastTokens | TextQuestion | ReadEvents


class Terms(Immutable):
    """What a grammar process may take: `nbytes` more memory than it begins with. A `shared` one
    abandons jobs that take longer than a slice; one for a single grammar lives for `seconds` of
    processor time."""

    shared: bool
    nbytes: int
    seconds: int


_position_numbers = itertools.count()


class _KnownGrammar:
    """A grammar, the numbers of its positions, and what has been expanded ahead."""

    def __init__(self, number: int, grammar: Grammar, rows: SentRows) -> None:
        self.number = number
        self.grammar = grammar
        self.ahead = Ahead(grammar, self.number_of, rows)
        self._numbers: dict[Position, int] = {}

    def number_of(self, position: Position) -> int:
        """The number by which the other process knows a position. None is ever used again, not even
        by a grammar that is compiled again."""
        number = self._numbers.get(position)
        if number is None:
            number = self._numbers[position] = next(_position_numbers)
        return number


class Worker:
    """Serves the jobs that come through a connection, until that is closed."""

    def __init__(self, connection: Connection, vocabulary: Vocabulary, terms: Terms) -> None:
        self._connection = connection
        self._vocabulary = vocabulary
        self._terms = terms
        self._grammars: dict[int, _KnownGrammar] = {}
        self._heavy: set[int] = set()
        self._readings: dict[int, Reading | Exception] = {}
        """Texts by the number of their request; the error of one at which looking ahead failed."""
        self._readers: dict[int, Matcher] = {}
        self._rows = SentRows()
        self._busy: deque[int] = deque()
        """Grammars that questions were asked about, to be expanded ahead."""

    def run(self) -> None:
        """Serve until the other side closes the connection."""
        while True:
            self._rest()
            try:
                jobs: list[Job] = self._connection.recv()
            except EOFError:
                return
            for job in jobs:
                if isinstance(job, Forget):
                    self._forget(job)
                    continue
                answer = self._work_on(job)
                if not isinstance(job, LookAhead):
                    self._connection.send(answer)
                elif isinstance(answer, Exception):
                    self._readings[job.request] = answer
            self._expand_ahead()

    def _rest(self) -> None:
        """Make the full collection that is due, if there is nothing else to do, or it can't wait.

        None is made during a job (see `begin`): of 389,000 objects that 300 MaskBench schemas and
        their texts left, a collection would have freed 1,238.
        """
        new = gc.get_count()[0]
        if new < REST_OBJECTS or (new < MOST_OBJECTS and self._connection.poll(REST_SECONDS)):
            return
        gc.collect()

    def _expand_ahead(self) -> None:
        """Expand grammars that questions were asked about, until there is something to do."""
        if not self._busy or self._connection.poll(LINGER_SECONDS):
            return
        while self._busy and not self._connection.poll():
            kept = self._grammars.get(self._busy[0])
            expansion = None if kept is None else self._expansion(kept)
            if expansion is None:
                self._busy.popleft()
            else:
                self._connection.send(expansion)
                self._busy.rotate(-1)

    def _expansion(self, kept: _KnownGrammar) -> Expansion | None:
        """The next expansion of a grammar; None where there is none, or it takes too much, which is
        the matter of the text that gets there."""
        try:
            with slice_of(EXPANSION_SECONDS):
                expansion = kept.ahead.expand(self._connection.poll)
        except Exception:  # as below: it comes again if a text gets there
            return None
        return None if expansion is None else replace(expansion, grammar=kept.number)

    def _work_on(self, job: AnsweredJob | LookAhead) -> Answer | None:
        """The answer to a job, within what it may take; None if it has none."""
        if job.grammar in self._heavy:
            return Heavy()
        try:
            if not self._terms.shared:
                return self._serve(job)
            again = isinstance(job, Compile) and job.again
            with slice_of(AGAIN_SECONDS if again else SLICE_SECONDS):
                return self._serve(job)
        except (SliceExceeded, MemoryError):
            self._grammars.pop(job.grammar, None)
            if not self._terms.shared:
                return too_much_memory(self._terms.nbytes)
            self._heavy.add(job.grammar)
            return Heavy()
        except Exception as error:  # any error of a grammar is its own request's alone
            return portable(error)

    def _serve(self, job: AnsweredJob | LookAhead) -> Answer | None:
        match job:
            case Compile(number, sent):
                if number not in self._grammars:
                    build: Build = opened(sent)
                    grammar = build(self._vocabulary)
                    _ = grammar.min_tokens
                    self._grammars[number] = _KnownGrammar(number, grammar, self._rows)
                grammar = self._grammars[number].grammar
                return Compiled(grammar.report, grammar.min_tokens)
            case Inquire(_, sent):
                inquiry: Inquiry = opened(sent)
                return inquiry(self._vocabulary)
            case LeastTokens(number, enough):
                return self._grammars[number].grammar.least_tokens(enough)
            case TextQuestion():
                reading = self._reading(job)
                lesson = reading.lesson(job)
                self._readings[job.request] = reading
                if job.left:  # otherwise something is asked next
                    self._look_ahead(job.grammar, reading)
                return lesson
            case LookAhead():
                reading = self._reading(job)
                reading.go_to(job.known, job.tokens)
                self._readings[job.request] = reading
                self._look_ahead(job.grammar, reading)
                return None
            case ReadEvents():
                return self._events(job)

    def _reading(self, job: TextQuestion | LookAhead) -> Reading:
        """The reading of a job's text, to be kept again unless it fails."""
        kept = self._grammars[job.grammar]
        reading = self._readings.pop(job.request, None)
        if job.known == 0:
            return Reading(kept.grammar, kept.number_of, self._rows)
        if isinstance(reading, Reading):
            return reading
        raise reading or GenerationError("a text that has failed can't go on")

    def _look_ahead(self, grammar: int, reading: Reading) -> None:
        """Look ahead of a text when there is nothing else to do."""
        self._grammars[grammar].ahead.note(reading.matcher)
        if grammar not in self._busy:
            self._busy.append(grammar)

    def _events(self, job: ReadEvents) -> list[Event]:
        matcher = self._readers.get(job.text)
        if matcher is None or job.fresh:
            matcher = self._readers[job.text] = self._grammars[job.grammar].grammar.matcher()
        for tokens in job.earlier:
            for token in tokens:
                matcher.accept(token)
            matcher.events()
        for token in job.tokens:
            matcher.accept(token)
        return matcher.events(final=job.final)

    def _forget(self, job: Forget) -> None:
        for number in job.texts:
            self._readings.pop(number, None)
            self._readers.pop(number, None)
        for number in job.taught:
            if number in self._grammars:  # the same grammar, with nothing sent about it yet
                grammar = self._grammars[number].grammar
                self._grammars[number] = _KnownGrammar(number, grammar, self._rows)
        for number in job.grammars:
            self._grammars.pop(number, None)
            self._heavy.discard(number)


def portable(error: Exception) -> Exception:
    """An error that reaches the other process: this one, or one that says the same. The other
    process can do nothing with an answer that can't be read."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # whatever its class does when it is made again
        return GenerationError(f"{type(error).__name__}: {error}")
    return error


def too_much_memory(nbytes: int) -> LimitError:
    """The error of a grammar whose process has taken all the memory that it may."""
    return LimitError(
        f"the grammar takes more than {nbytes >> 20:,} MiB of memory to work out",
        limit="bytes",
        value=nbytes,
        construct=WHOLE_GRAMMAR,
    )


def begin(connection: Connection, vocabulary: Vocabulary, terms: Terms) -> None:
    """The life of a grammar process that has just been forked."""
    limit = _data_bytes() + terms.nbytes
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    if not terms.shared:
        # The engine's process ends a job that takes too long. This is for the case that it has
        # ended itself: what is idle then sees the connection close, what is busy does not.
        resource.setrlimit(resource.RLIMIT_CPU, (terms.seconds, terms.seconds))
    gc.disable()  # but see `Worker._rest`
    Worker(connection, vocabulary, terms).run()


def _data_bytes() -> int:
    """Bytes of this process's own memory, as Linux's limit on them counts."""
    for line in (
        Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
    ):
        if line.startswith("VmData:"):
            return int(line.split()[1]) << 10
    return 0
