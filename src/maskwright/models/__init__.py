"""Checkpoints and the decoders that run them."""

from maskwright.models.adapter import Adapter
from maskwright.models.batch import ForwardBatch, Run, lay_out
from maskwright.models.config import ARCHITECTURES
from maskwright.models.decoder import Decoder
from maskwright.models.load import BACKENDS, DEMO_PATH, Backend, LoadedModel, load
from maskwright.models.peft import AdapterFile

__all__ = [
    "ARCHITECTURES",
    "BACKENDS",
    "DEMO_PATH",
    "Adapter",
    "AdapterFile",
    "Backend",
    "Decoder",
    "ForwardBatch",
    "LoadedModel",
    "Run",
    "lay_out",
    "load",
]
