"""One engine of maskbench.py in a process of its own, on one thread."""

from __future__ import annotations

import ctypes
import gc
import multiprocessing
import os
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter_ns
from typing import Any, Final, Literal, Self, get_args

from benchmarks.peers.engines import ENGINES, Engine, allows
from benchmarks.vocabularies import tekken

THREADS: Final = ("OMP_NUM_THREADS", "RAYON_NUM_THREADS", "MKL_NUM_THREADS")
START_UP_S: Final = 300.0
REST: Final = 16
"""Number of cases after which an engine's process collects garbage."""
Collector = Literal["server", "python"]
COLLECTORS: Final[tuple[Collector, ...]] = get_args(Collector)
TRIVIAL: Final = {"type": "object", "properties": {"a": {"type": "string"}}}


@dataclass(frozen=True, slots=True)
class Text:
    """The tokens of one instance, and whether it is valid under the schema."""

    valid: bool
    tokens: tuple[int, ...]

    def around(self, token: int) -> tuple[str, str]:
        """The text before a token, and the text from that token on."""
        decode = tekken().decode
        before, after = decode(self.tokens[:token]), decode(self.tokens[token:])
        return before.decode("utf-8", "replace"), after.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Case:
    """A schema and its texts."""

    id: str
    schema: Any
    texts: tuple[Text, ...]


@dataclass(frozen=True, slots=True)
class Wrong:
    """A wrong answer: the number of the text and of the token, or after its last token its end."""

    text: int
    token: int
    valid: bool


@dataclass(frozen=True, slots=True)
class Collections:
    """The garbage collections while a case was run: how many, the longest and all of them in µs,
    and what the whole case took."""

    number: int = 0
    longest_us: float = 0.0
    total_us: float = 0.0
    whole_us: float = 0.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an engine did on a case.

    `first_mask_us` holds one time, or none if the schema didn't compile. `step_us` holds the time
    of mask and accept for each token.
    """

    status: Literal["compiled", "refused", "timed out", "failed"]
    reason: str = ""
    first_mask_us: Sequence[float] = ()
    step_us: Sequence[float] = ()
    wrong: tuple[Wrong, ...] = field(default=())
    collections: Collections = field(default=Collections())

    @property
    def compile_us(self) -> float:
        """The time to the first mask; 0 if the schema didn't compile."""
        return sum(self.first_mask_us)

    @property
    def masks_us(self) -> float:
        """All masks and accepted tokens of the case's texts together."""
        return sum(self.step_us)

    @property
    def step_mean_us(self) -> float:
        """A mask and an accepted token on average, 0 where there were none."""
        return self.masks_us / max(1, len(self.step_us))

    @property
    def passes(self) -> bool:
        return self.status == "compiled" and not self.wrong

    def has_wrong(self, *, valid: bool) -> bool:
        return any(wrong.valid == valid for wrong in self.wrong)


class Worker:
    """The parent's view of an engine's process, which it stops if it takes too long and starts
    again."""

    def __init__(self, engine: str, limit_s: float, collector: Collector = "server") -> None:
        self.restarts = 0
        self._engine = engine
        self._collector: Collector = collector
        self._limit_s = limit_s
        self._at_start = self._now = 0.0
        self._start()

    @property
    def megabytes(self) -> float:
        """Memory in MiB that the process holds beyond what it held before its first case."""
        return self._now - self._at_start

    def run(self, case: Case, *, kept: bool = False) -> Outcome:
        """What the engine makes of a case; `kept`: see `run_case`."""
        if not self._process.is_alive():
            self.restarts += 1
            self._start()
        try:
            self._pipe.send((case, kept))
            if not self._pipe.poll(self._limit_s):
                self.close()
                return Outcome("timed out")
            outcome, self._now = self._pipe.recv()
        except (EOFError, ConnectionError):
            self.close()
            return Outcome("failed", f"died with exit code {self._process.exitcode}")
        return outcome

    def close(self) -> None:
        self._process.kill()
        self._process.join()
        self._pipe.close()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        arguments = (self._engine, theirs, self._collector)
        os.environ.update(dict.fromkeys(THREADS, "1"))
        self._process = context.Process(target=serve, args=arguments, daemon=True)
        self._process.start()
        theirs.close()
        if not self._pipe.poll(START_UP_S):
            self.close()
            raise TimeoutError(f"{self._engine} did not start in {START_UP_S:.0f} s")
        self._at_start = self._now = self._pipe.recv()


def serve(name: str, pipe: Connection, collector: Collector) -> None:
    """The main function of the process: make the engine, and run cases until the parent is gone."""
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 2)  # peers log refusals there
    engine = ENGINES[name](tekken())
    if collector == "server":
        gc.collect()
        gc.freeze()
        gc.disable()  # as a grammar process: none during a job
    run_case(engine, Case("trivial", TRIVIAL, ()))
    clean_up()  # of what reading the vocabulary has left
    pipe.send(resident_megabytes())
    for number in count(1):
        try:
            case, kept = pipe.recv()
        except EOFError:
            return
        with Collecting() as collecting:
            outcome = run_case(engine, case, kept=kept)
        outcome = replace(outcome, collections=collecting.found())
        if collector == "server" and number % REST == 0:
            clean_up()  # between two cases, where no time is measured
        pipe.send((outcome, resident_megabytes()))


class Collecting:
    """Times the garbage collections, and what is done, within a `with`."""

    def __enter__(self) -> Self:
        self._times_us: list[float] = []
        self._begin = self._collection = perf_counter_ns()
        gc.callbacks.append(self._note)
        return self

    def __exit__(self, *_: object) -> None:
        gc.callbacks.remove(self._note)
        self._whole_us = (perf_counter_ns() - self._begin) / 1000

    def found(self) -> Collections:
        times = self._times_us
        return Collections(len(times), max(times, default=0.0), sum(times), self._whole_us)

    def _note(self, phase: str, _: dict[str, int]) -> None:
        if phase == "start":
            self._collection = perf_counter_ns()
        else:
            self._times_us.append((perf_counter_ns() - self._collection) / 1000)


def clean_up() -> None:
    """Collect garbage, and return the freed memory to the system."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)


def run_case(engine: Engine, case: Case, *, kept: bool = False) -> Outcome:
    """Compile, then walk every text; with `kept`, what is timed are the first mask and the texts of
    a schema that was compiled, and whose texts were walked, before."""
    begin = perf_counter_ns()
    try:
        compiled = engine.compile(case.schema)
        if kept:
            for text in case.texts:
                run_text(engine, compiled, text, array("d"))
            begin = perf_counter_ns()
        walk = engine.start(compiled)
        walk.fill()
    except BaseException as error:  # a panic of a Rust engine is no Exception
        return Outcome("refused", reason(error))
    first_mask_us = array("d", [(perf_counter_ns() - begin) / 1000])
    step_us = array("d")
    wrong: list[Wrong] = []
    try:
        for number, text in enumerate(case.texts):
            taken, accepted = run_text(engine, compiled, text, step_us)
            if accepted != text.valid:
                wrong.append(Wrong(number, taken, text.valid))
    except BaseException as error:
        return Outcome("failed", reason(error), first_mask_us, step_us, tuple(wrong))
    return Outcome("compiled", "", first_mask_us, step_us, tuple(wrong))


def run_text(engine: Engine, compiled: Any, text: Text, step_us: array[float]) -> tuple[int, bool]:
    """The number of accepted tokens, and whether the whole text is accepted."""
    walk = engine.start(compiled)
    fill, accept, mask = walk.fill, walk.accept, engine.mask
    for taken, token in enumerate(text.tokens):
        begin = perf_counter_ns()
        fill()
        filled = perf_counter_ns()
        if not allows(mask, token):
            step_us.append((filled - begin) / 1000)
            return taken, False
        resumed = perf_counter_ns()
        accepted = accept(token)
        step_us.append((perf_counter_ns() - resumed + filled - begin) / 1000)
        if not accepted:
            raise RuntimeError(f"accept refuses token {token}, which the mask allows")
    return len(text.tokens), walk.accepting()


def reason(error: BaseException) -> str:
    """The type of an error and the first line of its message."""
    return f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error) else ''}"


def resident_megabytes() -> float:
    """Resident memory of this process in MiB, shared libraries included."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
