"""Rows of the chain as the tensors that the sampling kernels read.

Each row lists the few tokens that anything but the mask concerns; see `kernels/sample_inputs.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from maskwright.kernels.device import upload
from maskwright.kernels.sample_inputs import (
    ALLOWED,
    BANNED,
    END,
    OCCURRED,
    ListedTokens,
    SampleInputs,
    min_p_bound,
)
from maskwright.sampling.bans import Bans
from maskwright.sampling.chain import SampleRow, divisor

_MOST = 2**31 - 1


def lay_out(rows: Sequence[SampleRow], table: Tensor, mask_rows: Tensor) -> SampleInputs:
    """Return the inputs of the sampling kernels for `rows`, on the device of `table`. `table` int32
    `[masks, words]` holds masks, and `mask_rows` int32 `[rows]` the number of each row's mask. What
    is new of them goes to the device in one copy."""
    every = [row.params for row in rows]

    def column(values: Sequence[float], dtype: torch.dtype = torch.float32) -> Tensor:
        return torch.tensor(values, dtype=dtype)

    columns = {
        "temperature": column([divisor(params) for params in every]),
        "top_k": column([min(params.top_k, _MOST) for params in every], torch.int32),
        "top_p": column([params.top_p for params in every], torch.float64),
        "least": min_p_bound(column([params.min_p for params in every], torch.float64)),
        "repetition": column([params.repetition_penalty for params in every]),
        "presence": column([params.presence_penalty for params in every]),
        "frequency": column([params.frequency_penalty for params in every]),
        "only_listed": column([params.allowed_tokens is not None for params in every], torch.int32),
        "seeds": torch.from_numpy(np.array([row.seed for row in rows], np.uint64).view(np.int64)),
        "positions": column([len(row.tokens) for row in rows], torch.int32),
    }
    if mask_rows.device != table.device:
        columns["mask_rows"] = mask_rows
    listed, most = _list_tokens(rows)
    moved = upload([*columns.values(), *listed], table.device)
    of_rows, of_tokens = moved[: len(columns)], moved[len(columns) :]
    return SampleInputs(
        table=table,
        **{"mask_rows": mask_rows, **dict(zip(columns, of_rows, strict=True))},
        listed=ListedTokens(*of_tokens, most=most) if listed else None,
    )


def _list_tokens(rows: Sequence[SampleRow]) -> tuple[list[Tensor], int]:
    """Return the listed tokens of all rows as the tensors of `ListedTokens`, on the host, or none
    if there is no such token; and the most of one row."""
    parts = [_listed(row) for row in rows]
    lengths = [len(tokens) for tokens, _, _, _ in parts]
    if not any(lengths):
        return [], 0
    starts = torch.tensor([0, *np.cumsum(lengths).tolist()], dtype=torch.int32)
    columns = (torch.from_numpy(np.concatenate(column)) for column in zip(*parts, strict=True))
    return [starts, *columns], max(lengths)


def _listed(
    row: SampleRow,
) -> tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.int32], NDArray[np.int32]]:
    """Return the listed tokens of a row, and their bias, counts and flags."""
    params = row.params
    biased = np.fromiter(params.logit_bias, np.int64)
    occurred = np.asarray(row.tokens if params.repetition_penalty != 1.0 else (), np.int64)
    counted = params.presence_penalty != 0 or params.frequency_penalty != 0
    output = np.asarray(row.output if counted else (), np.int64)
    bans = Bans(params, row.prompt_length, row.eos, row.stop_tokens)
    groups = {
        OCCURRED: occurred,
        BANNED: bans.forbidden(row.tokens),
        END: np.array(bans.withheld(row.tokens), np.int64),
        ALLOWED: np.asarray(params.allowed_tokens or (), np.int64),
    }
    tokens = np.unique(np.concatenate((biased, output, *groups.values())))
    bias = np.zeros(len(tokens), np.float32)
    bias[np.searchsorted(tokens, biased)] = list(params.logit_bias.values())
    counts = np.bincount(np.searchsorted(tokens, output), minlength=len(tokens))
    flags = np.zeros(len(tokens), np.int32)
    for flag, members in groups.items():
        flags[np.isin(tokens, members)] |= flag
    return tokens.astype(np.int32), bias, counts.astype(np.int32), flags
