"""The bytes that keys and values take, as numbers or as codes of eight bits. Imports no torch, so
that capacity can be computed on paper by the formula by which the pool is allocated."""

from __future__ import annotations

from typing import Literal, get_args

KvDtype = Literal["auto", "int8", "fp8"]
"""How keys and values are stored: in the data type of the model, or as codes."""

KV_DTYPES: tuple[KvDtype, ...] = get_args(KvDtype)

SCALE_BYTES = 4
"""Bytes of the float32 scale that codes have for each token and head, for keys and for values."""


def position_bytes(heads: int, head_dim: int, itemsize: int, kind: KvDtype = "auto") -> int:
    """Return the bytes of one position's keys and values in one layer, where a number of the model
    takes `itemsize` bytes."""
    if kind == "auto":
        return 2 * heads * head_dim * itemsize
    return 2 * heads * (head_dim + SCALE_BYTES)
