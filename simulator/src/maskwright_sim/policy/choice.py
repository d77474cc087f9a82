"""Names of policies, and the scheduler that each name stands for."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

from maskwright.engine.kv.blocks import BlockPool
from maskwright.engine.schedule.scheduler import Scheduler
from maskwright.engine.schedule.step_time import StepTimeModel
from maskwright.errors import InputError
from maskwright.immutable import Immutable
from maskwright_sim.costs.work import CostModel
from maskwright_sim.engine.simulated_engine import SimulatedEngine
from maskwright_sim.policy.batching import (
    Orca,
    PrefillFirst,
    PromptsDisplace,
    Sarathi,
    SplitFuse,
    StaticBatches,
)
from maskwright_sim.policy.order import OrderName
from maskwright_sim.policy.policy_scheduler import BatchPolicy, PolicyScheduler, Preemption

PolicyName: TypeAlias = Literal[
    "ours",
    "static",
    "orca",
    "prefill-first",
    "mixed",
    "splitfuse",
    "sarathi",
    "sarathi-decaying",
]
POLICIES: Final[tuple[PolicyName, ...]] = get_args(PolicyName)


class EngineSettings(Immutable):
    """A simulated engine: its policy, `blocks` of `block_size` positions, `max_running` sequences,
    at most `max_batch_tokens` tokens in a step. `chunk`: tokens of a step for the policies that
    split prompts. `stall`: bound on a step with prompt tokens for our scheduler, as a multiple of
    one without; None for none. `order`, `preemption`: for the other policies. `host_blocks`: size
    of the host's pool. `reserves`: whether Orca reserves blocks for the longest answer.
    `continues_blocks`: whether a prefix hit may end within a block. `patience`: how often an answer
    may be preempted for a prompt under the policy `mixed`; 0 for without bound. `stages`: workers
    of a pipeline that share the layers, and `flights` batches that they work on at a time, of at
    most `max_batch` sequences each; 0 flights for one batch a stage, 0 sequences for `max_running`.
    Our scheduler has no pipeline. `by_layer`: whether a prompt is computed while what is fetched of
    it comes in layer by layer."""

    policy: PolicyName = "ours"
    blocks: int = 4096
    block_size: int = 16
    max_running: int = 64
    max_batch_tokens: int = 8192
    chunk: int = 512
    stall: float | None = None
    order: OrderName = "fcfs"
    preemption: Preemption = "recompute"
    prefix_cache: bool = True
    continues_blocks: bool = True
    patience: int = 2
    host_blocks: int = 0
    reserves: bool = True
    stages: int = 1
    flights: int = 0
    max_batch: int = 0
    by_layer: bool = True

    def engine(self, costs: CostModel) -> SimulatedEngine:
        """Make the engine. Raises InputError for an unknown policy, and for stages with ours."""
        pool = BlockPool(self.blocks, self.block_size)
        if self.policy == "ours":
            if self.stages != 1:
                raise InputError("our scheduler has no stages", param="stages")
            step_times = StepTimeModel(self.max_batch_tokens, self.stall)
            scheduler = Scheduler(
                pool,
                max_running=self.max_running,
                max_batch_tokens=self.max_batch_tokens,
                prefix_cache=self.prefix_cache,
                host_blocks=self.host_blocks,
                swap_pays=None,
            )
            return SimulatedEngine(scheduler, step_times, costs, by_layer=self.by_layer)
        other = PolicyScheduler(
            pool,
            self._batching(),
            max_running=self.max_running,
            max_batch_tokens=self.max_batch_tokens,
            max_batch=self.max_batch,
            order=self.order,
            preemption=self.preemption,
            prefix_cache=self.prefix_cache,
            continues_blocks=self.continues_blocks,
            host_blocks=self.host_blocks,
        )
        flights = self.flights or self.stages
        return SimulatedEngine(
            other,
            None,
            costs,
            stages=self.stages,
            flights=flights,
            by_layer=self.by_layer,
        )

    def _batching(self) -> BatchPolicy:
        match self.policy:
            case "static":
                return StaticBatches()
            case "orca":
                return Orca(self.reserves)
            case "prefill-first":
                return PrefillFirst()
            case "mixed":
                return PromptsDisplace(self.patience)
            case "splitfuse":
                return SplitFuse(self.chunk)
            case "sarathi":
                return Sarathi(self.chunk)
            case "sarathi-decaying":
                return Sarathi(self.chunk, decay=0.5)
            case _:
                raise InputError(
                    f"there is no policy {self.policy!r}; there are {', '.join(POLICIES)}",
                    param="policy",
                )
