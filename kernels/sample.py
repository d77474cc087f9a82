"""Samples a token for each row: the whole chain of sampling in three launches, or in plain torch.

The order of the chain is `ORDER`. On a GPU the logits are read about once: the edits of the listed
tokens, then one pass that keeps the highest allowed logit of every 128 tokens, then a program for
each row that reads again only the groups of tokens that can matter.
"""

from __future__ import annotations

from typing import Final

import torch
from torch import Tensor

from maskwright.kernels.apply_mask import AS_INTEGERS, FORBIDDEN
from maskwright.kernels.device import readable_tokens, runs_kernels
from maskwright.kernels.sample_inputs import (
    ALLOWED,
    BANNED,
    EMPTY,
    END,
    NOT_FINITE,
    OCCURRED,
    ORDER,
    Drawn,
    ListedTokens,
    SampleInputs,
)
from maskwright.kernels.sample_scan import EIGHTS, GROUP, STATS, edit_kernel, scan_kernel
from maskwright.kernels.sample_select import select_kernel
from maskwright.kernels.sample_twin import sample_twin

LIST: Final = 256
"""Listed tokens that a program reads at once."""

SCAN_WARPS: Final = 4
SELECT_WARPS: Final = 16


def sample_rows(logits: Tensor, inputs: SampleInputs, *, scored: bool = False) -> Drawn:
    """Choose a token for each row of `logits`, float32, float16 or bfloat16 `[rows, vocab]`, which
    may be overwritten; with `scored` also its log-probabilities. Raises `ValueError` for other
    types and shapes. Of equal logits or scores the lowest token is chosen.

    Kernel and twin choose alike from equal logits, except where they compute in another order: a
    draw may differ if two scores agree to about fifteen digits, top-p if the probability of some
    of the likeliest tokens is within about one millionth of it. Log-probabilities agree to about
    five digits.
    """
    if logits.dtype not in FORBIDDEN or logits.ndim != 2 or logits.stride(1) != 1:
        raise ValueError(
            "logits must be float32, float16 or bfloat16 [rows, vocab], with a stride"
            " of 1 between tokens"
        )
    if any(len(part) != len(logits) for part in (inputs.mask_rows, inputs.temperature)):
        raise ValueError(f"{len(logits)} rows of logits have other numbers of parameters")
    if not runs_kernels(logits) or not logits.numel():
        return sample_twin(logits, inputs, scored=scored)
    return _launch(logits, inputs, scored=scored)


def _launch(logits: Tensor, inputs: SampleInputs, *, scored: bool) -> Drawn:
    rows, vocab = logits.shape
    tiles = -(-vocab // (8 * EIGHTS))
    groups = tiles * (8 * EIGHTS // GROUP)
    table = inputs.table.view(torch.uint8)
    listed = inputs.listed
    edited = torch.empty(3, 0 if listed is None else len(listed.tokens), device=logits.device)
    if listed is not None and listed.most:
        _edit(logits, table, inputs, listed, edited)
    peaks = logits.new_empty(rows, groups, dtype=torch.float32)
    stats = logits.new_empty(rows, STATS, tiles, dtype=torch.float32) if scored else None
    masks = (logits, logits.stride(0), table, table.stride(0), inputs.mask_rows)
    sizes = (vocab, readable_tokens(logits), table.shape[1])
    scan_kernel[rows, tiles](
        *masks,
        *sizes,
        peaks,
        groups,
        stats,
        tiles,
        SCORED=scored,
        EIGHTS=EIGHTS,
        STATS=STATS,
        num_warps=SCAN_WARPS,
        enable_fp_fusion=False,
    )
    tokens = logits.new_empty(rows, dtype=torch.int64)
    scores = logits.new_zeros(rows, 4, dtype=torch.float32)
    counts = logits.new_zeros(rows, 2, dtype=torch.int32)
    select_kernel[rows,](
        *masks,
        *sizes,
        peaks,
        groups,
        logits.new_empty(rows, groups, dtype=torch.int32),
        *(inputs.temperature, inputs.top_k, inputs.top_p, inputs.least, inputs.only_listed),
        *(inputs.seeds, inputs.positions),
        *((None,) * 3 if listed is None else (listed.starts, listed.tokens, listed.flags)),
        *edited.unbind(),
        stats,
        tiles,
        *(tokens, scores, counts),
        SCORED=scored,
        LISTED=listed is not None and listed.most > 0,
        END=END,
        EMPTY=EMPTY,
        NOT_FINITE=NOT_FINITE,
        STATS=STATS,
        EIGHTS=EIGHTS,
        LIST=LIST,
        GROUPS=_power(groups),
        TILES=_power(tiles),
        num_warps=SELECT_WARPS,
        enable_fp_fusion=False,
    )
    return Drawn(tokens, *scores.unbind(1), *counts.unbind(1)) if scored else Drawn(tokens)


def _edit(
    logits: Tensor, table: Tensor, inputs: SampleInputs, listed: ListedTokens, edited: Tensor
) -> None:
    values, raw, masked = edited.unbind()
    edit_kernel[len(logits), -(-listed.most // LIST)](
        *(logits, logits.stride(0), table, table.stride(0), inputs.mask_rows, table.shape[1]),
        *(listed.starts, listed.tokens, listed.bias, listed.counts, listed.flags),
        *(inputs.repetition, inputs.presence, inputs.frequency, inputs.only_listed),
        *(raw, masked, values),
        logits.view(AS_INTEGERS[logits.element_size()]),
        FORBIDDEN=FORBIDDEN[logits.dtype],
        ORDER=ORDER,
        OCCURRED=OCCURRED,
        BANNED=BANNED,
        ALLOWED=ALLOWED,
        LIST=LIST,
        num_warps=SCAN_WARPS,
        enable_fp_fusion=False,
    )


def _power(number: int) -> int:
    """The least power of two from `number` on."""
    return 1 << (number - 1).bit_length()
