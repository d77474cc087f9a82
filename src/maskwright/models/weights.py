"""Reads the tensors of a checkpoint from safetensors. Pickles are refused, because opening one can
run any code."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from maskwright.errors import InputError

INDEX = "model.safetensors.index.json"
WHOLE_BYTES = 64 << 20
SAMPLES = 256
SAMPLE_BYTES = 1 << 16
PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")


def read_weights(directory: Path) -> dict[str, Tensor]:
    """Return all tensors by name."""
    weights: dict[str, Tensor] = {}
    for file in weight_files(directory):
        weights |= read_tensors(file)
    return weights


def read_tensors(file: Path) -> dict[str, Tensor]:
    """Return the tensors of one file by name."""
    try:
        return load_file(file)
    except (SafetensorError, OSError) as error:
        raise InputError(
            f"{file} is not a complete safetensors file: {error}", param="model"
        ) from error


def weight_files(directory: Path) -> list[Path]:
    """Return the path of model.safetensors, or of all shards in its index. Raises `InputError` if
    one is missing."""
    index = directory / INDEX
    names = _listed(index) if index.exists() else ["model.safetensors"]
    for name in names:
        file = directory / name
        if file.parent != directory or not name.endswith(".safetensors") or not file.exists():
            pickles = sorted(path.name for kind in PICKLES for path in directory.glob(kind))
            pickled = f" (what is there, {', '.join(pickles)}, is never opened)" if pickles else ""
            raise InputError(
                f"{directory} lacks {name}; only safetensors checkpoints are loaded{pickled}.",
                param="model",
            )
    return [directory / name for name in names]


def weights_revision(directory: Path) -> str:
    """Return a digest of the weights of a checkpoint. Files of up to `WHOLE_BYTES` bytes are read
    as a whole, of larger ones their size and `SAMPLES` pieces at equal distances, from the header
    to the end: it takes a moment, and training changes weights everywhere."""
    digest = hashlib.blake2b(digest_size=8)
    for file in weight_files(directory):
        size = file.stat().st_size
        digest.update(f"{file.name} {size} ".encode())
        with file.open("rb") as data:
            if size <= WHOLE_BYTES:
                digest.update(data.read())
                continue
            for number in range(SAMPLES):
                data.seek(number * (size - SAMPLE_BYTES) // (SAMPLES - 1))
                digest.update(data.read(SAMPLE_BYTES))
    return digest.hexdigest()


def _listed(index: Path) -> list[str]:
    try:
        names = json.loads(index.read_text("utf-8"))["weight_map"].values()
        return sorted({str(name) for name in names})
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{index} is not an index of shards: {error!r}", param="model") from error
