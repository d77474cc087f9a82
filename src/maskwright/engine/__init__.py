"""The inference engine: continuous batching of many requests through one model, a step at a time.

A step plans which sequences compute how many tokens (`schedule/`), runs one forward and samples
(`step/`), and releases text that is safe to send (`request/`). docs/engine.md explains it.

- `admit/`: Admission: which requests enter the queue, which wait and which are refused early.
- `draft/`: Speculative decoding with a smaller model.
- `kv/`: Key/value blocks: allocation, reference counts and the prefix tree.
- `on_device/`: Decode steps that the device computes by itself, without the host between them.
- `request/`: One request: its parameters, its state, its text, its trace.
- `schedule/`: The scheduler: which sequences run in the next step, with which blocks.
- `step/`: One step of the engine, and the thread that runs step after step.
- `tiers/`: Stores for blocks that the pool has no room for: host memory and disk.
- `adapters`: Which low-rank adapters are in memory.
- `capacity`: How many key/value blocks fit into memory.
- `config`: The engine's settings and limits.
- `distribution`: A snapshot of a histogram.
- `histogram`: Counts of values between bounds.
- `stats`: What the engine counts and measures, and a snapshot of that.

Each name is imported when it is first asked for: settings can be checked without importing torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from maskwright.engine.config import EngineConfig
    from maskwright.engine.distribution import Distribution
    from maskwright.engine.request.generation import Generation
    from maskwright.engine.request.request import Completion, Delta, FinishReason, Request
    from maskwright.engine.request.trace import Trace
    from maskwright.engine.schedule.view import EngineView
    from maskwright.engine.stats import EngineStats
    from maskwright.engine.step.loop import Engine
    from maskwright.sampling import TokenScore

__all__ = [
    "Completion",
    "Delta",
    "Distribution",
    "Engine",
    "EngineConfig",
    "EngineStats",
    "EngineView",
    "FinishReason",
    "Generation",
    "Request",
    "TokenScore",
    "Trace",
]

_MODULES: Final = {
    "Completion": "engine.request.request",
    "Delta": "engine.request.request",
    "Distribution": "engine.distribution",
    "Engine": "engine.step.loop",
    "EngineConfig": "engine.config",
    "EngineStats": "engine.stats",
    "EngineView": "engine.schedule.view",
    "FinishReason": "engine.request.request",
    "Generation": "engine.request.generation",
    "Request": "engine.request.request",
    "TokenScore": "sampling",
    "Trace": "engine.request.trace",
}
"""Where each name stands."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"maskwright.{_MODULES[name]}"), name)
    return value
