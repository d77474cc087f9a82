"""Hostile shapes against a running server, beside one stream of another client.

Of every shape it is asserted that it is answered in time (OTHER_WORK and twice the server's limit
of time, or PATIENCE while no limit exists), with an outcome that the table allows, never by a
status of 500 or more; that an answer has its shape; and that a refusal for a limit names the limit.
Of the watched stream it is asserted that every answer is whole and valid.

Where the server works on grammars in processes of their own, two more things are asserted. While a
shape is worked on, no gap of the watched stream is longer than GAP_MS and HOPS times what the
machine kept a process waiting meanwhile that needs little: on a machine that does other work the
stream alone has long gaps too. And after the last shape the memory of all processes together
returns to at most MORE_BYTES above that at the start.

Without such processes, shapes that nothing bounds yet (UNBOUNDED) are left out.

By default a sample of the table is run, and with such processes a sample of the shapes that were
measured first, which stopped every stream for seconds without them, on a server that refuses a
shape after SHORT_SECONDS of work, beside a stream of short answers. `--slow` runs the whole table
and random shapes with the server's own limit, beside a stream of long answers.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import jsonschema
import pytest

from tests.bounds import wait_until
from tests.hostile.process import ServerProcess, has_grammar_processes, serving
from tests.hostile.pulse import Pulse
from tests.hostile.random_shapes import random_shape
from tests.hostile.shape import HostileShape
from tests.hostile.table.whole import MEASURED_FIRST, SHAPES, sample
from tests.hostile.trial import Trial, attempt
from tests.hostile.watch import LONG, Watch

SAMPLE: Final = sample(6, seed=8)
"""By a seed whose shapes take a few seconds together; palindromes alone take 18."""
FIRST: Final = random.Random(5).sample(
    [shape for shape in MEASURED_FIRST if shape not in SAMPLE], 4
)
OTHERS: Final = [shape for shape in SHAPES if shape not in (*SAMPLE, *FIRST)]
RANDOM: Final = [random_shape(number) for number in range(60)]
SHAPE_SECONDS: Final = 10.0
"""The server's own limit of processor time, `--shape-seconds`."""
SHORT_SECONDS: Final = 2.0
SHORT: Final = (20, 30)
"""The number of strings in a short answer of the watched stream."""
OTHER_WORK: Final = 20.0
"""Seconds of an answer that are not the work of its grammar; more where the machine is busy."""
PATIENCE: Final = 100.0
GAP_MS: Final = 150.0 if len(os.sched_getaffinity(0)) > 1 else 600.0
"""Without processes the first shapes made gaps of up to 60 seconds. On two idle cores most gaps
are below 100 ms, as `benchmarks/hostile.py` shows; on one core, grammar processes and the server
take turns."""
HOPS: Final = 12
"""How often a token waits for a processor where the machine is busy: two processes and four threads
have a part in it, and more where its grammar moves to another process."""
MORE_BYTES: Final = 400e6
ABSENT: Final = "the server has no --grammar-processes: one shape's work still holds up others"
UNBOUNDED: Final = frozenset(
    {
        "counts: 30 members of any name",
        "counts: 150 to 160 items, each of its own kind",
        "counts: a multiple of 2,477",
        "counts: no multiple of 2, 3, 5, 7, 11 or 13",
        "formats: a regex of 40 characters",
        "formats: an idn-hostname that is no hostname",
        "grammars: JSON values one after another",
        "grammars: GBNF with counted groups",
        "grammars: a ladder of 20 rules",
        "grammars: palindromes",
        "nesting: 20 levels of two equal branches",
        "patterns: two counters about letters",
        "patterns: three counters in a counter",
        "patterns: a counter in a counter in a counter",
        "patterns: a counter of a counter of anything",
        "patterns: case folded and counted",
        "patterns: classes that overlap",
        "patterns: counters everywhere",
        "tags: a bounded thought, then JSON",
        "tools: two counters about letters",
        "unions: ten conditions about ten names",
        "unique: a map of strings",
        "unique: an open object with 40 more members",
        "unique: names by 8 patterns that overlap",
        "unique: unique people without a token limit",
    }
)
"""Shapes that take a server without a limit of time more than half a minute."""


@dataclass
class Beside:
    """A server, the stream that is watched, and how late the machine is meanwhile."""

    server: ServerProcess
    watch: Watch
    pulse: Pulse
    first_bytes: int
    shape_seconds: float
    trials: list[Trial] = field(default_factory=list[Trial])

    def attempt(self, shape: HostileShape) -> Trial:
        trial = attempt(self.server, self.watch, self.pulse, shape, PATIENCE, least=0.2)
        self.trials.append(trial)
        return trial

    @property
    def allowed_seconds(self) -> float:
        """For the work on the grammar, for its masks, and for all other work."""
        return 2 * self.shape_seconds + OTHER_WORK


@pytest.fixture(scope="module")
def beside(pytestconfig: pytest.Config) -> Iterator[Beside]:
    whole = pytestconfig.getoption("--slow") or not has_grammar_processes()
    seconds, counts = (SHAPE_SECONDS, LONG) if whole else (SHORT_SECONDS, SHORT)
    options = () if whole else ("--shape-seconds", str(seconds))
    with (
        serving(*options, own_session=False) as server,
        Watch(server.url, counts) as watch,
        Pulse() as pulse,
    ):
        watch.wait_for_answers(2)
        yield Beside(server, watch, pulse, server.resident_bytes(), seconds)


def check(beside: Beside, shape: HostileShape) -> None:
    if not has_grammar_processes() and f"{shape.subject}: {shape.name}" in UNBOUNDED:
        pytest.skip(ABSENT)
    trial = beside.attempt(shape)
    assert trial.fault is None, trial.reply
    assert trial.reply.status < 500
    assert beside.server.alive, beside.server.log_tail()
    if has_grammar_processes():
        assert trial.seconds < beside.allowed_seconds * trial.slowdown
        assert trial.unserved_ms < GAP_MS + HOPS * trial.machine_ms


def names(shapes: list[HostileShape]) -> list[str]:
    return [f"{shape.subject}: {shape.name}" for shape in shapes]


@pytest.mark.parametrize("shape", SAMPLE, ids=names(SAMPLE))
def test_a_shape_is_answered_and_harms_nobody(beside: Beside, shape: HostileShape) -> None:
    check(beside, shape)


@pytest.mark.skipif(not has_grammar_processes(), reason=ABSENT)
@pytest.mark.parametrize("shape", FIRST, ids=names(FIRST))
def test_a_shape_that_stopped_every_stream_harms_nobody(
    beside: Beside, shape: HostileShape
) -> None:
    check(beside, shape)


@pytest.mark.slow
@pytest.mark.parametrize("shape", OTHERS, ids=names(OTHERS))
def test_every_other_shape_is_answered_and_harms_nobody(
    beside: Beside, shape: HostileShape
) -> None:
    check(beside, shape)


@pytest.mark.slow
@pytest.mark.parametrize("shape", RANDOM, ids=names(RANDOM))
def test_a_random_shape_is_answered_and_harms_nobody(beside: Beside, shape: HostileShape) -> None:
    check(beside, shape)


def test_afterwards_the_watched_stream_is_whole_and_valid(beside: Beside) -> None:
    before = len(beside.watch.texts)
    beside.watch.wait_for_answers(before + 1)
    assert beside.watch.faults == []
    assert len(beside.watch.texts) > before
    for text in beside.watch.texts:
        jsonschema.validate(
            json.loads(text), beside.watch.schema, cls=jsonschema.Draft202012Validator
        )


def test_afterwards_the_memory_comes_back(beside: Beside) -> None:
    if not has_grammar_processes():
        pytest.skip(ABSENT)
    allowed = beside.first_bytes + MORE_BYTES
    wait_until(lambda: beside.server.resident_bytes() < allowed, seconds=30)
