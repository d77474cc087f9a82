"""What may be chosen of how a model is computed. Imports no torch, so that the command line checks
its options before it loads anything."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, Literal, get_args

from maskwright.errors import InputError

DEMO_PATH = Path(__file__).parent / "models" / "demo"
"""The checkpoint that ships with the package."""

Backend = Literal["auto", "dense", "transformers"]
BACKENDS: tuple[Backend, ...] = get_args(Backend)

Dtype = Literal["auto", "float32", "bfloat16", "float16"]
DTYPES: tuple[Dtype, ...] = get_args(Dtype)

WeightDtype = Literal["auto", "fp8"]
"""The type of the weights of products: that of the other weights, or codes of eight bits (e4m3)
with a scale for each output."""
WEIGHT_DTYPES: tuple[WeightDtype, ...] = get_args(WeightDtype)

DEVICE_NAME: Final = re.compile(r"auto|cpu|cuda(?::(\d+))?")
"""The name of a device, with the number of a GPU as its group."""


def local_checkpoint(path_or_id: str | Path) -> Path | None:
    """Return the directory that a path names; None for what may be an id on the Hugging Face hub.
    Raises InputError for a path without a directory."""
    path = Path(path_or_id)
    if path.is_dir():
        return path
    text = str(path_or_id)
    if isinstance(path_or_id, Path) or text.count("/") > 1 or text.startswith((".", "/", "~")):
        raise InputError(f"There is no directory {text}.", param="model")
    return None


def check_device_name(name: str) -> None:
    """Check that `name` is one that a device may have, whether this machine has it or not. Raises
    InputError."""
    if DEVICE_NAME.fullmatch(name) is None:
        raise InputError(f"device {name!r}: one of auto, cpu, cuda or cuda:N.", param="device")
