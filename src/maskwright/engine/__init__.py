"""The serving engine: many requests through one model, a step at a time."""

from maskwright.engine.config import EngineConfig
from maskwright.engine.generation import Generation
from maskwright.engine.loop import Engine, EngineStats
from maskwright.engine.request import Completion, Delta, FinishReason, Request

__all__ = [
    "Completion",
    "Delta",
    "Engine",
    "EngineConfig",
    "EngineStats",
    "FinishReason",
    "Generation",
    "Request",
]
