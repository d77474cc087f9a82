"""The serving engine: many requests through one model, a step at a time."""

from maskwright.engine.config import EngineConfig
from maskwright.engine.generation import Generation
from maskwright.engine.loop import Engine
from maskwright.engine.observations import Distribution
from maskwright.engine.request import Completion, Delta, FinishReason, Request
from maskwright.engine.stats import EngineStats
from maskwright.engine.trace import Trace
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
