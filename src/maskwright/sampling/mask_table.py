"""Masks that stay on a device, in a table whose rows a step names by number.

Steps use the same masks again and again: for requests without a grammar, and for positions that
many texts pass. A mask is copied to the device when a step first has it, all new
ones of a step in one copy, and stays there until the table needs its place. A row that is drawn
then costs four bytes instead of an eighth of a byte for each token of the vocabulary.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Sequence
from hashlib import blake2b
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from maskwright.kernels.device import upload

TABLE_BYTES: Final = 64 << 20
"""Bytes of a table, unless the masks of a single step need more: 4,096 masks of a vocabulary of
131,072 tokens."""

DIGEST_BYTES: Final = 16

Mask = NDArray[np.int32]
"""Int32 `[words]`: bit i of word w allows token `32 * w + i`."""


class MaskTable:
    """The table, on `device`, for masks of `words` words. `masks` is int32 `[places, words]`.

    Equal masks have one row, whoever filled them. A mask is known by the digest of its content; of
    one that can't be written to, which is what grammars hand out again and again, the digest is
    computed once. The mask that was used longest ago gives its place away first, and no mask of the
    step that is laid out ever does. To be used from one thread at a time.
    """

    def __init__(self, words: int, device: torch.device, most_bytes: int = TABLE_BYTES) -> None:
        places = max(1, most_bytes // (4 * words))
        self.masks = torch.zeros(places, words, dtype=torch.int32, device=device)
        self.copied = 0
        """Masks that have been copied to the device."""
        self._places: OrderedDict[bytes, int] = OrderedDict()
        self._digests: dict[int, tuple[weakref.ref[Mask], bytes]] = {}

    def rows(self, masks: Sequence[Mask]) -> Tensor:
        """Return the number of the row of each of `masks`, int32 on the host, after copying those
        to the device that it lacks."""
        digests = [self._digest(mask) for mask in masks]
        new: dict[bytes, Mask] = {}
        for digest, mask in zip(digests, masks, strict=True):
            if digest in self._places:
                self._places.move_to_end(digest)
            else:
                new[digest] = mask
        if new:
            self._grow(len(set(digests)))
            self._copy(new)
        return torch.tensor([self._places[digest] for digest in digests], dtype=torch.int32)

    def _digest(self, mask: Mask) -> bytes:
        if mask.flags.writeable:
            return _content(mask)
        known = self._digests.get(id(mask))
        if known is not None and known[0]() is mask:
            return known[1]
        if len(self._digests) > 4 * len(self.masks):
            self._digests.clear()
        digest = _content(mask)
        self._digests[id(mask)] = weakref.ref(mask), digest
        return digest

    def _grow(self, needed: int) -> None:
        """Have places for the masks of one step."""
        places, words = self.masks.shape
        if needed > places:
            larger = self.masks.new_zeros(needed, words)
            larger[:places] = self.masks
            self.masks = larger

    def _copy(self, new: dict[bytes, Mask]) -> None:
        """Copy masks to the device. The others of the step are the last in the order of use."""
        targets: list[int] = []
        for digest in new:
            if len(self._places) < len(self.masks):
                place = len(self._places)
            else:
                _, place = self._places.popitem(last=False)
            self._places[digest] = place
            targets.append(place)
        contents = torch.from_numpy(np.stack([*new.values()]))
        places, moved = upload([torch.tensor(targets), contents], self.masks.device)
        self.masks.index_copy_(0, places, moved)
        self.copied += len(new)


def _content(mask: Mask) -> bytes:
    return blake2b(mask.data, digest_size=DIGEST_BYTES).digest()
