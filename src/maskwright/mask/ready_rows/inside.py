"""Which tokens stay inside a JSON string or a text: trie × automaton over characters, in compiled
code.

The bytes of a token are read as JSON spells characters: as UTF-8, or escaped. So the automaton
knows neither bytes nor escapes, and the walk needs none of the leaf table's rows. A token may end
within a character; it stays inside if a character that it begins can follow.
"""

# Compiled code: array elements are plain numbers here, which numpy's types don't say.
# pyright: reportUntypedFunctionDecorator=false, reportArgumentType=false, reportReturnType=false
# pyright: reportAssignmentType=false
from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from maskwright.automaton.leaf.character_arrays import FOUND, UNKNOWN, CharacterArrays
from maskwright.compiled import compiled
from maskwright.mask.ready_rows.product import (
    LACKING,
    LISTED,
    ProductArrays,
    begin_state,
    find_state,
    find_target,
)
from maskwright.mask.ready_rows.subtrees import Subtrees
from maskwright.vocab.trie import Trie

# How much of a character has been read.
BETWEEN: Final = 0
"""Nothing. From 1 to 3: so many bytes of UTF-8 are missing."""
BACKSLASH: Final = 4
DIGITS: Final = 4
"""With a number from 1 to 4 added: so many digits of a \\uXXXX are missing."""
PAIR: Final = 9
"""A high surrogate; the backslash before the low one comes next."""
PAIR_U: Final = 10
PAIR_DIGITS: Final = 10
"""With a number added: so many digits of the low surrogate are missing."""
ANY_BYTES: Final = 15
NO_ROOM: Final = 1 << 40
"""More characters than any string has."""
ANY_DIGITS: Final = 20
"""With a number added: so many bytes or digits are missing, and all of them lead to one state."""


_NONE: Final = np.zeros(0, np.int32)


class Measure(NamedTuple):
    """Bounds on the characters of a string, and what says whether they can be kept."""

    fewest: npt.NDArray[np.int32]
    """[lengths, states], see `CharacterDfa.fewest`; no rows where nothing is bounded."""
    least: int
    most: int
    begun: int = 0
    """What has been counted before the walk."""
    beyond: int = 1
    """What a character outside ASCII counts."""
    between: npt.NDArray[np.int32] = _NONE
    """Characters after which counting begins anew."""


class Path(NamedTuple):
    """By depth in the trie; scratch."""

    state: npt.NDArray[np.int32]
    part: npt.NDArray[np.int32]
    """How much of a character has been read."""
    value: npt.NDArray[np.int32]
    """What of the code point is known."""
    read: npt.NDArray[np.int32]
    """Characters read."""

    @classmethod
    def of_height(cls, height: int) -> Path:
        state, part, value, read = (np.zeros(height + 2, np.int32) for _ in range(4))
        return cls(state, part, value, read)


@compiled(nogil=True, inline="always")
def alive(measure: Measure, state: int, count: int) -> bool:
    """Whether a string can end that has come to `state` with `count` characters."""
    if len(measure.fewest) == 0:
        return True
    missing = max(measure.least - count, 0)
    return count + measure.fewest[missing, state] <= measure.most


@compiled(nogil=True, inline="always")
def counted(measure: Measure, count: int, point: int) -> int:
    """The count after one more character."""
    if len(measure.between) == 0:
        return count + 1
    for other in measure.between:
        if point == other:
            return 0
    return count + (1 if point < 0x80 else measure.beyond)


@compiled(nogil=True)
def interval_of(start: np.ndarray, point: int) -> int:
    """The interval that a character outside ASCII falls into; see `CharacterArrays`. Walks read the
    other arrays themselves: to hand all of them on takes longer than the search."""
    low, high = 0, len(start)
    while high - low > 1:
        middle = (low + high) // 2
        if start[middle] <= point:
            low = middle
        else:
            high = middle
    return low


@compiled(nogil=True, inline="always")
def _room(measure: Measure, state: int, count: int) -> int:
    """How many characters a string has at least that has come to `state` with `count` of them;
    `NO_ROOM` if it can't end. 0 where nothing is bounded."""
    if len(measure.fewest) == 0:
        return 0
    room = count + measure.fewest[max(measure.least - count, 0), state]
    return room if room <= measure.most else NO_ROOM


@compiled(nogil=True)
def _least_room(
    characters: CharacterArrays, measure: Measure, state: int, count: int, low: int, high: int
) -> int:
    """The least `_room` after one of the characters from `low` to `high`, but a surrogate."""
    least = NO_ROOM
    for point in range(low, min(high, 0x7F) + 1):
        target = characters.ascii[state, point]
        if target >= 0:
            least = min(least, _room(measure, target, counted(measure, count, point)))
            if least <= count:  # none is less
                return least
    if high < 0x80:
        return least
    start = characters.start
    at = interval_of(start, max(low, 0x80))
    while at < len(start) and start[at] <= high:
        target = characters.beyond[state, characters.of_interval[at]]
        if target >= 0:
            point = max(low, start[at])
            least = min(least, _room(measure, target, counted(measure, count, point)))
            if least <= count:
                return least
        at += 1
    return least


@compiled(nogil=True)
def least_room(
    characters: CharacterArrays, measure: Measure, state: int, count: int, part: int, value: int
) -> int:
    """How many characters a string has at least in which a character has been begun; `NO_ROOM` if
    it can't be completed. 0 where nothing is bounded."""
    if part >= ANY_BYTES:  # counted before the walk, and allowed
        return _room(measure, state, count)
    if part < BACKSLASH:
        low = value << (6 * part)
        high = low + (1 << (6 * part)) - 1
        if part == 1 and low < 0x80:
            low = 0x80
        if part == 2 and low < 0x800:
            low = 0x800
        if part == 3 and low < 0x10000:
            low = 0x10000
        return _least_room(characters, measure, state, count, low, min(high, 0x10FFFF))
    if part == BACKSLASH:
        return _least_room(characters, measure, state, count, 0, 0x10FFFF)
    if part <= DIGITS + 4:
        size = 4 * (part - DIGITS)
        low = value << size
        high = low + (1 << size) - 1
        least = _least_room(characters, measure, state, count, low, high)
        first, last = max(low, 0xD800), min(high, 0xDBFF)
        if first > last or least <= count:
            return least
        low = 0x10000 + ((first - 0xD800) << 10)
        high = 0x10000 + ((last - 0xD800) << 10) + 0x3FF
        return min(least, _least_room(characters, measure, state, count, low, high))
    unit, size = 0, 16
    if part > PAIR_U:
        size = 4 * (part - PAIR_DIGITS)
        unit = (value & 0xFFFF) << size
    plane = 0x10000 + ((value >> 16) << 10)
    first, last = max(unit, 0xDC00), min(unit + (1 << size) - 1, 0xDFFF)
    if first > last:
        return NO_ROOM
    return _least_room(
        characters, measure, state, count, plane + first - 0xDC00, plane + last - 0xDC00
    )


@compiled(nogil=True, inline="always")
def _digit(byte: int) -> int:
    if 0x30 <= byte <= 0x39:
        return byte - 0x30
    if 0x41 <= byte <= 0x46:
        return byte - 0x37
    if 0x61 <= byte <= 0x66:
        return byte - 0x57
    return -1


@compiled(nogil=True, inline="always")
def _begin(byte: int) -> tuple[int, int]:
    """The part and value after the first byte of a character that is not plain ASCII."""
    if byte == 0x5C:
        return BACKSLASH, 0
    if 0xC2 <= byte < 0xE0:
        return 1, byte & 0x1F
    if 0xE0 <= byte < 0xF0:
        return 2, byte & 0x0F
    if 0xF0 <= byte < 0xF5:
        return 3, byte & 0x07
    return -1, 0


@compiled(nogil=True, inline="always")
def _continue(byte: int, part: int, value: int) -> tuple[int, int]:
    """The part and value after a continuation byte of UTF-8, of which `part` were missing."""
    if byte & 0xC0 != 0x80:
        return -1, 0
    value = value << 6 | (byte & 0x3F)
    # After the second byte: neither a longer form of a short one, nor a surrogate, nor too large.
    if part == 2 and (value < 0x20 or 0x360 <= value < 0x380):
        return -1, 0
    if part == 3 and (value < 0x10 or value >= 0x110):
        return -1, 0
    return part - 1, value


@compiled(nogil=True, inline="always")
def _escape(byte: int) -> tuple[int, int]:
    """The part and value after the byte that follows a backslash."""
    if byte == 0x75:
        return DIGITS + 4, 0
    if byte == 0x22 or byte == 0x5C or byte == 0x2F:
        return BETWEEN, byte
    if byte == 0x62:
        return BETWEEN, 8
    if byte == 0x66:
        return BETWEEN, 12
    if byte == 0x6E:
        return BETWEEN, 10
    if byte == 0x72:
        return BETWEEN, 13
    if byte == 0x74:
        return BETWEEN, 9
    return -1, 0


@compiled(nogil=True, inline="always")
def _digit_of(byte: int, part: int, value: int) -> tuple[int, int]:
    """The part and value after a hexadecimal digit of `\\uXXXX`, or of a low surrogate."""
    digit = _digit(byte)
    if digit < 0:
        return -1, 0
    value = (value & 0x3FF0000) | (value & 0xFFFF) << 4 | digit
    part -= 1
    if part == DIGITS:
        if 0xD800 <= value < 0xDC00:
            return PAIR, (value - 0xD800) << 16
        if 0xDC00 <= value < 0xE000:
            return -1, 0
        return BETWEEN, value
    if part == PAIR_DIGITS:
        low = value & 0xFFFF
        if not 0xDC00 <= low < 0xE000:
            return -1, 0
        return BETWEEN, 0x10000 + ((value >> 16) << 10) + (low - 0xDC00)
    return part, value


@compiled(nogil=True)
def _skip(byte: int, part: int) -> int:
    """The part after a byte of a character that has been counted before the walk."""
    if part < ANY_DIGITS:
        if byte & 0xC0 != 0x80:
            return -1
        return BETWEEN if part - 1 == ANY_BYTES else part - 1
    if _digit(byte) < 0:
        return -1
    return BETWEEN if part - 1 == ANY_DIGITS else part - 1


@compiled(nogil=True)
def read_byte(byte: int, part: int, value: int) -> tuple[int, int]:
    """The part and value after a byte within a character or at the start of one that is not plain
    ASCII. (0, point) for a character that is complete, (0, -1) for one that has been counted before
    the walk; a part < 0 where the byte can't stand."""
    if part == BETWEEN:
        return _begin(byte)
    if part < BACKSLASH:
        return _continue(byte, part, value)
    if part == BACKSLASH:
        return _escape(byte)
    if part > ANY_BYTES:
        return _skip(byte, part), -1
    if part == PAIR:
        return (PAIR_U if byte == 0x5C else -1), value
    if part == PAIR_U:
        return (PAIR_DIGITS + 4 if byte == 0x75 else -1), value
    return _digit_of(byte, part, value)


@compiled(nogil=True)
def walk_string(  # noqa: C901 (split, `.{3,80}` took 19-25 ms instead of 10)
    trie: Trie,
    subtrees: Subtrees,
    characters: CharacterArrays,
    measure: Measure,
    path: Path,
    state: int,
    part: int,
    value: int,
    out: np.ndarray,
    missing: np.ndarray,
    plain: bool,
    product: ProductArrays | None,
) -> tuple[int, int]:
    """Set in `out` (int32 words) the tokens that stay inside a string from `state` on, of a
    character of which `part` and `value` have been read. `plain`: the string is text without
    quotes and escapes. `product`: where transitions are found that are not known.

    Returns how often a state was met whose transitions are not known (`missing`, int32, lists some
    of these states, other elements stay as they are; `out` is not complete then), and how many
    characters a string must have room for so that each of these tokens can be followed by an end.
    """
    ascii_rows, known = characters.ascii, characters.known
    start, of_interval, beyond = characters.start, characters.of_interval, characters.beyond
    trie_byte, trie_depth, trie_skip, trie_token = trie.byte, trie.depth, trie.skip, trie.token
    states, parts, values, counts = path.state, path.part, path.value, path.read
    loop_low, loop_high = characters.loop_low, characters.loop_high
    subtree_low, subtree_high, first = subtrees.low, subtrees.high, subtrees.first
    bounded = len(measure.fewest) > 0
    states[0] = state
    parts[0], values[0] = part, value
    counts[0] = measure.begun
    lacking = listed = 0
    needed = 0
    at = 0
    size = len(trie_byte)
    while at < size:
        depth = trie_depth[at] - 1
        byte = trie_byte[at]
        here, part, value, count = states[depth], parts[depth], values[depth], counts[depth]
        found = known[here] >= 0
        if product is not None:
            found = found or begin_state(product, characters, here)
        if not found:
            if known[here] == UNKNOWN and listed < len(missing):
                known[here] = LISTED
                missing[listed] = here
                listed += 1
            lacking += 1
            at = trie_skip[at]
            continue
        if (
            part == 0
            and subtree_low[at] & ~loop_low[here] == 0
            and subtree_high[at] & ~loop_high[here] == 0
        ):
            longest = count + measure.beyond * subtrees.height[at]
            fits = True
            if bounded:
                # All lengths up to the longest occur; with a least length, some may not do.
                longest += measure.fewest[0, here]
                fits = longest <= measure.most and measure.least <= count
            if fits:
                needed = max(needed, longest)
                for place in range(first[at], first[trie_skip[at]]):
                    token = subtrees.order[place]
                    out[token >> 5] |= np.int32(1) << np.int32(token & 31)
                at = trie_skip[at]
                continue
        target = -1
        if part == 0 and byte < 0x80 and (plain or byte != 0x5C):
            part = 0
            if plain or (byte >= 0x20 and byte != 0x22):
                target = ascii_rows[here, byte]
                if product is not None and target == UNKNOWN:
                    target = find_target(product, characters, here, byte)
                    lacking += target == LACKING
                count = counted(measure, count, byte)
        else:
            part, value = read_byte(byte, part, value)
            is_whole = known[here] == FOUND
            if product is not None and not is_whole:
                is_whole = find_state(product, characters, here)
                lacking += not is_whole
            part = part if is_whole else -1
            if part == 0 and value < 0:
                target = here
            elif part == 0:
                if value < 0x80:
                    target = ascii_rows[here, value]
                else:
                    target = beyond[here, of_interval[interval_of(start, value)]]
                count = counted(measure, count, value)
            elif part > 0:
                room = 0
                if trie_token[at] >= 0:  # which ends within a character
                    room = least_room(characters, measure, here, count, part, value)
                if room < NO_ROOM:
                    target = here
                    needed = max(needed, room)
        if target < 0 or (part == 0 and not alive(measure, target, count)):
            at = trie_skip[at]
            continue
        if part == 0 and bounded:
            needed = max(needed, count + measure.fewest[max(measure.least - count, 0), target])
        token = trie_token[at]
        while token >= 0:
            out[token >> 5] |= np.int32(1) << np.int32(token & 31)
            token = trie.twin[token]
        states[depth + 1] = target
        parts[depth + 1] = part
        values[depth + 1] = value
        counts[depth + 1] = count
        at += 1
    return lacking, needed
