"""Spells bytes with the fewest tokens, if no tokenizer can divide them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Self

from maskwright.errors import UnspellableError
from maskwright.immutable import Acyclic

_UNREACHABLE: Final = 1 << 60
"""More tokens than any text has."""
_MOST_KEPT: Final = 1 << 17
"""Bytes of a text up to which what was counted for it is kept for the next one."""
_LONG: Final = 1 << 10
"""Bytes from which on the tokens that fit at a place are remembered by the bytes there."""
_MOST_WINDOWS: Final = 1 << 12
"""Places with different bytes that are remembered at once."""


class _Counted(Acyclic):
    """The fewest tokens of every suffix of a text: `cost[n]` tokens spell its last `n` bytes, or
    none do if that is `_UNREACHABLE`; the first of them has `step[n]` bytes."""

    data: bytes
    cost: list[int]
    step: list[int]


@dataclass(frozen=True, slots=True)
class Spellings:
    """The tokens of a vocabulary by their bytes.

    `ids`: the lowest id of the tokens with some bytes. `lengths[b]`: the lengths of the tokens that
    begin with byte `b`, the longest first.
    """

    ids: dict[bytes, int]
    lengths: tuple[tuple[int, ...], ...]
    _latest: list[_Counted] = field(
        default_factory=lambda: [_Counted(b"", [0], [0])], compare=False, repr=False
    )
    """One entry: what was counted for the latest text. It is replaced as a whole, so that threads
    may share it."""

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

        Dynamic programming from the end, in O(n * number of token lengths) for the `n` bytes before
        those at the end that the latest text had too. Raises `UnspellableError` if no tokens spell
        `data`.
        """
        step = self._spellable(data).step
        spelled: list[int] = []
        i, end = 0, len(data)
        while i < end:
            length = step[end - i]
            spelled.append(self.ids[data[i : i + length]])
            i += length
        return spelled

    def first_of_fewest(self, data: bytes) -> int:
        """Return the first id of `fewest(data)`, without listing the others; `data` is not empty.
        Raises `UnspellableError` if no tokens spell `data`."""
        return self.ids[data[: self._spellable(data).step[len(data)]]]

    def fewest_count(self, data: bytes) -> int:
        """Return the number of tokens in `fewest(data)`, without listing them. Raises
        `UnspellableError` if no tokens spell `data`."""
        return self._spellable(data).cost[len(data)]

    def _spellable(self, data: bytes) -> _Counted:
        """What was counted for `data`; raises `UnspellableError` if no tokens spell it."""
        counted = self._counted(data)
        if counted.cost[len(data)] >= _UNREACHABLE:
            raise UnspellableError(
                f"no tokens of the vocabulary spell {data!r}: {self._lacking(data)}", param="data"
            )
        return counted

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

    def _counted(self, data: bytes) -> _Counted:
        """Count the tokens that every suffix of `data` needs, starting from the counts of the
        latest text with the same end: completions of one place differ in their first bytes. What is
        returned may be of a longer text that ends with `data`."""
        latest = self._latest[0]
        if latest.data.endswith(data):
            return latest
        shared = _common_suffix(data, latest.data)
        cost, step = latest.cost[: shared + 1], latest.step[: shared + 1]
        repeats = len(data) - shared >= _LONG
        windows: dict[bytes, tuple[int, ...]] = {}
        for left in range(shared + 1, len(data) + 1):
            at = len(data) - left
            least, first = _UNREACHABLE, 0
            lengths = self.lengths[data[at]]
            if repeats and lengths:
                window = data[at : at + lengths[0]]
                known = windows.get(window)
                if known is None:
                    if len(windows) >= _MOST_WINDOWS:
                        windows.clear()
                    fitting = (n for n in lengths if n <= len(window) and window[:n] in self.ids)
                    known = windows[window] = tuple(fitting)
                lengths = known
            for length in lengths:
                if (
                    length <= left
                    and cost[left - length] + 1 < least
                    and (repeats or data[at : at + length] in self.ids)
                ):
                    least, first = cost[left - length] + 1, length
            cost.append(least)
            step.append(first)
        counted = _Counted(data, cost, step)
        if len(data) <= _MOST_KEPT:
            self._latest[0] = counted
        return counted


def _common_suffix(one: bytes, other: bytes) -> int:
    """The number of bytes at the end of two texts up to which they are equal."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[len(one) - middle :] == other[len(other) - middle :]:
            low = middle
        else:
            high = middle - 1
    return low
