"""Samples a token for each row: the whole chain of sampling in two or three launches, or in plain
torch.

The order of the chain is `ORDER`. On a GPU the logits are read once: the edits of the listed
tokens, then one pass that gathers the candidates of every tile of a row, then a program for each
row that finds the thresholds among these and draws. A batch without listed tokens takes two
launches. Rows that begin anywhere are copied first (`laid_out`).
"""

from __future__ import annotations

from typing import Final

import torch
from torch import Tensor

from maskwright.kernels.apply_mask import AS_INTEGERS, FORBIDDEN
from maskwright.kernels.device import laid_out, readable_tokens, runs_kernels
from maskwright.kernels.sample_edit import edit_kernel
from maskwright.kernels.sample_finish import finish_kernel
from maskwright.kernels.sample_gather import STATS, gather_kernel
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
from maskwright.kernels.sample_twin import sample_twin

EIGHTS: Final = 512
"""Groups of eight tokens in a tile: 4,096 tokens."""

SLOTS: Final = 128
"""Candidates of a tile, at most."""

STEPS: Final = 10
"""How often the cut below which tokens are no candidates is halved in search of one that fits."""

RUNGS: Final = 4
"""Rungs of a ladder: bounds of a threshold that one pass over the tokens looks at."""

LIST: Final = 256
"""Listed tokens that a program edits at once."""

EDIT_WARPS: Final = 4
GATHER_WARPS: Final = 4
FINISH_WARPS: Final = 8


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
    return _launch(laid_out(logits, logits.dtype), inputs, scored=scored)


def _launch(logits: Tensor, inputs: SampleInputs, *, scored: bool) -> Drawn:
    rows, vocab = logits.shape
    table = inputs.table.view(torch.uint8)
    listed = inputs.listed if inputs.listed is not None and inputs.listed.most else None
    edited = torch.empty(3, 0 if listed is None else len(listed.tokens), device=logits.device)
    if listed is not None:
        _edit(logits, table, inputs, listed, edited)
    values, raw, masked = (None,) * 3 if listed is None else edited.unbind()
    tiles = -(-vocab // (8 * EIGHTS))
    ends = tiles + (0 if listed is None else -(-listed.most // EIGHTS))
    every = 2 * ends - tiles

    def new(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
        return logits.new_empty(rows, *shape, dtype=dtype)

    peaks, rests, masses = (new(every) for _ in range(3))
    counts, slots = new(every, dtype=torch.int32), new(every, SLOTS, dtype=torch.int64)
    shared = (
        *(logits, logits.stride(0), table, table.stride(0), inputs.mask_rows),
        *(vocab, readable_tokens(logits), table.shape[1], tiles),
        *(inputs.temperature, inputs.top_k, inputs.top_p, inputs.least, inputs.only_listed),
        *(inputs.seeds, inputs.positions),
        *((None,) * 3 if listed is None else (listed.starts, listed.tokens, listed.flags)),
        *(values, ends, raw, masked),
        *(peaks, rests, masses, counts, slots),
        new(STATS, every) if scored else None,
    )
    options = {
        "SCORED": scored,
        "LISTED": listed is not None,
        "END": END,
        "STATS": STATS,
        "EIGHTS": EIGHTS,
        "SLOTS": SLOTS,
        "enable_fp_fusion": False,
    }
    gather_kernel[rows, every](*shared, STEPS=STEPS, num_warps=GATHER_WARPS, **options)
    tokens = new(dtype=torch.int64)
    scores = logits.new_zeros(rows, 4, dtype=torch.float32)
    supports = logits.new_zeros(rows, 2, dtype=torch.int32)
    finish_kernel[rows,](
        *(*shared, tokens, scores, supports),
        EMPTY=EMPTY,
        NOT_FINITE=NOT_FINITE,
        RUNGS=RUNGS,
        LIST=LIST,
        TILES=_power(every),
        num_warps=FINISH_WARPS,
        **options,
    )
    return Drawn(tokens, *scores.unbind(1), *supports.unbind(1)) if scored else Drawn(tokens)


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
        num_warps=EDIT_WARPS,
        enable_fp_fusion=False,
    )


def _power(number: int) -> int:
    """The least power of two from `number` on."""
    return 1 << (number - 1).bit_length()
