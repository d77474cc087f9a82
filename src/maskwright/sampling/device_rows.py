"""Rows of the chain as the tensors that the sampling kernels read.

Each row lists the few tokens that anything but the mask concerns; see `kernels/sample_inputs.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from maskwright.immutable import Immutable
from maskwright.kernels.device import UPLOAD_MULTIPLE, upload
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

_MULTIPLE = UPLOAD_MULTIPLE // 4
"""Columns begin at multiples of so many numbers of 32 bits, which kernels are compiled for."""


class RowColumns(Immutable):
    """The numbers of the rows' draws, on the host, each `[rows]`; what they mean stands in
    `SamplingParams`. `positions`: of the tokens to be drawn."""

    temperature: NDArray[np.float32]
    top_k: NDArray[np.int32]
    top_p: NDArray[np.float64]
    min_p: NDArray[np.float64]
    seeds: NDArray[np.uint64]
    positions: NDArray[np.int32]


def lay_out(rows: Sequence[SampleRow], table: Tensor, mask_rows: Tensor) -> SampleInputs:
    """Return the inputs of the sampling kernels for `rows`, on the device of `table`. `table` int32
    `[masks, words]` holds masks, and `mask_rows` int32 `[rows]` the number of each row's mask. What
    is new of them goes to the device in one copy."""
    every = [row.params for row in rows]
    columns = RowColumns(
        np.array([divisor(params) for params in every], np.float32),
        np.array([min(params.top_k, _MOST) for params in every], np.int32),
        np.array([params.top_p for params in every], np.float64),
        np.array([params.min_p for params in every], np.float64),
        np.array([row.seed for row in rows], np.uint64),
        np.array([len(row.tokens) for row in rows], np.int32),
    )
    changed = {
        number: row
        for number, row in enumerate(rows)
        if row.params.penalised or row.params.restricts
    }
    return lay_out_columns(columns, changed, table, mask_rows)


def lay_out_columns(
    columns: RowColumns, changed: Mapping[int, SampleRow], table: Tensor, mask_rows: Tensor
) -> SampleInputs:
    """Do what `lay_out` does for rows whose numbers are laid out already. `changed`: by its number
    each row in which single tokens have other logits or are forbidden."""
    count = len(columns.temperature)
    width = -(-count // _MULTIPLE) * _MULTIPLE
    # Numbers of 32 and of 64 bits, a column of parameters in each line: two pieces to be copied.
    narrow, wide = np.zeros((9, width), np.int32), np.zeros((2, width), np.float64)
    floats = narrow.view(np.float32)
    penalties, least, temperature = floats[:3, :count], floats[3, :count], floats[4, :count]
    top_k, only_listed, positions, numbers = narrow[5:, :count]
    penalties[0], least[:], temperature[:] = 1, -np.inf, columns.temperature
    top_k[:], positions[:] = columns.top_k, columns.positions
    wide[0, :count], wide[1, :count] = columns.top_p, columns.seeds.view(np.float64)
    if columns.min_p.any():
        least[:] = min_p_bound(torch.from_numpy(columns.min_p)).numpy()
    for number, row in changed.items():
        params = row.params
        penalties[0, number] = params.repetition_penalty
        penalties[1:, number] = params.presence_penalty, params.frequency_penalty
        only_listed[number] = params.allowed_tokens is not None
    on_host = mask_rows.device.type == "cpu"
    if on_host:
        numbers[:] = mask_rows.numpy()
    listed, most = _list_tokens(count, changed)
    packed = [torch.from_numpy(narrow), torch.from_numpy(wide)]
    moved_narrow, moved_wide, *of_tokens = upload([*packed, *listed], table.device)
    of_floats = moved_narrow.view(torch.float32)[:5, :count].unbind()
    of_ints = moved_narrow[5:, :count].unbind()
    return SampleInputs(
        table=table,
        mask_rows=of_ints[3] if on_host else mask_rows,
        temperature=of_floats[4],
        top_k=of_ints[0],
        top_p=moved_wide[0, :count],
        least=of_floats[3],
        repetition=of_floats[0],
        presence=of_floats[1],
        frequency=of_floats[2],
        only_listed=of_ints[1],
        seeds=moved_wide[1, :count].view(torch.int64),
        positions=of_ints[2],
        listed=ListedTokens(*of_tokens, most=most) if listed else None,
    )


def _list_tokens(count: int, changed: Mapping[int, SampleRow]) -> tuple[list[Tensor], int]:
    """Return the listed tokens of `count` rows as the tensors of `ListedTokens`, on the host, or
    none if there is no such token; and the most of one row."""
    parts = [(number, _listed(row)) for number, row in sorted(changed.items())]
    lengths = np.zeros(count, np.int32)
    for number, (tokens, _, _, _) in parts:
        lengths[number] = len(tokens)
    if not lengths.any():
        return [], 0
    starts = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
    listed = zip(*(columns for _, columns in parts), strict=True)
    columns = [starts, *(np.concatenate(column) for column in listed)]
    return [torch.from_numpy(column) for column in columns], int(lengths.max())


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
