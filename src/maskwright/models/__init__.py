"""Checkpoints and the decoders that run them."""

from maskwright.models.config import ARCHITECTURES, ModelConfig
from maskwright.models.dense import DenseDecoder, ForwardBatch
from maskwright.models.load import DEMO_PATH, LoadedModel, load

__all__ = [
    "ARCHITECTURES",
    "DEMO_PATH",
    "DenseDecoder",
    "ForwardBatch",
    "LoadedModel",
    "ModelConfig",
    "load",
]
