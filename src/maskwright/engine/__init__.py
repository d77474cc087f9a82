"""The serving engine: many requests through one model, a step at a time.

- `admit/`: What is let in, what waits and what is refused before it costs anything.
- `draft/`: Tokens proposed by a small model and verified by the large one.
- `kv/`: Key/value blocks: allocation, reference counts and the prefix tree.
- `request/`: One request: its generations, its text as it is emitted, stop strings and trace.
- `schedule/`: Which sequences run in the next step, with how many tokens and which blocks.
- `step/`: One step of the engine, and the thread that runs step after step.
- `adapters`: The adapters of one engine.
- `capacity`: How many key/value blocks there are, and why.
- `config`: How much the engine may hold and do at once.
- `observations`: What the engine notes down while it works.
- `stats`: What an engine has done and holds, as a snapshot.
"""

from maskwright.engine.config import EngineConfig
from maskwright.engine.observations import Distribution
from maskwright.engine.request.generation import Generation
from maskwright.engine.request.request import Completion, Delta, FinishReason, Request
from maskwright.engine.request.trace import Trace
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
    "FinishReason",
    "Generation",
    "Request",
    "TokenScore",
    "Trace",
]
