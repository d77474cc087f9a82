"""What the sampling kernels and their twin are given, and the order of the chain.

A row's few tokens that anything but the mask concerns are listed: those with a bias, those that
occurred, banned ones, end tokens that may not come yet. Everything else about a row is a number.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from torch import Tensor

ORDER = (
    "logit_bias",
    "repetition_penalty",
    "presence_penalty",
    "frequency_penalty",
    "no_repeat_ngrams",
    "bad_words",
    "allowed_tokens",
    "mask_rows",
    "min_tokens",
    "require_support",
    "temperature",
    "top_k",
    "top_p",
    "min_p",
)
"""The order of sampling, which is part of the meaning of the parameters. The
edits and the reference chain of the tests are built from it; what cuts tokens off keeps to it by
hand (`sampling/draw.pyx`, `sample_finish.py`, `sample_twin.py`)."""

OCCURRED = 1
"""Flag of a listed token: it is in prompt or output."""

BANNED = 2
"""Flag of a listed token: it would end an n-gram a second time, or a bad word."""

END = 4
"""Flag of a listed token: it ends the answer, and may only be chosen if nothing else is left."""

ALLOWED = 8
"""Flag of a listed token, in rows with `only_listed`: it may be chosen."""

EMPTY = -1
"""Result in place of a token: no token is left to choose."""

NOT_FINITE = -2
"""Result in place of a token: a logit that may be chosen is +inf or NaN."""


@dataclass(frozen=True, slots=True)
class ListedTokens:
    """The listed tokens of all rows, one row after the other; contiguous, all on one device.

    `starts`: int32 `[rows + 1]`, where each row begins. `tokens`: int32 `[listed]`, in each row
    ascending and without repetition. `bias`: float32 `[listed]`. `counts`: int32 `[listed]`, times
    in the output. `flags`: int32 `[listed]`. `most`: at least the number of tokens of any row.
    """

    starts: Tensor
    tokens: Tensor
    bias: Tensor
    counts: Tensor
    flags: Tensor
    most: int

    def __post_init__(self) -> None:
        _require_contiguous(self, "listed tokens")


@dataclass(frozen=True, slots=True)
class SampleInputs:
    """The parameters of all rows of a step; contiguous tensors `[rows]` on one device.

    - `table`: masks, int32 `[masks, words]`; `mask_rows`: int32, the number of each row's mask in
      the table, or -1 for none.
    - `temperature`: float32, 0 for greedy rows. `top_k`: int32, 0 for off. `top_p`: float64, 1 for
      off. `least`: float32, the lowest logit that min-p keeps (see `min_p_bound`), -inf for off.
    - `repetition`, `presence`, `frequency`: float32 penalties.
    - `only_listed`: int32, 1 where only listed tokens with the flag `ALLOWED` may be chosen.
    - `seeds`: int64 with the bits of 64-bit numbers; `positions`: int32.
    - `listed`: None if no row lists a token.
    """

    table: Tensor
    mask_rows: Tensor
    temperature: Tensor
    top_k: Tensor
    top_p: Tensor
    least: Tensor
    repetition: Tensor
    presence: Tensor
    frequency: Tensor
    only_listed: Tensor
    seeds: Tensor
    positions: Tensor
    listed: ListedTokens | None

    def __post_init__(self) -> None:
        _require_contiguous(self, "parameters of rows")


@dataclass(frozen=True, slots=True)
class Drawn:
    """What was chosen, tensors `[rows]`. `tokens`: int64, `EMPTY` or `NOT_FINITE` in place of a
    token. Without scores the other fields are None.

    `raw`, `masked`, `kept`, `processed`: float32, and `support`, `allowed`: int32, as in
    `TokenScore`; they mean nothing in rows without a token.
    """

    tokens: Tensor
    raw: Tensor | None = None
    masked: Tensor | None = None
    kept: Tensor | None = None
    processed: Tensor | None = None
    support: Tensor | None = None
    allowed: Tensor | None = None

    def columns(self) -> list[Tensor]:
        """Return the fields that are not None, in their order."""
        parts = (getattr(self, field.name) for field in fields(self))
        return [part for part in parts if part is not None]


def _require_contiguous(inputs: ListedTokens | SampleInputs, name: str) -> None:
    """Raise `ValueError` if a tensor of `inputs` is not contiguous; kernels count on it."""
    for field in fields(inputs):
        part = getattr(inputs, field.name)
        if isinstance(part, Tensor) and not part.is_contiguous():
            raise ValueError(f"{name}: {field.name} must be contiguous")


def min_p_bound(min_p: Tensor) -> Tensor:
    """Return the least float32 logit that min-p keeps if the highest is 0: the logarithm of
    `min_p`, float64 `[rows]`, rounded upwards; -inf for 0."""
    exact = min_p.log()
    nearest = exact.float()
    return nearest.nextafter(nearest.new_tensor(1.0)).where(nearest.double() < exact, nearest)
