"""Numbers of a step that go to a device in one copy.

A copy from ordinary memory of the host makes it wait until the device has done all its work so far,
and so the host could prepare nothing while a forward runs. Numbers are therefore packed in pinned
memory, from which a GPU copies by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Final

import torch
from torch import Tensor

from maskwright.kernels.device import staging

MULTIPLE: Final = 16
"""Every column begins at a multiple of so many bytes, which kernels are compiled for."""


def upload(columns: Sequence[Tensor], device: torch.device) -> list[Tensor]:
    """Return the tensors `columns`, which are on the host, on `device`: contiguous, and in memory
    of their own. The host doesn't wait for the copy."""
    sizes = [-(-column.nbytes // MULTIPLE) * MULTIPLE for column in columns]
    begins = list(accumulate(sizes, initial=0))
    host = staging(begins[-1], dtype=torch.uint8, device=device)
    for begin, column in zip(begins, columns, strict=False):
        packed = host[begin : begin + column.nbytes].view(column.dtype)
        packed.view(column.shape).copy_(column)
    moved = host.to(device, non_blocking=True)
    return [
        moved[begin : begin + column.nbytes].view(column.dtype).view(column.shape)
        for begin, column in zip(begins, columns, strict=False)
    ]
