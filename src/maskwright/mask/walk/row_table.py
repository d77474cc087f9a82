"""The row table: the distinct masks that have been needed, each identified by a number.

Most masks are a few tokens, or a ready row (`mask.shared.vocabulary_tables`) and a few tokens. So
a row is stored as a *record*: the ready row that it is based on, or none, and the words that
differ from it. Records are stored in pages that never move, so writing one out needs only its
address and no lock.
"""

# Compiled code: array elements are plain numbers here, which numpy's types don't say.
# pyright: reportUntypedFunctionDecorator=false, reportArgumentType=false, reportReturnType=false
# pyright: reportUnknownParameterType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportMissingParameterType=false
from __future__ import annotations

from typing import Final, NamedTuple, overload
from weakref import ref

import numpy as np
import numpy.typing as npt

from maskwright.automaton.machine.addresses import copy_bytes, int32s, int64s
from maskwright.compiled import compiled

Row = npt.NDArray[np.int32]

TABLE_FULL: Final = -2
"""Instead of a row's number: the table has to be extended first."""

_PAGE: Final = 1 << 16
"""Words of a page, 512 KiB."""


# A record: int64, the header, then each word that differs from the row it is based on, as
# word << 32 | bits.
FINGERPRINT: Final = 0
BASE: Final = 1
"""The address of the row that the record is based on, or 0."""
PATCHES: Final = 2
"""How many words differ."""
HEADER: Final = 3

# Elements of `RowArrays.counts`.
ROWS: Final = 0
"""How many rows there are."""
WORDS_USED: Final = 1
"""Words used in the present page."""


class Ready(NamedTuple):
    """A row that others are based on: where its words are, and its fingerprint."""

    address: int
    fingerprint: int


class RowArrays(NamedTuple):
    """The table as compiled code reads and extends it."""

    slots: npt.NDArray[np.int32]
    """Open-addressing hash of fingerprint → number, a power of two, -1 is empty."""
    records: npt.NDArray[np.int64]
    """[rows]: the address of each record, see `FINGERPRINT` and the others."""
    page: npt.NDArray[np.int64]
    """Where new records go."""
    counts: npt.NDArray[np.int64]
    """[2]: see `ROWS` and `WORDS_USED`."""


class RowTable:
    """`table[n]` is mask n: int32 words, bit i of word w allows token 32*w+i. Grows only. Row 0
    allows nothing.

    A mirror on a device asks for `table[known:len(table)]` to catch up.
    """

    def __init__(self, words: int) -> None:
        self.words: Final = words
        self._ready: dict[bytes, tuple[Ready, Row]] = {}
        self._seen: dict[int, tuple[ref[Row], Ready]] = {}
        """The rows given to `ready`, by where they are, so that most are known without a look."""
        self._pages: list[npt.NDArray[np.int64]] = [np.empty(max(_PAGE, 4 * words), np.int64)]
        page = self._pages[0]
        page[:HEADER] = 0  # row 0 has no tokens
        self.arrays = RowArrays(
            slots=np.full(256, -1, np.int32),
            records=np.full(128, page.ctypes.data, np.int64),
            page=page,
            counts=np.array([1, HEADER], np.int64),
        )
        _rehash(self.arrays.slots, self.arrays.records, 1)

    def ready(self, row: Row) -> Ready:
        """A row to base others on, which doesn't change; kept as long as the table."""
        seen = self._seen.get(id(row))
        if seen is not None and seen[0]() is row:
            return seen[1]
        ready = self._ready_of(row)
        self._seen[id(row)] = ref(row), ready
        return ready

    def _ready_of(self, row: Row) -> Ready:
        data = row.tobytes()
        known = self._ready.get(data)
        if known is None:
            kept = np.frombuffer(data, np.int32)
            ready = Ready(int(kept.ctypes.data), int(_fingerprint(kept)))
            known = self._ready[data] = ready, kept
        return known[0]

    def number(self, row: Row) -> int:
        """The number of a row given as a whole."""
        touched = np.flatnonzero(row).astype(np.int32)
        work = np.empty(2 * self.words, np.int32)
        while True:
            number = row_number(self.arrays, _fingerprint(row), 0, row, touched, len(touched), work)
            if number != TABLE_FULL:
                return int(number)
            self.grow()

    def without(self, number: int, tokens: npt.NDArray[np.int32]) -> int:
        """The number of a row without some `tokens` (int32 [n]); the ready row on which it is based
        must have none of them."""
        added, touched = np.zeros(self.words, np.int32), np.empty(self.words, np.int32)
        work = np.empty(2 * self.words, np.int32)
        while True:
            record = self.address(number)
            found = row_without(self.arrays, record, tokens, added, touched, work)
            if found != TABLE_FULL:
                return int(found)
            self.grow()

    def grow(self) -> None:
        """Make room for further rows."""
        slots, records, page, counts = self.arrays
        if counts[WORDS_USED] + HEADER + self.words > len(page):
            page = np.empty_like(page)
            self._pages.append(page)
            counts[WORDS_USED] = 0
        if counts[ROWS] == len(records):
            records = np.concatenate([records, np.zeros_like(records)])
            slots = np.full(2 * len(slots), -1, np.int32)
            _rehash(slots, records, int(counts[ROWS]))
        self.arrays = RowArrays(slots, records, page, counts)

    @property
    def nbytes(self) -> int:
        """Bytes of the records."""
        return sum(page.nbytes for page in self._pages)

    def __len__(self) -> int:
        return int(self.arrays.counts[ROWS])

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> npt.NDArray[np.int32]: ...
    def __getitem__(self, index: int | slice) -> Row:
        """A row (int32 [words]), or several ([n, words]), written out."""
        numbers = range(len(self))[index]
        if isinstance(numbers, int):
            out = np.empty(self.words, np.int32)
            write_row(self.address(numbers), out)
            return out
        out = np.empty((len(numbers), self.words), np.int32)
        for at, number in enumerate(numbers):
            write_row(self.address(number), out[at])
        return out

    def address(self, number: int) -> int:
        """Where the record of a row is, for `write_row`; valid as long as the table lives."""
        return int(self.arrays.records[number])


def packed(allowed: npt.NDArray[np.bool_]) -> Row:
    """A bool per token as a mask row."""
    bits = np.zeros((len(allowed) + 31) // 32 * 32, np.bool_)
    bits[: len(allowed)] = allowed
    return np.packbits(bits, bitorder="little").view("<i4").astype(np.int32)


@compiled(signatures=("int64(int64, int32[::1])",))
def write_row(address, out):
    """Write the row of a record; `out` (int32) has as many words as the table's rows."""
    head = int64s(address, HEADER)
    if head[BASE]:
        copy_bytes(out.ctypes.data, head[BASE], 4 * len(out))  # pyright: ignore[reportCallIssue]
    else:
        out[:] = 0
    count = head[PATCHES]
    patches = int64s(address + 8 * HEADER, count)
    for at in range(count):
        patch = patches[at]
        out[patch >> 32] = np.int32(patch & 0xFFFFFFFF)
    return count


@compiled
def row_number(rows, fingerprint, base, added, touched, count, whole):
    """The number of the row of `base` with the bits in `added`; TABLE_FULL without room for it.

    `touched` lists the `count` words of `added` (int32, which has no bit of the base) that are not
    zero. `whole` is int32 [2 * words] to work in.
    """
    mask = len(rows.slots) - 1
    slot = fingerprint & mask
    while True:
        number = rows.slots[slot]
        if number < 0:
            break
        record = rows.records[number]
        if _is_row(record, fingerprint, base, added, touched, count, whole):
            return number
        slot = (slot + 1) & mask
    number, used = rows.counts[ROWS], rows.counts[WORDS_USED]
    if number == len(rows.records) or used + HEADER + count > len(rows.page):
        return TABLE_FULL
    page = rows.page
    page[used + FINGERPRINT] = fingerprint
    page[used + BASE] = base
    page[used + PATCHES] = count
    words = int32s(base, len(added))
    for at in range(count):
        word = touched[at]
        content = added[word] | words[word] if base else added[word]
        page[used + HEADER + at] = (np.int64(word) << 32) | (np.int64(content) & 0xFFFFFFFF)
    rows.records[number] = page.ctypes.data + 8 * used
    rows.counts[ROWS] = number + 1
    rows.counts[WORDS_USED] = used + HEADER + count
    rows.slots[slot] = number
    return number


@compiled
def row_without(rows, record, tokens, added, touched, whole):
    """The number of the row of a record without `tokens` (int32 [n]); TABLE_FULL without room for
    it. `added` and `touched` (int32 [words]) are to work in, `whole` as in `row_number`."""
    head = int64s(record, HEADER)
    fingerprint, base, count = head[FINGERPRINT], head[BASE], head[PATCHES]
    patches = int64s(record + 8 * HEADER, count)
    words = int32s(base, len(added))
    for at in range(count):
        word = patches[at] >> 32
        bits = np.int32(patches[at] & 0xFFFFFFFF)
        added[word] = bits & ~words[word] if base else bits
    for token in tokens:
        bit = np.int32(1) << np.int32(token & 31)
        if added[token >> 5] & bit:
            added[token >> 5] &= ~bit
            fingerprint -= scattered(token)
    left = 0
    for at in range(count):
        word = patches[at] >> 32
        if added[word] != 0:
            touched[left] = word
            left += 1
    return row_number(rows, fingerprint, base, added, touched, left, whole)


@compiled
def _is_row(record, fingerprint, base, added, touched, count, whole):
    """Whether a record has this very content; compared in full, if the fingerprint agrees."""
    head = int64s(record, HEADER)
    if head[FINGERPRINT] != fingerprint:
        return False
    if head[BASE] == base:
        if head[PATCHES] != count:
            return False
        words = int32s(base, len(added))
        patches = int64s(record + 8 * HEADER, count)
        for at in range(count):
            word = patches[at] >> 32
            content = added[word] | words[word] if base else added[word]
            if added[word] == 0 or content != np.int32(patches[at] & 0xFFFFFFFF):
                return False
        return True
    ours, theirs = whole[: len(added)], whole[len(added) :]
    write_row(record, theirs)
    if base:
        copy_bytes(ours.ctypes.data, base, 4 * len(ours))  # pyright: ignore[reportCallIssue]
    else:
        ours[:] = 0
    for at in range(count):
        ours[touched[at]] |= added[touched[at]]
    return bool((ours == theirs).all())


@compiled(inline="always")
def scattered(token):
    """64 bits of a token, as good as random (the finalizer of splitmix64); a row's fingerprint is
    the sum over its tokens."""
    bits = np.uint64(token + 1) * np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.int64(bits ^ (bits >> np.uint64(31)))


@compiled
def _fingerprint(row):
    total = np.int64(0)
    for word in range(len(row)):
        bits = row[word]
        for bit in range(32):
            if (bits >> bit) & 1:
                total += scattered(32 * word + bit)
    return total


@compiled
def _rehash(slots, records, count):
    mask = len(slots) - 1
    for number in range(count):
        head = int64s(records[number], HEADER)
        slot = head[FINGERPRINT] & mask
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = number
