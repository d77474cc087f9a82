"""Spells bytes with the fewest tokens, if no tokenizer can divide them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from maskwright.errors import UnspellableError


@dataclass(frozen=True, slots=True)
class Spellings:
    """The tokens of a vocabulary by their bytes.

    `ids`: the lowest id of the tokens with some bytes. `lengths[b]`: the lengths of the tokens that
    begin with byte `b`, the longest first.
    """

    ids: dict[bytes, int]
    lengths: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, tokens: Sequence[bytes]) -> Self:
        last = len(tokens) - 1
        ids = dict(zip(reversed(tokens), range(last, -1, -1), strict=True))  # the lowest id stays
        ids.pop(b"", None)
        lengths: list[set[int]] = [set() for _ in range(256)]
        for first, length in {(token[0], len(token)) for token in ids}:
            lengths[first].add(length)
        return cls(ids, tuple(tuple(sorted(some, reverse=True)) for some in lengths))

    def fewest(self, data: bytes) -> list[int]:
        """Return the shortest list of ids that spells `data`; of several, the one with the longest
        first token.

        Dynamic programming from the end, in O(len(data) * number of token lengths). Raises
        `UnspellableError` if no tokens spell `data`.
        """
        cost, step = self._counted(data)
        end = len(data)
        if cost[0] > end:
            raise UnspellableError(
                f"no tokens of the vocabulary spell {data!r}: {self._lacking(data)}", param="data"
            )
        spelled: list[int] = []
        i = 0
        while i < end:
            spelled.append(self.ids[data[i : i + step[i]]])
            i += step[i]
        return spelled

    def _lacking(self, data: bytes) -> str:
        """Return the reason why no tokens spell `data`: the first character that no token fits."""
        reached, farthest = {0}, 0
        for at in range(len(data)):
            if at in reached:
                farthest = at
                lengths = self.lengths[data[at]]
                reached |= {at + n for n in lengths if data[at : at + n] in self.ids}
        rest = data[farthest:].decode(errors="replace")
        missing = rest[0] if rest[0] != "\ufffd" else data[farthest : farthest + 1]
        return f"nothing fits at {missing!r}"

    def _counted(self, data: bytes) -> tuple[list[int], list[int]]:
        """Return, for each place in `data`, the number of tokens needed from there on, and the
        length of the first one. If no tokens spell the rest, the number is above `len(data)`."""
        end = len(data)
        unreachable = end + 1
        cost = [unreachable] * end + [0]  # tokens needed for data[i:]
        step = [0] * end  # length of the first of them
        for i in reversed(range(end)):
            for length in self.lengths[data[i]]:
                stop = i + length
                if stop <= end and cost[stop] + 1 < cost[i] and data[i:stop] in self.ids:
                    cost[i], step[i] = cost[stop] + 1, length
        return cost, step
