"""Runs the forward and samples: the only part of the engine that touches model and key/value
memory."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable
from collections.abc import Sequence as SequenceOf
from dataclasses import replace
from functools import partial
from typing import Protocol

import numpy as np
import torch
from msgspec import structs
from numpy.typing import NDArray
from torch import Tensor

from maskwright.engine.adapters import Adapters
from maskwright.engine.on_device.automaton import AheadRow
from maskwright.engine.on_device.decode import DecodingRows, begin_steps
from maskwright.engine.on_device.recorded import RecordedSteps
from maskwright.engine.on_device.resident import ResidentTables
from maskwright.engine.schedule.plan import CopyDirection, StepPlan
from maskwright.engine.schedule.transfer import CopyEvent
from maskwright.engine.step.batch import build_runs
from maskwright.engine.step.plain_rows import PlainRows
from maskwright.errors import GenerationError
from maskwright.immutable import Immutable
from maskwright.kernels.device import compile_ahead, new_logits, runs_kernels
from maskwright.kernels.kv_bytes import KvDtype
from maskwright.kernels.kv_pool import (
    clear_blocks,
    copy_block,
    move_blocks,
    pack_blocks,
    unpack_blocks,
)
from maskwright.kernels.paged_attention import MOST_DECODES, SPLIT
from maskwright.kernels.sample import sample_rows
from maskwright.models import BatchInvariance, Decoder, lay_out, probe_batch_invariance
from maskwright.models.graphs import DecodeGraphs, find_recorder
from maskwright.models.runs import Run
from maskwright.sampling import (
    Mask,
    MaskTable,
    Outcome,
    SampleRow,
    SamplingParams,
    draw_on_device,
    draw_plain_on_device,
    sample_on_host,
)
from maskwright.sampling.device_rows import lay_out as lay_out_draws

log = logging.getLogger(__name__)


class CopyStream(Protocol):
    """Where blocks are copied between the model's pool and the host's beside the steps."""

    def begin(self, copy: Callable[[], object]) -> CopyEvent:
        """Make the copies that `copy` asks torch for, after what the steps so far have launched.
        They may still run when this returns, and copies of two calls may end in any order."""
        ...


class CudaStream:
    """The `CopyStream` of a GPU, which copies by itself from and to the host's memory, so that
    neither the host nor a step waits."""

    def __init__(self, device: torch.device) -> None:
        self._stream = torch.cuda.Stream(device)

    def begin(self, copy: Callable[[], object]) -> CopyEvent:
        begun, ended = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        self._stream.wait_stream(torch.cuda.current_stream(self._stream.device))
        with torch.cuda.stream(self._stream):
            begun.record()
            copy()
            ended.record()
        return CudaEvent(begun, ended)


class CudaEvent(Immutable):
    """The time between two events of a stream; see `CopyEvent`."""

    begun: torch.cuda.Event
    ended: torch.cuda.Event

    @property
    def seconds(self) -> float:
        return self.begun.elapsed_time(self.ended) / 1000

    def done(self) -> bool:
        return self.ended.query()

    def wait(self) -> None:
        self.ended.synchronize()


def open_copy_stream(device: torch.device) -> CopyStream | None:
    """Return the stream for copies between the pools of a model on `device`; None where they are
    made within steps, on a CPU."""
    return CudaStream(device) if device.type == "cuda" else None


class Runner:
    """Owns the key/value memory: the model's pool of `blocks` blocks and the host's pool of
    `host_blocks` for sequences that are swapped out, each with a trash block."""

    def __init__(
        self,
        decoder: Decoder,
        blocks: int,
        block_size: int,
        kv_dtype: KvDtype = "auto",
        host_blocks: int = 0,
        adapters: Adapters | None = None,
        copy_stream: CopyStream | None = None,
    ) -> None:
        """`copy_stream`: where blocks are copied between the pools, by default as the device
        does."""
        self.copy_stream = copy_stream or open_copy_stream(decoder.device)
        self._adapters = adapters
        self._decoder = decoder
        self.mask_table: MaskTable | None = None
        """The masks on the device; None where no kernels run."""
        self.graphs: DecodeGraphs | None = None
        """The decode steps that are recorded; None before `open_graphs`, and where a device can't
        record any."""
        self.resident_tables: ResidentTables | None = None
        """The tables of states on the device; None before they are first used."""
        self.recorded_steps: RecordedSteps | None = None
        """Steps that run in a row and are recorded; None as in `graphs`, or without such runs."""
        self._block_size = block_size
        # The last block is written by rows of padding in recorded steps.
        spare = int(decoder.recordable)
        self._pool = decoder.new_pool(blocks + 1 + spare, block_size, kv_dtype)
        host = torch.device("cpu")
        self._host = decoder.new_pool(host_blocks + 1, block_size, kv_dtype, host)

    def open_graphs(self, rows: int, positions: int, *, in_a_row: bool = False) -> None:
        """Record decode steps from now on, where the device can: of up to `rows` rows, of sequences
        of up to `positions` positions. `in_a_row`: also those that follow tables of states."""
        decoder = self._decoder
        recorder = find_recorder(decoder.device) if decoder.recordable else None
        if recorder is not None:
            spare = len(self._pool.data) - 1
            bounds = {"spare": spare, "most_rows": rows, "most_positions": positions}
            self.graphs = DecodeGraphs(decoder, self._pool, recorder, **bounds)
            if in_a_row:
                tables = self._tables(_words(decoder.vocab_size))
                shared = (tables, recorder, self.graphs.logits)
                self.recorded_steps = RecordedSteps(decoder, self._pool, *shared, **bounds)

    def warm_up(self, positions: int, tell: Callable[[str], object]) -> None:
        """Get ready what is made on first use. On a device the kernels of all steps of sequences of
        up to `positions` positions are compiled, and the largest step is recorded if steps are.
        Then sample from a row of zeros, laid out as in steps. `tell` gets the progress, as text."""
        decoder = self._decoder
        logits = new_logits(1, decoder.vocab_size, decoder.device)
        kinds = [SamplingParams()]
        if runs_kernels(logits):
            # Kernels are compiled anew for rows that list tokens, for scores, and for both.
            bias = {0: 1.0}
            kinds += [
                SamplingParams(logit_bias=bias),
                SamplingParams(logprobs=1),
                SamplingParams(logprobs=1, logit_bias=bias),
            ]
            tell("compiling kernels")
            try:
                compile_ahead(lambda: self._launch(logits, kinds, positions))
            except RuntimeError as error:  # too little memory
                log.warning("Kernels are compiled when they are first used (%s).", error)
        if self.graphs is not None:
            tell("recording the largest decode step")
            self.graphs.record_largest()
        mask = np.full(_words(decoder.vocab_size), -1, np.int32)
        for params in kinds:
            self.sample(logits.zero_(), [SampleRow(params, (0,), 1, 0)], [mask])

    @torch.inference_mode()
    def _launch(self, logits: Tensor, kinds: SequenceOf[SamplingParams], positions: int) -> None:
        """Launch what steps launch, and read nothing back: draws of all `kinds` from `logits`, and
        forwards over the last block, which no sequence has yet."""
        mask = np.full(_words(logits.shape[1]), -1, np.int32)
        table = self._mask_table([mask], logits.device)
        numbers = torch.zeros(1, dtype=torch.int32)
        for params in kinds:
            inputs = lay_out_draws([SampleRow(params, (0,), 1, 0)], table.masks, numbers)
            sample_rows(logits, inputs, scored=params.logprobs is not None)
        for steps in (self.graphs, self.recorded_steps):
            if steps is not None:
                steps.launch()
        # Pieces of prompts, of which those after a prefix launch other kernels; with decodes beside
        # them, which do so beyond a split.
        whole, size = min(positions, SPLIT + 1), self._block_size
        last = [len(self._pool.data) - 1] * -(-whole // size)
        tokens = [0] * min(whole, MOST_DECODES + 1)
        first, later = Run(tokens, 0, last, 1), Run(tokens, whole - len(tokens), last, 1)
        decodes = Run([0], 0, last, 1), Run([0], whole - 1, last, 1)
        for runs in ([first], [first, decodes[0]], [later, decodes[1]]):
            batch = lay_out(runs, size, self._decoder.plan)
            self._decoder.forward(batch, self._pool)

    def probe(self, most_rows: int) -> BatchInvariance:
        """Whether the products of the model, and of the adapters in memory, are batch-invariant for
        up to `most_rows` rows."""
        if self._decoder.device.type != "cpu":
            return BatchInvariance("products on a GPU, whose sums depend on the number of rows")
        operations = self._decoder.library_operations
        if self._adapters is not None:
            products = (*operations.products, *self._adapters.products)
            operations = replace(operations, products=products)
        return probe_batch_invariance(operations, most_rows)

    @torch.inference_mode()
    def arrange(self, plan: StepPlan) -> None:
        """Copy and clear blocks before the forward, and begin the copies beside it. Adjacent
        copies in one direction are made at once."""
        for direction, copies in itertools.groupby(plan.copies, lambda copy: copy.direction):
            pairs = [(copy.source, copy.target) for copy in copies]
            match direction:
                case CopyDirection.WITHIN:
                    for source, target in pairs:
                        copy_block(self._pool, source, target)
                case CopyDirection.OUT:
                    move_blocks(self._pool, self._host, pairs)
                case CopyDirection.IN:
                    move_blocks(self._host, self._pool, pairs)
        clear_blocks(self._pool, plan.fresh)
        for transfer in plan.transfers:
            assert self.copy_stream is not None, "copies beside steps"
            pools = (self._host, self._pool) if transfer.inward else (self._pool, self._host)
            transfer.event = self.copy_stream.begin(partial(move_blocks, *pools, transfer.pairs))

    @property
    def block_shape(self) -> tuple[int, int]:
        """The layers of a block, and the bytes of one of them."""
        blocks, layers = self._pool.data.shape[:2]
        return layers, self._pool.nbytes // (blocks * layers)

    @torch.inference_mode()
    def read_blocks(self, blocks: SequenceOf[int]) -> NDArray[np.uint8]:
        """The contents of `blocks`, at least one, as bytes: uint8 `[n, layers, bytes]`."""
        return pack_blocks(self._pool, blocks).numpy()

    @torch.inference_mode()
    def write_blocks(self, blocks: SequenceOf[int], contents: NDArray[np.uint8]) -> None:
        """Write to `blocks` what `read_blocks` of a runner with an equal layout has returned."""
        unpack_blocks(self._pool, blocks, torch.from_numpy(contents))

    @torch.inference_mode()
    def forward(self, plan: StepPlan) -> Tensor:
        """Compute logits float32 `[rows, vocab]`: the rows that each chunk needs, in order,
        followed by rows of padding up to a multiple of four (see `lay_out`)."""
        runs = build_runs(plan.chunks, self._adapters)
        if self.graphs is not None and (logits := self.graphs.forward(runs)) is not None:
            return logits
        batch = lay_out(runs, self._block_size, self._decoder.plan)
        return self._decoder.forward(batch, self._pool)

    @torch.inference_mode()
    def begin_steps(
        self, plan: StepPlan, rows: SequenceOf[AheadRow], steps: int
    ) -> DecodingRows | None:
        """Lay out the chunks of `plan`, one token each, whose `rows` are in their order, for steps
        in a row; see `maskwright.engine.on_device.decode.begin_steps`."""
        tables = self._tables(len(rows[0].automaton.rows[0]))
        runs = build_runs(plan.chunks, self._adapters)
        return begin_steps(
            *(self._decoder, self._pool, tables, runs, rows, self._block_size, steps),
            recorded=self.recorded_steps,
        )

    def _tables(self, words: int) -> ResidentTables:
        """Return the tables on the device, of masks of `words` words."""
        if self.resident_tables is None:
            self.resident_tables = ResidentTables(words, self._decoder.device)
        return self.resident_tables

    @torch.inference_mode()
    def sample(
        self, logits: Tensor, rows: SequenceOf[SampleRow], masks: SequenceOf[Mask]
    ) -> list[Outcome]:
        """Sample each of `rows` under its mask, int32 `[words]`: a token, with its score where the
        row asks for one, or the row's own error. `logits` float32 `[rows, vocab]` are
        overwritten."""
        if rows and runs_kernels(logits):
            return draw_on_device(logits, rows, masks, self._mask_table(masks, logits.device))
        words = torch.from_numpy(np.concatenate(masks).reshape(len(masks), -1))
        return sample_on_host(logits, rows, words)

    @torch.inference_mode()
    def draw_plain(self, logits: Tensor, rows: PlainRows) -> None:
        """Draw a token for each of the plain `rows` from `logits` float32 `[rows, vocab]`;
        other rows are not overwritten."""
        if runs_kernels(logits):
            draws = rows.device_draws
            table = self._mask_table(draws.masks, logits.device)
            rows.take_tokens(draw_plain_on_device(logits, draws, table))
        else:
            rows.draw(logits.contiguous().numpy())

    def _mask_table(self, masks: SequenceOf[Mask], device: torch.device) -> MaskTable:
        """The table for `masks`, at least one, on the device."""
        if self.mask_table is None:
            self.mask_table = MaskTable(len(masks[0]), device)
        return self.mask_table

    def draw_without_limit(
        self, logits: Tensor, rows: SequenceOf[SampleRow], free: SequenceOf[tuple[int, Mask]]
    ) -> dict[int, int | None]:
        """Draw the tokens that some of `rows` would have without a token limit, which makes their
        masks smaller: by the number of each row, its token under the mask in `free`, None where
        none can be drawn. `logits` float32 `[rows, vocab]` are left as they are."""
        numbers = [number for number, _ in free]
        some = [
            structs.replace(rows[number], params=replace(rows[number].params, logprobs=None))
            for number in numbers
        ]
        drawn = self.sample(logits[numbers], some, [mask for _, mask in free])
        return {
            number: None if isinstance(outcome, GenerationError) else outcome[0]
            for number, outcome in zip(numbers, drawn, strict=True)
        }


def _words(vocab_size: int) -> int:
    """Return the words of a mask."""
    return -(-vocab_size // 32)
