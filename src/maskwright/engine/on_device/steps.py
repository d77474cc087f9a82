"""Whether the device can compute the next steps by itself, and what they need.

That is so where all running requests decode one token each, follow a table of states, and ask for
nothing that the host has to see before the next one. Otherwise the next step is an ordinary one.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence as SequenceOf

import torch

from maskwright.engine.config import EngineConfig
from maskwright.engine.on_device.automata import Automata, TextState
from maskwright.engine.on_device.automaton import MOST_LAST, AheadRow
from maskwright.engine.request.active import Active
from maskwright.engine.schedule.plan import StepPlan
from maskwright.engine.schedule.scheduler import Scheduler
from maskwright.engine.schedule.sequence import Sequence
from maskwright.immutable import Immutable
from maskwright.kernels.device import kernels_run_on
from maskwright.sampling import SamplingParams


class StepsAhead(Immutable):
    """`steps` steps in a row of the chunks of `plan`, whose `rows` are in their order."""

    plan: StepPlan
    rows: list[AheadRow]
    steps: int


class DeviceSteps:
    """Plans the steps of launches, `most` at a time."""

    def __init__(self, most: int, *, background: bool) -> None:
        """`background`: tables of states are made in a thread of their own."""
        self.most = most
        self._automata = Automata(background=background)

    def plan(self, actives: SequenceOf[Active], scheduler: Scheduler) -> StepsAhead | None:
        """Plan the next steps of `actives`, which are all that run, have their masks and have no
        drafts. None, with nothing changed, where an ordinary step is needed."""
        standings: list[TextState] = []
        for active in actives:
            standing = self._automata.find(active) if follows_table(active) else None
            if standing is None:
                return None
            standings.append(standing)
        steps = self.at_most(active.left for active in actives)
        if steps < 1:
            return None
        plan = scheduler.plan_ahead({a.sequence: min(steps, a.left) for a in actives})
        if plan is None:
            return None
        rows = [
            AheadRow(
                automaton=standing.automaton,
                state=standing.state,
                sample=active.sample_row([]),
                left=active.left,
                last=sorted(active.eos | active.stop_tokens),
            )
            for active, standing in zip(actives, standings, strict=True)
        ]
        return StepsAhead(plan, rows, steps)

    def at_most(self, left: Iterable[int]) -> int:
        """How many steps to launch for rows that may draw so many tokens each."""
        return min(self.most, max(left, default=0))

    def stop(self) -> None:
        """End the thread."""
        self._automata.stop()


def open_device_steps(config: EngineConfig, device: torch.device) -> DeviceSteps | None:
    """Return what plans the steps that `device` computes by itself; None where the settings want
    none, which is the default on a CPU: there is nothing that the host could do meanwhile."""
    on_device = kernels_run_on(device)
    most = int(on_device) if config.device_steps is None else config.device_steps
    if not most or config.draft_model is not None:
        return None
    return DeviceSteps(most, background=on_device or config.overlap)


def advances_by_one(sequence: Sequence) -> bool:
    """Whether a running sequence decodes and computes one token in the next step."""
    return sequence.decodes and sequence.pending == 1


def follows_table(active: Active) -> bool:
    """Whether nothing of a request but its tokens decides what may come next."""
    request = active.request
    return (
        not request.begun  # which forced text the tokens belong to isn't known
        and len(active.eos | active.stop_tokens) <= MOST_LAST
        and is_steady(request.params)
    )


def is_steady(params: SamplingParams) -> bool:
    """Whether the parameters are one and the same for all draws of a text: nothing depends on the
    tokens so far, and no scores are wanted."""
    return not (params.logprobs is not None or params.penalised or params.restricts)
