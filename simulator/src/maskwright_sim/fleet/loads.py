"""What an engine has to do, and what it has in its cache."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Protocol

from maskwright_sim.engine.simulated_engine import PlansSteps, SimulatedEngine
from maskwright_sim.load.demand import Demand


class HasScheduler(Protocol):
    """An engine, simulated or not; a routing reads nothing of it but the scheduler."""

    @property
    def scheduler(self) -> PlansSteps: ...


def load(engine: HasScheduler) -> tuple[int, int]:
    """Prompt tokens still to be computed, and live requests."""
    scheduler = engine.scheduler
    queued = sum(s.pending for s in scheduler.waiting)
    queued += sum(s.pending for s in scheduler.running if not s.decodes)
    return queued, len(scheduler.waiting) + len(scheduler.running)


def cached_tokens(engine: HasScheduler, demand: Demand, salt: Hashable = None) -> int:
    """Leading tokens of the prompt that the engine's prefix tree has under `salt`, in whole
    blocks."""
    tree = engine.scheduler.tree
    if tree is None:
        return 0
    node = tree.match(salt, demand.prompt, len(demand.prompt) - 1)
    return node.depth * engine.scheduler.pool.block_size


def work_by_phase(engine: SimulatedEngine) -> tuple[int, int]:
    """Tokens still to be computed for prompts that only fill their keys and values here, and
    requests that are answered here, or whose keys and values are on their way."""
    scheduler, queued, answers = engine.scheduler, 0, engine.inbound
    for sequence in (*scheduler.waiting, *scheduler.running):
        if sequence.limit == sequence.prompt_length + 1:
            queued += sequence.pending
        else:
            answers += 1
    return queued, answers
