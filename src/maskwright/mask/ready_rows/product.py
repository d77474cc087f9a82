"""Languages read side by side, of which exactly one must contain a string, in compiled code.

The strings of exactly one of a dozen patterns have an automaton with a state for each combination
of the patterns' states. A walk over the trie meets thousands of combinations, most of them once. So
they are not made from terms: the automata of the patterns ("parts") are tables, a combination is a
vector of the numbers of their states, and vectors are interned here while the trie is walked. This
is the lazy product construction; `mask.ready_rows.combination` holds its tables.

A vector lists *options*, of which exactly one must contain what follows, then what must not
(*excluded*), as the complements of numbers; each ascending, each once. The rest is `UNUSED`. State
0 of the parts is that of all strings.
"""

# Compiled code: array elements are plain numbers here, which numpy's types don't say.
# pyright: reportUntypedFunctionDecorator=false, reportArgumentType=false, reportReturnType=false
# pyright: reportAssignmentType=false
from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from maskwright.automaton.leaf.character_arrays import (
    FOUND,
    NOWHERE,
    UNKNOWN,
    CharacterArrays,
)
from maskwright.compiled import compiled

UNUSED: Final = -(1 << 31)
"""In a vector: after its end."""
LISTED: Final = -3
"""In `known`: not known, and already in the list."""
PARTLY: Final = 1
"""In `known` of a state: some transitions are known, the others are `UNKNOWN` in `ascii`."""
EVERYTHING: Final = 0
"""The state of the parts from which every string is accepted."""

# What is known of a vector.
UNDECIDED: Final = 0
ALIVE: Final = 1
DEAD: Final = 2

# Results that are no vector and no state. NOWHERE is one too.
LACKING: Final = -4
"""A part's transitions, or room in the tables, are lacking."""

# Indexes into `ProductArrays.counts`.
VECTORS: Final = 0
STATES: Final = 1
SEARCHES: Final = 2
UNKNOWN_PARTS: Final = 3
FULL: Final = 4
"""Not 0 if the tables were too small."""
COUNTS: Final = 5

Int32 = npt.NDArray[np.int32]


class ProductArrays(NamedTuple):
    """The tables of one product. Its states are the vectors that are alive and have been met."""

    parts: CharacterArrays
    accepting: npt.NDArray[np.uint8]
    """[parts' states]: 1 where a string may end."""
    column: Int32
    """[128]: the column of an ASCII character. All parts treat the characters of a column alike."""
    column_beyond: Int32
    """[classes]: the column of each class of characters outside ASCII."""
    samples: Int32
    """[columns]: an ASCII character of a column, or 128 and a class."""
    vectors: Int32
    """[vectors, width]"""
    verdict: npt.NDArray[np.int8]
    """[vectors]: `UNDECIDED`, `ALIVE` or `DEAD`."""
    far: Int32
    """[vectors]: an upper bound on the bytes, as JSON spells them, to an end, of those alive."""
    widths: Int32
    """[columns]: bytes of the shortest character of a column, as JSON spells it."""
    state_of: Int32
    """[vectors]: the state of a vector, `NOWHERE` if it has none."""
    vector_of: Int32
    """[states]"""
    slots: Int32
    """A hash table of vectors, `NOWHERE` where it is empty."""
    stack: Int32
    """[2, vectors]: the vectors of a search, and the columns from which it goes on; scratch."""
    met: Int32
    """[2, vectors]: the search that met a vector last; the vectors that a search has met."""
    reached: Int32
    """[columns]: where a state's transitions lead; scratch."""
    scratch: Int32
    """[2, width + 1]: options and excluded of a vector in the making."""
    lacking: Int32
    """States of parts whose transitions are lacking, as many as `counts` says."""
    counts: npt.NDArray[np.int64]


@compiled(nogil=True)
def _insert(found: np.ndarray, count: int, number: int, once: bool) -> int:
    """Insert a number into the first `count` of `found`, which are ascending. Returns how many
    there are then."""
    at = count
    while at > 0 and found[at - 1] > number:
        at -= 1
    if once and at > 0 and found[at - 1] == number:
        return count
    for other in range(count, at, -1):
        found[other] = found[other - 1]
    found[at] = number
    return count + 1


@compiled(nogil=True)
def intern_vector(product: ProductArrays, options: int, excluded: int) -> int:
    """The vector of so many options and excluded states in `scratch`, each ascending; `NOWHERE` if
    it is surely dead, `LACKING` if there is no room. An option that is listed twice is excluded."""
    some, barred = product.scratch[0], product.scratch[1]
    kept = at = 0
    while at < options:
        number, end = some[at], at + 1
        while end < options and some[end] == number:
            end += 1
        if end - at > 1 or (kept == 1 and some[0] == EVERYTHING):
            excluded = _insert(barred, excluded, number, True)
        else:
            some[kept] = number
            kept += 1
        at = end
    if kept == 0 or (excluded > 0 and barred[0] == EVERYTHING):
        return NOWHERE
    options = kept
    kept = 0
    for at in range(options):
        twice = False
        for other in range(excluded):
            twice = twice or barred[other] == some[at]
        if not twice:
            some[kept] = some[at]
            kept += 1
    return _entered(product, kept, excluded) if kept > 0 else NOWHERE


@compiled(nogil=True, inline="always")
def _mixed(mixed: int, entry: int) -> int:
    """A hash of a vector with one more entry (Fowler, Noll and Vo's, by entries)."""
    return (mixed ^ np.int64(entry)) * np.int64(0x100000001B3)


@compiled(nogil=True)
def rehash(product: ProductArrays) -> None:
    """Enter all vectors into `slots`, which is empty."""
    mask = len(product.slots) - 1
    for vector in range(product.counts[VECTORS]):
        mixed = np.int64(0)
        for entry in product.vectors[vector]:
            if entry == UNUSED:
                break
            mixed = _mixed(mixed, entry)
        slot = (mixed ^ (mixed >> 31)) & mask
        while product.slots[slot] != NOWHERE:
            slot = (slot + 1) & mask
        product.slots[slot] = vector


@compiled(nogil=True)
def _entered(product: ProductArrays, options: int, excluded: int) -> int:
    """The number of the vector in `scratch`, which is entered if it is new."""
    some, barred = product.scratch[0], product.scratch[1]
    vectors, slots, counts = product.vectors, product.slots, product.counts
    width = vectors.shape[1]
    length = options + excluded
    mixed = np.int64(0)
    for at in range(options):
        mixed = _mixed(mixed, some[at])
    for at in range(excluded):
        mixed = _mixed(mixed, ~barred[at])
    mask = len(slots) - 1
    slot = (mixed ^ (mixed >> 31)) & mask
    while slots[slot] != NOWHERE:
        vector = slots[slot]
        at = 0
        while at < options and vectors[vector, at] == some[at]:
            at += 1
        if at == options:
            while at < length and vectors[vector, at] == ~barred[at - options]:
                at += 1
        if at == length and (length == width or vectors[vector, length] == UNUSED):
            return vector
        slot = (slot + 1) & mask
    vector = counts[VECTORS]
    if vector == len(vectors):
        counts[FULL] = 1
        return LACKING
    counts[VECTORS] += 1
    slots[slot] = vector
    vectors[vector, :options] = some[:options]
    for at in range(excluded):
        vectors[vector, options + at] = ~barred[at]
    vectors[vector, length:] = UNUSED
    product.verdict[vector] = UNDECIDED
    product.state_of[vector] = NOWHERE
    product.met[0, vector] = 0
    return vector


@compiled(nogil=True)
def _list_unknown(product: ProductArrays, part: int) -> None:
    """List a part's state whose transitions are lacking, once."""
    counts, known = product.counts, product.parts.known
    if known[part] == UNKNOWN and counts[UNKNOWN_PARTS] < len(product.lacking):
        known[part] = LISTED
        product.lacking[counts[UNKNOWN_PARTS]] = part
        counts[UNKNOWN_PARTS] += 1


@compiled(nogil=True)
def _after(product: ProductArrays, vector: int, column: int) -> int:
    """The vector after a character of `column`; `NOWHERE`, or `LACKING`."""
    parts, sample = product.parts, product.samples[column]
    some, barred = product.scratch[0], product.scratch[1]
    options = excluded = 0
    changed = False
    for at in range(product.vectors.shape[1]):
        entry = product.vectors[vector, at]
        if entry == UNUSED:
            break
        part = entry if entry >= 0 else ~entry
        if parts.known[part] != FOUND:
            _list_unknown(product, part)
            return LACKING
        target = parts.ascii[part, sample] if sample < 128 else parts.beyond[part, sample - 128]
        changed = changed or target != part
        if target < 0:
            continue
        if entry >= 0:
            options = _insert(some, options, target, False)
        else:
            excluded = _insert(barred, excluded, target, True)
    return intern_vector(product, options, excluded) if changed else vector


@compiled(nogil=True)
def accepts(product: ProductArrays, vector: int) -> bool:
    """Whether a string may end at a vector."""
    accepted = 0
    for at in range(product.vectors.shape[1]):
        entry = product.vectors[vector, at]
        if entry == UNUSED:
            break
        if entry >= 0:
            accepted += product.accepting[entry]
        elif product.accepting[~entry]:
            return False
    return accepted == 1


@compiled(nogil=True)
def decide(product: ProductArrays, start: int) -> int:
    """Whether any string is accepted from a vector: `ALIVE` or `DEAD`; `UNDECIDED` if something is
    lacking. A search depth first, which most often ends after a few steps."""
    verdict = product.verdict
    if verdict[start] != UNDECIDED:
        return verdict[start]
    product.counts[SEARCHES] += 1
    search = np.int32(product.counts[SEARCHES])
    stack, columns = product.stack[0], product.stack[1]
    last_search, met = product.met[0], product.met[1]
    stack[0], columns[0] = start, 0
    last_search[start] = search
    met[0] = start
    high = seen = 1
    while high > 0:
        vector, column = stack[high - 1], columns[high - 1]
        if column == 0 and (verdict[vector] == ALIVE or accepts(product, vector)):
            size = product.far[vector] if verdict[vector] == ALIVE else 0
            for at in range(high - 1, -1, -1):
                if at < high - 1:
                    size += product.widths[columns[at] - 1]
                verdict[stack[at]] = ALIVE
                product.far[stack[at]] = size
            return ALIVE
        if column == len(product.samples):
            high -= 1
            continue
        columns[high - 1] += 1
        target = _after(product, vector, column)
        if target == LACKING:
            return UNDECIDED
        if target >= 0 and verdict[target] != DEAD and last_search[target] != search:
            last_search[target] = search
            met[seen] = target
            seen += 1
            stack[high], columns[high] = target, 0
            high += 1
    for at in range(seen):
        verdict[met[at]] = DEAD
    return DEAD


@compiled(nogil=True)
def farthest_end(product: ProductArrays) -> int:
    """An upper bound on the bytes, as JSON spells them, from any state to an end."""
    far = 0
    for state in range(product.counts[STATES]):
        far = max(far, product.far[product.vector_of[state]])
    return far


@compiled(nogil=True)
def numbered(product: ProductArrays, vector: int) -> int:
    """The state of a vector that is alive; `LACKING` if there is no room for one more."""
    if product.state_of[vector] == NOWHERE:
        state = product.counts[STATES]
        if state == len(product.vector_of):
            product.counts[FULL] = 1
            return LACKING
        product.counts[STATES] += 1
        product.state_of[vector] = state
        product.vector_of[state] = vector
    return product.state_of[vector]


@compiled(nogil=True)
def begin_state(product: ProductArrays, states: CharacterArrays, state: int) -> bool:
    """Write to `states` with which characters a state stays as it is; the other transitions are
    found when they are asked for (`PARTLY`). False if something is lacking."""
    if product.counts[FULL]:
        return False
    parts, vector = product.parts, product.vector_of[state]
    low = high = ~np.uint64(0)
    for at in range(product.vectors.shape[1]):
        entry = product.vectors[vector, at]
        if entry == UNUSED:
            break
        part = entry if entry >= 0 else ~entry
        if parts.known[part] != FOUND:
            _list_unknown(product, part)
            return False
        low &= parts.loop_low[part]
        high &= parts.loop_high[part]
    states.loop_low[state], states.loop_high[state] = low, high
    states.ascii[state] = UNKNOWN
    states.known[state] = PARTLY
    return True


@compiled(nogil=True)
def _target(product: ProductArrays, state: int, column: int) -> int:
    """The state after a character of `column`; `NOWHERE`, or `LACKING`."""
    vector = product.vector_of[state]
    target = _after(product, vector, column)
    if target == vector:
        return state
    if target < 0:
        return target
    verdict = decide(product, target)
    if verdict == ALIVE:
        return numbered(product, target)
    return NOWHERE if verdict == DEAD else LACKING


@compiled(nogil=True)
def find_target(product: ProductArrays, states: CharacterArrays, state: int, byte: int) -> int:
    """The state after an ASCII character, which is written to `states`; `NOWHERE`, or `LACKING`."""
    if product.counts[FULL]:
        return LACKING
    target = _target(product, state, product.column[byte])
    if target != LACKING:
        states.ascii[state, byte] = target
    return target


@compiled(nogil=True)
def find_state(product: ProductArrays, states: CharacterArrays, state: int) -> bool:
    """Find all transitions of a state that has been begun, and write them to `states`; False if
    something is lacking."""
    if product.counts[FULL]:
        return False
    reached = product.reached
    for column in range(len(product.samples)):
        reached[column] = _target(product, state, column)
        if reached[column] == LACKING:
            return False
    for point in range(128):
        states.ascii[state, point] = reached[product.column[point]]
    for at in range(len(product.column_beyond)):
        states.beyond[state, at] = reached[product.column_beyond[at]]
    states.known[state] = FOUND
    return True
