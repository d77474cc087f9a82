"""Sampling in plain torch: what the sampling kernels compute, on any device, by sorting."""

from __future__ import annotations

import torch
from torch import Tensor

from maskwright.kernels.reference import (
    apply_mask_by_row,
    gumbel_noise,
    keep_at_least,
    top_k_threshold,
    top_p_threshold,
)
from maskwright.kernels.sample_inputs import (
    ALLOWED,
    BANNED,
    EMPTY,
    END,
    NOT_FINITE,
    OCCURRED,
    Drawn,
    ListedTokens,
    SampleInputs,
)

_NOTHING = float("-inf")


def sample_twin(logits: Tensor, inputs: SampleInputs, *, scored: bool) -> Drawn:
    """Choose a token for each row of `logits` `[rows, vocab]`, which stay as they are."""
    raw = logits.float()
    values = raw.clone()
    if inputs.listed is not None:
        _edit(values, inputs, inputs.listed)
    apply_mask_by_row(values, inputs.table, inputs.mask_rows)
    if inputs.listed is not None:
        _withhold_ends(values, inputs.listed)
    peak = values.amax(dim=-1)
    failed = ~peak.isfinite()
    greedy = inputs.temperature == 0
    scaled = _scaled(values, peak, inputs, failed)
    chosen = (
        scaled.double() + gumbel_noise(inputs.seeds, inputs.positions, logits.shape[1])
    ).argmax(-1)
    highest = values.masked_fill(failed[:, None], 0.0).argmax(dim=-1)
    tokens = torch.where(greedy, highest, chosen)
    drawn = torch.where(failed, torch.where(peak == _NOTHING, EMPTY, NOT_FINITE), tokens)
    return _scored(raw, scaled, tokens, drawn, inputs) if scored else Drawn(drawn)


def _edit(values: Tensor, inputs: SampleInputs, listed: ListedTokens) -> None:
    """Apply what comes before the mask in the chain to the listed tokens."""
    rows, tokens = _places(listed)
    value, occurred = values[rows, tokens] + listed.bias, (listed.flags & OCCURRED) > 0
    factor = inputs.repetition[rows].where(occurred, 1.0)
    value = torch.where(value > 0, value / factor, value * factor)
    value = value - inputs.presence[rows].where(listed.counts > 0, 0.0)
    value = value - listed.counts.float() * inputs.frequency[rows]
    refused = (inputs.only_listed[rows] == 1) & ((listed.flags & ALLOWED) == 0)
    values[inputs.only_listed == 1] = _NOTHING
    values[rows, tokens] = value.masked_fill(((listed.flags & BANNED) > 0) | refused, _NOTHING)


def _withhold_ends(values: Tensor, listed: ListedTokens) -> None:
    """Forbid end tokens in rows where anything else is left."""
    rows, tokens = _places(listed)
    end = (listed.flags & END) > 0
    others = values.index_put((rows[end], tokens[end]), values.new_tensor(_NOTHING))
    left = others.amax(dim=-1) > _NOTHING
    values[left] = others[left]


def _places(listed: ListedTokens) -> tuple[Tensor, Tensor]:
    counts = listed.starts.diff()
    rows = torch.arange(len(counts), device=counts.device).repeat_interleave(counts)
    return rows, listed.tokens.long()


def _scaled(values: Tensor, peak: Tensor, inputs: SampleInputs, failed: Tensor) -> Tensor:
    """Return the logits after temperature and truncation, with the highest at 0."""
    divisors = inputs.temperature.where(inputs.temperature > 0, 1.0)
    scaled = (values - peak[:, None]) / divisors[:, None]
    scaled[failed] = 0.0
    drawn = ~failed & (inputs.temperature > 0)
    rows = torch.nonzero(drawn & (inputs.top_k > 0)).flatten()
    if len(rows):
        _truncate(scaled, rows, top_k_threshold(scaled[rows], inputs.top_k[rows].long()))
    rows = torch.nonzero(drawn & (inputs.top_p < 1)).flatten()
    if len(rows):
        _truncate(scaled, rows, top_p_threshold(scaled[rows], inputs.top_p[rows]))
    rows = torch.nonzero(drawn).flatten()
    _truncate(scaled, rows, inputs.least[rows])
    return scaled


def _truncate(scaled: Tensor, rows: Tensor, thresholds: Tensor) -> None:
    chosen = scaled[rows]
    keep_at_least(chosen, thresholds)
    scaled[rows] = chosen


def _scored(
    raw: Tensor, scaled: Tensor, tokens: Tensor, drawn: Tensor, inputs: SampleInputs
) -> Drawn:
    shares = raw.double().log_softmax(dim=-1)
    allowed = torch.zeros_like(shares)
    apply_mask_by_row(allowed, inputs.table, inputs.mask_rows)
    log_kept = (shares + allowed).logsumexp(dim=-1)
    own = shares.gather(1, tokens[:, None])[:, 0]
    after = scaled.double().log_softmax(dim=-1).gather(1, tokens[:, None])[:, 0]
    greedy = inputs.temperature == 0
    return Drawn(
        drawn,
        raw=own.float(),
        masked=(own - log_kept).float(),
        kept=log_kept.clamp(max=0.0).exp().float(),
        processed=after.masked_fill(greedy, 0.0).float(),
        support=scaled.isfinite().sum(dim=-1).where(~greedy, 1).int(),
        allowed=(allowed == 0).sum(dim=-1).int(),
    )
