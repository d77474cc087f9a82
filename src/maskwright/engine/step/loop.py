"""The engine: a thread that runs the core, and the interface that other threads use."""

from __future__ import annotations

import itertools
import logging
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, Future
from dataclasses import asdict
from pathlib import Path
from typing import TypeVar

import torch

from maskwright.engine.adapters import Adapters
from maskwright.engine.admit.admission import Admission
from maskwright.engine.admit.compiling import Compiling, Waiting
from maskwright.engine.admit.gate import Claim, Gate
from maskwright.engine.capacity import plan_capacity
from maskwright.engine.config import EngineConfig
from maskwright.engine.draft.length import DraftLengthModel
from maskwright.engine.draft.model import DraftModel, check_vocabulary
from maskwright.engine.kv.blocks import BlockPool
from maskwright.engine.on_device.steps import open_device_steps
from maskwright.engine.request.active import Active
from maskwright.engine.request.generation import Generation
from maskwright.engine.request.request import COMPLETE, Delta, FinishReason, Request
from maskwright.engine.request.trace import Record, Trace
from maskwright.engine.request.wake_ups import WakeUps
from maskwright.engine.schedule.scheduler import Scheduler
from maskwright.engine.schedule.step_time import FIXED_ROWS, StepTimeModel
from maskwright.engine.schedule.view import EngineView, view_scheduler
from maskwright.engine.stats import EngineStats
from maskwright.engine.step.calls import Calls
from maskwright.engine.step.core import Core
from maskwright.engine.step.exchange import BlockExchange, KvLayout, KvPrefix
from maskwright.engine.step.post_step import PostStepWork
from maskwright.engine.step.runner import Runner
from maskwright.engine.step.tiering import BlockTiers, open_stores
from maskwright.errors import EngineStoppedError, GenerationError, MaskwrightError, OverloadedError
from maskwright.models import BatchInvariance, LoadedModel
from maskwright.models.compiled.layers import set_threads
from maskwright.models.decoder import MOST_SHARING
from maskwright.models.device import launching_on
from maskwright.sizing.processors import usable_processors

log = logging.getLogger(__name__)

T = TypeVar("T")


class Engine:
    """Serves one model. `submit` may be called from any thread between `start` and `stop`.

    As a context manager it starts on entry and stops on exit.
    """

    def __init__(
        self,
        loaded: LoadedModel,
        config: EngineConfig | None = None,
        adapters: Mapping[str, Path] | None = None,
    ) -> None:
        """`adapters`: folders of low-rank adapters by the names that requests use for them."""
        self.loaded = loaded
        self.config = config = config or EngineConfig()
        self.adapters = Adapters(adapters or {}, loaded.decoder, config.adapter_bytes)
        self.capacity = plan_capacity(loaded, config, adapters=bool(adapters))
        self._pool = BlockPool(self.capacity.blocks, config.block_size)
        self._admission = Admission(loaded, self._pool, config, self.adapters)
        step_times = StepTimeModel(config.max_batch_tokens, config.stall)
        bounds = {"slots": config.max_running, "positions": self._pool.total * config.block_size}
        self._gate = Gate(config.classes, step_times, **bounds)
        self._runner = Runner(
            *(loaded.decoder, self.capacity.blocks, config.block_size, config.kv_dtype),
            self.capacity.host_blocks,
            self.adapters,
        )
        scheduler = Scheduler(
            self._pool,
            max_running=config.max_running,
            max_batch_tokens=config.max_batch_tokens,
            classes=config.classes,
            prefix_cache=config.prefix_cache,
            window=loaded.decoder.window,
            host_blocks=self.capacity.host_blocks,
            swap_pays=step_times.swap_pays,
            beside_steps=self._runner.copy_stream is not None,
        )
        self._post_step_work = PostStepWork(overlap=config.overlap)
        self.exchange = BlockExchange(scheduler.tables, self._runner)
        """Blocks that leave for other engines and come from them; to be used within `call`."""
        self._device_steps = open_device_steps(config, loaded.decoder.device)
        self._core = Core(
            scheduler,
            self._runner,
            self._post_step_work,
            step_times=step_times,
            draft_model=self._new_draft_model(),
            tiers=self._new_tiers(scheduler, step_times),
            device_steps=self._device_steps,
            reader_seconds=config.reader_seconds,
        )
        self.tell: Callable[[str], object] = lambda _: None
        """Called by the engine's thread with what it does at its start, where that takes long."""
        self._calls = Calls()
        self.batch_invariance: BatchInvariance | None = None
        """Whether logits have equal bits under any schedule; None before the thread has probed."""
        self._numbers = itertools.count(1)
        self._thread = threading.Thread(target=self._run, name="maskwright-engine", daemon=True)
        self._wake = threading.Condition()
        self._compiling = Compiling(self._notify)
        # Shared with other threads; guarded by `_wake`:
        self._submitted: deque[Active] = deque()
        self._cancelled: set[int] = set()
        self._resumed: set[int] = set()
        self._submitted_requests = 0
        self._refused = {"queue": 0, "objective": 0}
        self._prompt_tokens = 0
        self._stopping = False
        self._error: EngineStoppedError | None = None

    def _new_draft_model(self) -> DraftModel | None:
        config, large, draft = self.config, self.loaded, self.config.draft_model
        if draft is None:
            return None
        check_vocabulary(large, draft)
        ratio = draft.decoder.weight_bytes / large.decoder.weight_bytes
        return DraftModel(
            draft.decoder,
            DraftLengthModel(config.drafts, fixed_rows=FIXED_ROWS, ratio=ratio),
            vocab_size=large.decoder.vocab_size,
            blocks=self.capacity.blocks,
            block_size=config.block_size,
            most_rows=config.max_batch_tokens,
            kv_dtype=config.kv_dtype,
        )

    def _new_tiers(self, scheduler: Scheduler, step_times: StepTimeModel) -> BlockTiers | None:
        decoder = self.loaded.decoder
        layout = f"{self.kv_layout()} {type(decoder).__qualname__} {decoder.device.type}"
        stores = open_stores(self.config, layout, self._post_step_work.wake)
        if stores is None:
            return None
        return BlockTiers(scheduler.tables, self.exchange, self._runner, stores, step_times)

    @property
    def max_context(self) -> int:
        """Upper bound on the positions that a prompt and its answer fill together."""
        return self._admission.max_context

    @property
    def alive(self) -> bool:
        """Whether the engine has been started, is not stopping, and has not failed."""
        return self._thread.is_alive() and self._error is None and not self._stopping

    @property
    def idle(self) -> bool:
        """Whether there is no live request."""
        return not (self._core.live or self._submitted or len(self._compiling))

    def start(self) -> None:
        """Start the engine's thread. To be called once."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread after the current step; live requests end with `EngineStoppedError`."""
        with self._wake:
            self._stopping = True
            self._wake_up()
        if self._thread.ident is not None:
            self._thread.join()
        elif self._core.tiers is not None:
            self._core.tiers.stop(save=False)

    def __enter__(self) -> Engine:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def submit(self, request: Request) -> Generation:
        """Queue a request.

        Raises `InputError` for a request that can't be served under any load, `BudgetError` if its
        grammar needs more tokens than `max_tokens`, `OverloadedError` if the queue is full or the
        request is predicted to miss an objective of its class, and `EngineStoppedError` if the
        engine isn't running. A grammar that is still being compiled is checked when it is ready; an
        error in it then ends the generation.
        """
        self._admission.check(request)
        params, number = request.params, next(self._numbers)
        grammar, now = request.grammar, time.monotonic()
        seed = secrets.randbits(64) if params.seed is None else params.seed % 2**64
        generation = Generation(
            number,
            seed,
            len(request.prompt),
            self._cancel,
            buffer=self.config.reader_tokens,
            resume=self._resume,
            deadline=None if request.timeout is None else now + request.timeout,
            record=Record(
                now,
                prompt=len(request.prompt),
                seed=seed,
                service=request.service,
                adapter=request.adapter,
                compiling=isinstance(grammar, Future),
            ),
        )
        name = request.adapter
        if name is not None:
            self.adapters.take(name)
        try:
            self._enqueue(request, generation)
        except MaskwrightError:
            if name is not None:
                self.adapters.give_back(name)
            raise
        if name is not None:
            generation.when_ended(lambda _: self.adapters.give_back(name))
        return generation

    def _enqueue(self, request: Request, generation: Generation) -> None:
        grammar, active = request.grammar, None
        claim = self._admission.claim(request)
        if not isinstance(grammar, Future):
            active = self._admission.admit(request, generation, grammar)
            claim.sequence = active.sequence
        with self._wake:
            self._refuse_overload(claim)
            generation.record.reserved = self._gate.enter(generation.id, claim)
            if active is not None:
                self._submitted.append(active)
            elif isinstance(grammar, Future):
                self._compiling.add(request, generation, grammar)
            self._submitted_requests += 1
            self._prompt_tokens += len(request.prompt)
            self._wake_up()
        generation.when_ended(self._left)

    def _left(self, trace: Trace) -> None:
        """Tell the admission gate that an admitted request has ended. It learns from the lengths of
        answers that came to their own end."""
        self._gate.leave(
            trace.id,
            steps=trace.steps,
            output=trace.completion_tokens,
            cached=trace.cached_tokens,
            whole=trace.finish_reason in COMPLETE,
        )

    def stats(self) -> EngineStats:
        """A snapshot of the counters, from any thread."""
        core, scheduler, pool = self._core, self._core.scheduler, self._pool
        tree = scheduler.tree
        with self._wake:
            waiting = len(self._submitted) + len(scheduler.waiting)
            submitted, prompt_tokens = self._submitted_requests, self._prompt_tokens
            refused = dict(self._refused)
        invariance = self.batch_invariance
        prefill, reserved = self._gate.backlog()
        return EngineStats(
            healthy=self.alive,
            batch_invariant=None if invariance is None else invariance.holds,
            running=len(scheduler.running),
            waiting=waiting,
            paused=len(scheduler.paused),
            compiling=len(self._compiling),
            block_size=pool.block_size,
            blocks_total=pool.total,
            blocks_used=pool.used,
            blocks_cached=pool.cached,
            blocks_free=pool.free,
            prefix_queries=0 if tree is None else tree.queries,
            prefix_hits=0 if tree is None else tree.hits,
            evictions=0 if tree is None else tree.evictions,
            preemptions=scheduler.preemptions,
            swaps=scheduler.swaps,
            finished={reason.value: count for reason, count in core.finished.copy().items()},
            seconds={**core.watch.seconds, "digest": self._post_step_work.busy},
            submitted=submitted,
            refused=refused,
            prompt_tokens=prompt_tokens,
            positions_idle=sum(
                max(0, len(sequence.table) * pool.block_size - sequence.computed)
                for sequence in scheduler.running.copy()
            ),
            prefill_queue_tokens=prefill,
            reserved_kv_tokens=reserved,
            observations=core.seen.read(),
            tiers={} if core.tiers is None else core.tiers.counts(),
            **asdict(core.counts),
        )

    def cached_seconds(self) -> float | None:
        """For how long a prefix stays cached at present: none that was used less than so many
        seconds ago has been evicted. None while nothing has been evicted, with stores outside the
        pool, which keep what is, and without a prefix cache."""
        horizon = self._core.horizon
        if horizon is None or horizon.time is None or self._core.tiers is not None:
            return None
        return max(0.0, time.monotonic() - horizon.time)

    def shared_store(self) -> tuple[str, float | None] | None:
        """The name of the store on disk, which engines have in common that can fetch what another
        one has stored, and for how many seconds blocks stay there, None while all do. None without
        such a store."""
        stores = None if self._core.tiers is None else self._core.tiers.stores
        if stores is None or stores.disk is None or stores.shared_name is None:
            return None
        return stores.shared_name, stores.disk.folder.kept_seconds

    def view(self) -> EngineView:
        """What the engine holds now, from any thread."""
        return view_scheduler(self._core.scheduler, self.config.classes)

    def call(self, work: Callable[[], T]) -> Future[T]:
        """Have the engine's thread call `work` between two steps. Raises `EngineStoppedError` if
        the engine isn't running; the future gets it if it stops before."""
        with self._wake:
            if not self.alive:
                raise self._error or EngineStoppedError("The engine is not running.")
            future = self._calls.put(work)
            self._wake_up()
        return future

    def snapshot(self, generation: Generation) -> Request | None:
        """A running request with its output so far, as another engine has to run it; None if it has
        ended, or is not computed yet. It keeps running here until it is cancelled."""
        return self.call(lambda: self._core.snapshot(generation.id)).result()

    def kv_layout(self) -> KvLayout:
        """What an engine must have in common with this one to exchange blocks with it."""
        kind = (self.loaded.name, str(self.loaded.decoder.dtype), self.config.kv_dtype)
        block = (self.config.block_size, *self._runner.block_shape)
        return KvLayout(self.loaded.revision, kind, *block)

    def kv_prefix(self, request: Request) -> KvPrefix:
        """The prefix of a request whose keys and values can come from another engine: all whole
        blocks before its last token, which is always computed; none if the prompt's own tokens
        have to be scored."""
        tokens = [*request.prompt, *request.begun]
        scored = request.prompt_logprobs is not None
        whole = 0 if scored else (len(tokens) - 1) // self.config.block_size
        return KvPrefix(self._admission.salt(request), tokens[: whole * self.config.block_size])

    def _refuse_overload(self, claim: Claim) -> None:
        if not self.alive:
            raise self._error or EngineStoppedError("The engine is not running.")
        live = len(self._submitted) + self._core.live + len(self._compiling)
        if live >= self.config.max_running + self.config.max_waiting:
            self._refused["queue"] += 1
            seconds = self._gate.seconds_to_end(claim)
            raise OverloadedError(
                f"The queue is full: {live} requests are running or waiting. Come back in "
                f"{seconds:.1f} seconds.",
                retry_after=seconds,
            )
        try:
            self._gate.check(claim)
        except OverloadedError:
            self._refused["objective"] += 1
            raise

    def _cancel(self, number: int) -> None:
        with self._wake:
            self._cancelled.add(number)
            self._wake_up()

    def _resume(self, number: int) -> None:
        with self._wake:
            self._resumed.add(number)
            self._wake_up()

    def _notify(self) -> None:
        with self._wake:
            self._wake_up()

    def _wake_up(self) -> None:
        """End the wait of the engine's thread, which may be for work or for a late mask. The caller
        holds `_wake`."""
        self._wake.notify()
        self._post_step_work.wake()

    # The thread ---------------------------------------------------------------------------------

    def _run(self) -> None:
        """Run steps until stopped. An unexpected exception ends every request with an error."""
        self._set_threads()
        end = EngineStoppedError("The engine was stopped.")
        try:
            with launching_on(self.loaded.decoder.device):
                if self.config.graphs:
                    bounds = self.config.decode_rows, self.max_context
                    self._runner.open_graphs(*bounds, in_a_row=self._device_steps is not None)
                self._runner.warm_up(self.max_context, lambda doing: self.tell(doing))
                self._probe()
                while self._drain():
                    self._core.step()
                    WakeUps.give_way()  # first texts and ends
        except Exception as error:
            end = EngineStoppedError(f"The engine failed: {type(error).__name__}: {error}")
            end.__cause__ = error
        with self._wake:
            self._error = end
            left, self._submitted = self._submitted, deque()
        self._calls.refuse_all(end)
        self._post_step_work.stop()
        if self._device_steps is not None:
            self._device_steps.stop()
        for generation in (*(active.generation for active in left), *self._compiling.take_all()):
            self._core.finish(generation, Delta("", (), FinishReason.ERROR, end))
        self._core.fail_all(end)
        if self._core.tiers is not None:
            self._core.tiers.stop(save=end.__cause__ is None)

    def _set_threads(self) -> None:
        """Set the threads of compiled operations and of torch, which chooses by the processors."""
        threads = self.config.threads
        usable = min(torch.get_num_threads(), usable_processors(), MOST_SHARING)
        set_threads(threads or usable)
        if threads is None and self.loaded.decoder.small:
            threads = 1
        if threads is not None:
            torch.set_num_threads(threads)

    def _probe(self) -> None:
        """Probe whether logits are batch-invariant, and log a warning where they are not."""
        invariance = self.batch_invariance = self._runner.probe(self.config.max_batch_tokens)
        if not invariance.holds:
            log.warning(
                "The last digits of logits depend on what is computed beside them (%s). Where two "
                "tokens are nearly equally likely, the same request and seed may give another "
                "text. See docs/models.md, Equal bits.",
                invariance.violation,
            )

    def _drain(self) -> bool:
        """Process what other threads submitted, or wait for it. False if the engine is to stop."""
        while True:
            with self._wake:
                if (seconds := self._patience()) != 0.0:
                    # Not in a loop: what woke the thread may have brought a nearer deadline.
                    self._wake.wait(seconds)
                if self._stopping:
                    return False
                submitted, self._submitted = self._submitted, deque()
                cancelled, self._cancelled = self._cancelled, set()
                resumed, self._resumed = self._resumed, set()
            for active in submitted:
                self._core.add(active)
            for waiting in self._compiling.take():
                self._compiled(waiting)
            for number in cancelled:
                self._withdraw(number, FinishReason.CANCELLED)
            for number in self._compiling.expired(time.monotonic()):
                self._withdraw(number, FinishReason.TIMEOUT)
            for number in resumed:
                self._core.resume(number)
            self._calls.run_one(busy=not self._core.idle)
            self._core.expire()
            if self._core.idle:
                self._core.move_blocks()
            else:
                return True

    def _patience(self) -> float | None:
        """Seconds until the next deadline, 0 while there is something to do; None for no deadline.
        The caller holds `_wake`."""
        signalled = self._stopping or self._submitted or self._cancelled or self._resumed
        if signalled or self._compiling.ready or self._calls or not self._core.idle:
            return 0.0
        if self._core.tiers is not None and self._core.tiers.waits:
            return 0.0
        times = (self._core.next_deadline(), self._compiling.next_deadline())
        first = min((moment for moment in times if moment is not None), default=None)
        return None if first is None else max(0.0, first - time.monotonic())

    def _compiled(self, waiting: Waiting) -> None:
        """Admit a request whose grammar has been compiled, or end it with the grammar's error."""
        request, generation = waiting.request, waiting.generation
        try:
            grammar = waiting.future.result()
            self._admission.check_grammar(request, grammar)
        except (Exception, CancelledError) as error:
            if not isinstance(error, MaskwrightError):
                error = GenerationError(f"The grammar was not compiled: {error!r}")
            self._core.finish(generation, Delta("", (), FinishReason.ERROR, error))
            return
        generation.record.compiled(time.monotonic(), self._core.seen)
        active = self._admission.admit(request, generation, grammar)
        self._gate.attach(generation.id, active.sequence)
        self._core.add(active)

    def _withdraw(self, number: int, reason: FinishReason) -> None:
        generation = self._compiling.remove(number)
        if generation is None:
            self._core.cancel(number)
        else:
            self._core.finish(generation, Delta("", (), reason))
