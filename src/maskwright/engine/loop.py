"""The engine: a thread around the core, and the face that other threads use."""

from __future__ import annotations

import itertools
import secrets
import threading
from collections import deque
from dataclasses import asdict, dataclass
from types import TracebackType

import torch

from maskwright.engine.active import Active
from maskwright.engine.admission import Admission
from maskwright.engine.blocks import BlockPool
from maskwright.engine.config import SMALL_MODEL, EngineConfig
from maskwright.engine.core import Core
from maskwright.engine.generation import Generation
from maskwright.engine.request import Request
from maskwright.engine.runner import Runner
from maskwright.engine.scheduler import Scheduler
from maskwright.errors import EngineStoppedError, OverloadedError
from maskwright.models import LoadedModel


@dataclass(frozen=True, slots=True)
class EngineStats:
    """A snapshot. Blocks, requests and tokens are counts; `finished` is by finish reason;
    `seconds` is the time steps have taken, by part (see `StepSeconds`)."""

    healthy: bool
    running: int
    waiting: int
    blocks_total: int
    blocks_used: int
    blocks_free: int
    steps: int
    computed_tokens: int
    sampled_tokens: int
    preemptions: int
    finished: dict[str, int]
    seconds: dict[str, float]


class Engine:
    """Serves one model. `submit` may be called from any thread between `start` and `stop`.

    Usable as a context manager that starts and stops it.
    """

    def __init__(self, loaded: LoadedModel, config: EngineConfig | None = None) -> None:
        self.loaded = loaded
        self.config = config or EngineConfig()
        decoder = loaded.decoder
        blocks = self.config.blocks or max(
            1, self.config.kv_bytes // decoder.block_bytes(self.config.block_size)
        )
        self._pool = BlockPool(blocks, self.config.block_size)
        scheduler = Scheduler(
            self._pool,
            max_running=self.config.max_running,
            max_batch_tokens=self.config.max_batch_tokens,
        )
        self._runner = Runner(decoder, blocks, self.config.block_size)
        self._core = Core(scheduler, self._runner, loaded.vocab.words)
        self._admission = Admission(loaded, self._pool, self.config.max_context)
        self._numbers = itertools.count(1)
        self._thread = threading.Thread(target=self._run, name="maskwright-engine", daemon=True)
        self._wake = threading.Condition()
        # Shared with other threads, under `_wake`:
        self._submitted: deque[Active] = deque()
        self._cancelled: set[int] = set()
        self._stopping = False
        self._error: EngineStoppedError | None = None

    @property
    def max_context(self) -> int:
        """Positions that a prompt and its answer may fill together."""
        return self._admission.max_context

    @property
    def alive(self) -> bool:
        """Started, not stopped, and no defect has ended the loop."""
        return self._thread.is_alive() and self._error is None and not self._stopping

    def start(self) -> None:
        """Start the engine's thread. Once only."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread after the step at hand; requests still at work end with an error."""
        with self._wake:
            self._stopping = True
            self._wake.notify()
        if self._thread.ident is not None:
            self._thread.join()

    def __enter__(self) -> Engine:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def submit(self, request: Request) -> Generation:
        """Queue a request.

        Raises `InputError` for one that can't be served whatever the load, `BudgetError` if its
        grammar needs more tokens than it allows, `OverloadedError` if the queue is full, and
        `EngineStoppedError` if the engine doesn't run.
        """
        self._admission.check(request)
        params, number = request.params, next(self._numbers)
        seed = secrets.randbits(64) if params.seed is None else params.seed % 2**64
        generation = Generation(number, seed, len(request.prompt), self._cancel)
        active = self._admission.admit(request, generation)
        with self._wake:
            if not self.alive:
                raise self._error or EngineStoppedError("The engine is not running.")
            live = len(self._submitted) + self._core.live
            if live >= self.config.max_running + self.config.max_waiting:
                raise OverloadedError(
                    f"The queue is full: {live} requests are running or waiting.", retry_after=1.0
                )
            self._submitted.append(active)
            self._wake.notify()
        return generation

    def stats(self) -> EngineStats:
        """A snapshot of the counters, from any thread."""
        core = self._core
        with self._wake:
            waiting = len(self._submitted) + len(core.scheduler.waiting)
        return EngineStats(
            healthy=self.alive,
            running=len(core.scheduler.running),
            waiting=waiting,
            blocks_total=self._pool.total,
            blocks_used=self._pool.used,
            blocks_free=self._pool.free,
            steps=core.steps,
            computed_tokens=core.computed_tokens,
            sampled_tokens=core.sampled_tokens,
            preemptions=core.scheduler.preemptions,
            finished={reason.value: count for reason, count in core.finished.copy().items()},
            seconds=asdict(core.seconds),
        )

    def _cancel(self, number: int) -> None:
        with self._wake:
            self._cancelled.add(number)
            self._wake.notify()

    def _run(self) -> None:
        """The thread: drain the inbox, step, until stopped. A defect ends every request."""
        threads = self.config.threads
        if threads is None and self.loaded.decoder.weight_bytes < SMALL_MODEL:
            threads = 1
        if threads is not None:
            torch.set_num_threads(threads)
        end = EngineStoppedError("The engine was stopped.")
        try:
            self._runner.warm_up()
            while self._drain():
                self._core.step()
        except Exception as error:
            end = EngineStoppedError(f"The engine failed: {type(error).__name__}: {error}")
            end.__cause__ = error
        with self._wake:
            self._error = end
            left, self._submitted = self._submitted, deque()
        for active in left:
            self._core.add(active)
        self._core.fail_all(end)

    def _drain(self) -> bool:
        """Take cancellations and submissions in; wait while there is nothing to do. False: stop."""
        while True:
            with self._wake:
                self._wake.wait_for(
                    lambda: (
                        self._stopping
                        or self._submitted
                        or self._cancelled
                        or not self._core.scheduler.idle
                    )
                )
                submitted, self._submitted = self._submitted, deque()
                cancelled, self._cancelled = self._cancelled, set()
                if self._stopping:
                    self._submitted = submitted
                    return False
            for active in submitted:
                self._core.add(active)
            for number in cancelled:
                self._core.cancel(number)
            if not self._core.scheduler.idle:
                return True
