"""The recorded decode steps of a model, and which batches they can run."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor

from maskwright.kernels.device import new_logits
from maskwright.kernels.kv_pool import KvPool
from maskwright.models.decoder import Decoder
from maskwright.models.graphs.buffers import StepBuffers
from maskwright.models.graphs.recorder import Recorder
from maskwright.models.graphs.shapes import GraphShape, choose, graph_shapes
from maskwright.models.runs import Run, step_rows

log = logging.getLogger(__name__)


class DecodeGraphs:
    """The steps of a decoder over `pool` that are recorded by `recorder`: those of up to
    `most_rows` rows, of sequences of up to `most_positions` positions. `spare`: a block of the pool
    that no sequence ever has. `replayed` counts the steps that were not launched kernel by
    kernel."""

    def __init__(
        self,
        decoder: Decoder,
        pool: KvPool,
        recorder: Recorder,
        *,
        spare: int,
        most_rows: int,
        most_positions: int,
    ) -> None:
        self.replayed = 0
        self._decoder = decoder
        self._pool = pool
        self._recorder = recorder
        self._block_size = pool.data.shape[3]
        self.shapes: list[GraphShape] = []
        """The shapes of the steps that have been recorded, in ascending order."""
        self._planned = graph_shapes(most_rows, most_positions)
        self._replays: dict[GraphShape, Callable[[], object]] = {}
        device, rows = decoder.device, self._planned[-1].rows
        self._buffers = StepBuffers(self._planned, self._block_size, spare, device)
        self.logits = new_logits(rows, decoder.vocab_size, device)
        """Those of the last recorded step."""

    @torch.inference_mode()
    def record(self, tell: Callable[[str], object]) -> None:
        """Record the steps, the largest first, whose memory the others use too; `tell` is told how
        many are done. If one can't be recorded, this is logged and all steps are launched kernel by
        kernel."""
        nothing = step_rows([], self._block_size)
        for done, shape in enumerate(reversed(self._planned)):
            tell(f"recording decode steps: {done} of {len(self._planned)}")
            self._buffers.fill(shape, nothing)
            step = partial(
                *(self._decoder.forward, self._buffers.batch(shape), self._pool),
                out=self.logits[: shape.rows],
            )
            try:
                self._replays[shape] = self._recorder.record(step)
            except RuntimeError as error:
                log.warning("Decode steps can't be recorded (%s); they take longer.", error)
                self.shapes, self._replays = [], {}
                return
        self.shapes = self._planned
        log.info("Recorded %d shapes of decode steps.", len(self.shapes))

    @torch.inference_mode()
    def forward(self, runs: Sequence[Run]) -> Tensor | None:
        """Compute what `Decoder.forward` does for the batch of `runs` (see `lay_out`) by a recorded
        step; None if there is none for it: with adapters, pieces of prompts, or more rows or
        positions than any shape holds. The logits are overwritten by the next call."""
        if any(run.adapter is not None for run in runs):
            return None
        shape = choose(
            self.shapes,
            sum(len(run.tokens) for run in runs),
            max(len(run.tokens) for run in runs),
            max(run.start + len(run.tokens) for run in runs),
        )
        if shape is None:
            return None
        step = step_rows(runs, self._block_size)
        self._buffers.fill(shape, step)
        self._replays[shape]()
        self.replayed += 1
        return self.logits[: len(step.select)]
