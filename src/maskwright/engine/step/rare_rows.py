"""The rows of a step that `plain_rows` doesn't take, sampled by the chain; and the rows of logits
that are kept for a later step, because their masks are late."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import accumulate, pairwise
from typing import NamedTuple

import torch
from torch import Tensor

from maskwright.engine.request.active import Active
from maskwright.engine.schedule.chunk import Chunk
from maskwright.engine.schedule.sequence import Phase
from maskwright.engine.stats import Counts
from maskwright.engine.step.runner import Runner
from maskwright.immutable import Immutable
from maskwright.sampling import Mask, Outcome


class Held(Immutable):
    """Rows of logits that wait for their masks: in `logits`, from row `first` on, one for the next
    token and one after each token of `draft`."""

    logits: Tensor
    first: int
    draft: list[int]

    @property
    def rows(self) -> Tensor:
        return self.logits[self.first : self.first + 1 + len(self.draft)]


class Sampled(NamedTuple):
    """What was drawn for a request.

    - `place`: the number of its first row in the logits of the step; -1 for rows that were kept.
    - `outcomes`: of the next token, and of the token after each of `draft`.
    - `unlimited`: by their numbers, the tokens that rows would have without the token limit, where
      they may be other ones; None for one that can't be drawn.
    """

    place: int
    active: Active
    draft: list[int]
    outcomes: list[Outcome]
    unlimited: dict[int, int | None]


class RareRows:
    """Rows of the requests in `active`, by their numbers. `clock` returns the time."""

    def __init__(
        self,
        runner: Runner,
        active: Mapping[int, Active],
        counts: Counts,
        clock: Callable[[], float],
    ) -> None:
        self._runner = runner
        self._active = active
        self._counts = counts
        self._clock = clock
        self.held: dict[int, Held] = {}
        """The rows that are kept, by the number of their request."""

    def forget(self, number: int) -> None:
        """Drop the row of a request that ends, if one is kept."""
        self.held.pop(number, None)

    @property
    def waiting(self) -> bool:
        """Whether a row of a running request is kept."""
        return any(active.sequence.phase is Phase.RUNNING for active in self._kept())

    @property
    def can_sample(self) -> bool:
        """Whether the mask of a row has come that was kept because it lacked that."""
        return any(
            active.masks is not None and active.sequence.phase is Phase.RUNNING
            for active in self._kept()
        )

    def _kept(self) -> Iterator[Active]:
        return map(self._active.__getitem__, self.held)

    def sample(self, chunks: list[tuple[Chunk, int]], computed: Tensor | None) -> list[Sampled]:
        """Sample the rows whose masks are there, and keep the others. `chunks`: those of the step
        that sample, each with its first row in `computed`, the step's logits. If the rows are the
        first ones of these in order, they need not be copied."""
        ready = list(self._ready(chunks, computed))
        if not ready:
            return []
        rows = [
            active.sample_row(held.draft[:number])
            for active, held in ready
            for number in range(1 + len(held.draft))
        ]
        masks: list[Mask] = []
        free: list[tuple[int, Mask]] = []
        for active, held in ready:
            assert active.masks is not None, "a row without its mask"
            free += [
                (len(masks) + number, mask)
                for number, mask in active.masks.free
                if number <= len(held.draft)
            ]
            masks += active.masks.words[: 1 + len(held.draft)]
        starts = list(accumulate((1 + len(held.draft) for _, held in ready), initial=0))
        if computed is not None and all(
            held.logits is computed and held.first == at
            for (_, held), at in zip(ready, starts, strict=False)
        ):
            logits = computed[: len(rows)]
        else:
            logits = torch.cat([held.rows for _, held in ready])
        unlimited = self._runner.draw_without_limit(logits, rows, free) if free else {}
        outcomes = self._runner.sample(logits, rows, masks)
        return [
            Sampled(
                held.first if held.logits is computed else -1,
                active,
                held.draft,
                outcomes[at:end],
                {row - at: unlimited[row] for row in range(at, end) if row in unlimited},
            )
            for (active, held), (at, end) in zip(ready, pairwise(starts), strict=True)
        ]

    def _ready(
        self, chunks: list[tuple[Chunk, int]], logits: Tensor | None
    ) -> Iterator[tuple[Active, Held]]:
        """Yield the requests that can be sampled now with their rows of logits; keep the rows of
        the others.

        A kept row is dropped where its request has to be computed again, because it lost its blocks
        while it was paused.
        """
        rows = self.held
        for chunk, row in chunks:
            if logits is not None:
                draft = chunk.sequence.draft[: chunk.drafted]
                first = row + chunk.first_sampled
                rows[chunk.sequence.arrival] = Held(logits, first, draft)
        self.held = {}
        for number, held in rows.items():
            active = self._active.get(number)
            if active is None or active.sequence.pending:
                self._counts.idle_rows += 1  # ended, extended by its grammar, or preempted
                if active is not None:
                    active.generation.record.drop_row(self._clock())
            elif active.masks is None or active.sequence.phase is not Phase.RUNNING:
                self._counts.held_rows += 1
                if active.masks is None and held.logits is logits:
                    self._counts.late_rows += 1
                    active.generation.record.await_mask(self._clock())
                self.held[number] = Held(held.rows.clone(), 0, held.draft)
            else:
                yield active, held
