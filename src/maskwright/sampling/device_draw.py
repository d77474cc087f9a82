"""The draws of a step on a device, and the scores of those rows that ask for them.

Logits and masks stay on the device, and the host waits once, for all results together. Kernels find
the scores of the drawn tokens with the draw. The likeliest tokens beside them are chosen from the
logits, and only these are copied.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

import torch
from torch import Tensor

from maskwright.errors import GenerationError
from maskwright.immutable import Immutable
from maskwright.kernels.device import new_logits, upload
from maskwright.kernels.reference import allowed_tokens
from maskwright.kernels.sample import sample_rows
from maskwright.kernels.sample_inputs import Drawn, SampleInputs
from maskwright.sampling.chain import SampleRow, no_token
from maskwright.sampling.device_rows import RowColumns, lay_out, lay_out_columns
from maskwright.sampling.mask_table import Mask, MaskTable
from maskwright.sampling.scores import Alternative, TokenScore, find_likeliest, mask_digest

Outcome: TypeAlias = tuple[int, TokenScore | None] | GenerationError
"""A sampled token, with its score where its row asks for one, or the row's error."""

ROWS_AT_A_TIME: Final = 16
"""Rows whose likeliest tokens are found together, which bounds the memory for it."""

_SCORES: Final = 8
"""Numbers of each drawn token: see `_draw_with_scores`."""


class PlainDraws(Immutable):
    """Draws whose tokens alone are wanted. `rows`: the number of each one's row of logits,
    ascending; `columns` as long; `masks`: int32 `[words]` each; `changed` as in
    `lay_out_columns`."""

    rows: list[int]
    columns: RowColumns
    masks: list[Mask]
    changed: dict[int, SampleRow]


def draw_plain_on_device(logits: Tensor, draws: PlainDraws, table: MaskTable) -> list[int]:
    """Draw a token for each of `draws`, at least one, or the code of an error in its place.
    `logits` `[rows, vocab]`, on the device of `table`: rows that are drawn from may be
    overwritten."""
    count = len(draws.rows)
    part = logits[:count] if draws.rows[-1] == count - 1 else _rows(logits, draws.rows)
    numbers = table.rows(draws.masks)
    inputs = lay_out_columns(draws.columns, draws.changed, table.masks, numbers)
    found: list[int] = sample_rows(part, inputs).tokens.tolist()
    return found


def draw_on_device(
    logits: Tensor, rows: Sequence[SampleRow], masks: Sequence[Mask], table: MaskTable
) -> list[Outcome]:
    """Choose a token for each of `rows`, at least one, under its mask; with its score where the row
    asks for one.
    `logits` `[rows, vocab]`, on the device of `table`, may be overwritten. The scores equal
    `score`'s to about five digits; tokens are equal to the CPU's as far as `sample_rows` says."""
    numbers = table.rows(masks)
    scored = [i for i, row in enumerate(rows) if row.params.logprobs is not None]
    others = [i for i, row in enumerate(rows) if row.params.logprobs is None]
    results: list[Tensor] = []
    for chosen, draw in ((others, _draw), (scored, _draw_with_scores)):
        if chosen:
            part = logits if len(chosen) == len(logits) else _rows(logits, chosen)
            inputs = lay_out([rows[i] for i in chosen], table.masks, numbers[chosen])
            results.append(draw(part, inputs, [rows[i] for i in chosen]).flatten())
    found: list[float] = torch.cat(results).tolist()
    outcomes: dict[int, Outcome] = {
        i: no_token(int(token)) if token < 0 else (int(token), None)
        for i, token in zip(others, found, strict=False)
    }
    for i, line in zip(scored, _lines(found[len(others) :], len(scored)), strict=True):
        drawn = line[0] >= 0
        outcomes[i] = (
            _read(line, rows[i], masks[i], logits.shape[1]) if drawn else no_token(int(line[0]))
        )
    return [outcomes[i] for i in range(len(rows))]


def _rows(logits: Tensor, numbers: Sequence[int]) -> Tensor:
    """Return a copy of the rows with these numbers."""
    [index] = upload([torch.tensor(numbers)], logits.device)
    part = new_logits(len(numbers), logits.shape[1], logits.device, logits.dtype)
    return torch.index_select(logits, 0, index, out=part)


def _draw(logits: Tensor, inputs: SampleInputs, rows: Sequence[SampleRow]) -> Tensor:
    """Return the tokens drawn for `rows`, float64 `[rows]`, which holds every token exactly."""
    return sample_rows(logits, inputs).tokens.double()


def _draw_with_scores(logits: Tensor, inputs: SampleInputs, rows: Sequence[SampleRow]) -> Tensor:
    """Return what was drawn for `rows` and the likeliest tokens beside it, float64 `[rows, n]`: the
    columns of `Drawn` and the logit of the token, `_SCORES` together; then tokens, logits, and
    whether the mask allows them, each as many as the row with the most asks for."""
    count, vocab = logits.shape
    copy = new_logits(count, vocab, logits.device, logits.dtype).copy_(logits)
    drawn: Drawn = sample_rows(copy, inputs, scored=True)
    # Rows without a token have negative numbers in its place, and what is read for them is unused.
    own = logits.gather(1, drawn.tokens.clamp(min=0)[:, None])
    columns = torch.stack([column.double() for column in drawn.columns()], dim=1)
    most = min(max(row.params.logprobs or 0 for row in rows), logits.shape[1])
    parts = [columns, own.double()]
    if most:
        parts.append(torch.cat(list(_alternatives(logits, inputs, rows, most))))
    return torch.cat(parts, dim=1)


def _alternatives(
    logits: Tensor, inputs: SampleInputs, rows: Sequence[SampleRow], most: int
) -> Iterator[Tensor]:
    """Yield the last columns of `_draw_with_scores` for a few rows at a time."""
    of_model = torch.tensor([row.params.scale == "raw" for row in rows])
    [of_model] = upload([of_model[:, None]], logits.device)
    for start in range(0, len(rows), ROWS_AT_A_TIME):
        part = logits[start : start + ROWS_AT_A_TIME]
        words = inputs.table.index_select(0, inputs.mask_rows[start : start + ROWS_AT_A_TIME])
        allowed = allowed_tokens(words, logits.shape[1])
        first = allowed | of_model[start : start + ROWS_AT_A_TIME]
        tokens = find_likeliest(part, most, first)
        found = (tokens, part.gather(1, tokens), allowed.gather(1, tokens))
        yield torch.cat([column.double() for column in found], dim=1)


def _lines(found: list[float], count: int) -> Iterator[list[float]]:
    """Yield the `count` rows of a matrix that was flattened."""
    width = len(found) // max(1, count)
    return (found[width * line : width * (line + 1)] for line in range(count))


def _read(line: list[float], row: SampleRow, mask: Mask, vocab_size: int) -> tuple[int, TokenScore]:
    """Return the token and the score that a row of `_draw_with_scores` tells."""
    token, raw, masked, kept, processed, support, allowed, own = line[:_SCORES]
    most = (len(line) - _SCORES) // 3
    tokens, logits, legal = (line[_SCORES + most * part :][:most] for part in range(3))
    params = row.params
    count = min(params.logprobs or 0, vocab_size if params.scale == "raw" else int(allowed))
    # From the scores of the drawn token, so that it has the same ones among the likeliest.
    top = tuple(
        Alternative(int(other), raw + (logit - own), masked + (logit - own) if free else None)
        for other, logit, free in zip(tokens[:count], logits, legal, strict=False)
    )
    return int(token), TokenScore(
        token=int(token),
        raw=raw,
        masked=masked,
        kept=kept,
        processed=processed,
        support=int(support),
        allowed=int(allowed),
        top=top,
        forced=allowed == 1,
        mask=mask_digest(mask),
    )
