"""Checkpoints on the Hugging Face hub."""

from __future__ import annotations

from pathlib import Path

from huggingface_hub import snapshot_download

from maskwright.errors import InputError, first_line


def downloaded(name: str) -> Path:
    """The folder to which a checkpoint of the hub has been downloaded. Raises `InputError` for a
    name that there isn't."""
    # Only the top folder, because some repositories contain the weights twice.
    patterns = ["*.json", "*.safetensors", "*.jinja", "tokenizer.model"]
    try:
        return Path(snapshot_download(name, allow_patterns=patterns, ignore_patterns=["*/*"]))
    except (OSError, ValueError) as error:
        raise InputError(
            f"{name} is neither a directory nor a checkpoint on the hub: {first_line(error)}",
            param="model",
        ) from error
