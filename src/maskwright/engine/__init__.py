"""The inference engine: continuous batching of many requests through one model, a step at a time.

A step plans which sequences compute how many tokens (`schedule/`), runs one forward and samples
(`step/`), and releases text that is safe to send (`request/`). docs/engine.md explains it.

- `admit/`: Admission: which requests enter the queue, which wait and which are refused early.
- `draft/`: Speculative decoding with a smaller model.
- `kv/`: Key/value blocks: allocation, reference counts and the prefix tree.
- `request/`: One request: its parameters, its state, its text, its trace.
- `schedule/`: The scheduler: which sequences run in the next step, with which blocks.
- `step/`: One step of the engine, and the thread that runs step after step.
- `adapters`: Which low-rank adapters are in memory.
- `capacity`: How many key/value blocks fit into memory.
- `config`: The engine's settings and limits.
- `observations`: Counters and histograms of the engine's work.
- `stats`: A snapshot of what the engine has done and holds.
"""

from maskwright.engine.config import EngineConfig
from maskwright.engine.observations import Distribution
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
