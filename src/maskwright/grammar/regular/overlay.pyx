"""The transitions of terms, and of several terms together; see `overlay.pyi`."""

from collections.abc import Callable

from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.object cimport PyObject
from libc.stdint cimport int32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from maskwright.grammar.regular.character_classes import (
    first_from,
    overlap,
    partition,
    union_of,
)
from maskwright.grammar.regular.terms cimport EMPTY_TERM, Chars, Regular, chars
from maskwright.native cimport BUILT_FROM
from maskwright.native import require_built
from maskwright.steps cimport spend

require_built(__name__, BUILT_FROM)

Arc = tuple[int, int, Regular]
Pair = tuple[Chars, Regular]
Join = Callable[[dict[int, Regular]], Regular]

cdef enum:
    ASCII = 128
    NONE = -1
    # Ranges, and members of a class, that count as a step.
    A_STEP = 8
    # Ranges that count as a step where they are listed.
    LISTED_A_STEP = 16


cdef class Split:
    def __init__(self, tuple ascii not None, tuple beyond not None):
        self.ascii, self.beyond = ascii, beyond

    @property
    def targets(self):
        return self.all_targets()

    cdef list all_targets(self):
        cdef dict found = {}
        last = None
        for _, _, target in self.ascii:
            if target is not last:
                found[target] = None
                last = target
        for _, target in self.beyond:
            found[target] = None
        return list(found)

    cdef Split replaced(self, dict targets):
        cdef list ascii = [], beyond = []
        for low, high, target in self.ascii:
            target = targets[target]
            if target is not EMPTY_TERM:
                ascii.append((low, high, target))
        for some, target in self.beyond:
            target = targets[target]
            if target is not EMPTY_TERM:
                beyond.append((some, target))
        return Split(tuple(ascii), tuple(beyond))

    cpdef list arcs(self):
        cdef list ranges = list(self.ascii), beyond = []
        for some, target in self.beyond:
            beyond += [(low, high, target) for low, high in (<Chars>some).ranges]
        if len(self.beyond) > 1:
            beyond.sort(key=low_of)
        ranges += beyond
        spend(len(ranges) // LISTED_A_STEP)
        return without_cuts(ranges)

    cpdef Regular after(self, int32_t point):
        cdef Py_ssize_t at
        if point < ASCII:
            at = place_in(self.ascii, point)
            return EMPTY_TERM if at < 0 else <Regular>(<tuple>self.ascii[at])[2]
        for some, target in self.beyond:
            if place_in((<Chars>some).ranges, point) >= 0:
                return target
        return EMPTY_TERM

    cpdef list within(self, int32_t low, int32_t high):
        cdef list found = []
        for first, last, target in self.ascii:
            if first <= high and last >= low:
                first = max(first, low)
                found.append((target, first, min(last, high) - first + 1))
        if high >= ASCII:
            for some, target in self.beyond:
                count = overlap(some, low, high)
                if count:
                    found.append((target, first_from(some, low), count))
        return found


cdef Py_ssize_t place_in(tuple ranges, int32_t point) except -2:
    """Which of ascending ranges a character is in, -1 if it is in none."""
    cdef Py_ssize_t low = 0, high = len(ranges), middle
    while low < high:
        middle = (low + high) // 2
        if <int32_t>(<tuple>ranges[middle])[1] < point:
            low = middle + 1
        else:
            high = middle
    return low if low < len(ranges) and <int32_t>(<tuple>ranges[low])[0] <= point else -1


def low_of(arc):
    return arc[0]


cdef list without_cuts(list arcs):
    """Join neighbouring ranges with one target."""
    cdef list joined = []
    last_low = last_high = last = None
    for low, high, target in arcs:
        if target is last and last_high + 1 == low:
            low = last_low
            joined.pop()
        joined.append((low, high, target))
        last_low, last_high, last = low, high, target
    return joined


cdef Split NO_TRANSITIONS = Split((), ())
NOWHERE = NO_TRANSITIONS


cpdef Split parted(arcs):
    cdef list ascii = [], pairs = []
    cdef dict beyond = {}
    for low, high, target in arcs:
        if low < ASCII:
            ascii.append((low, min(high, ASCII - 1), target))
        if high >= ASCII:
            beyond.setdefault(target, []).append((max(low, ASCII), high))
    for target, ranges in beyond.items():
        some = chars(tuple(ranges))
        if some is not EMPTY_TERM:
            pairs.append((some, target))
    return Split(tuple(without_cuts(ascii)), tuple(pairs))


cpdef Split overlaid(columns, join):
    cdef dict members = {}, known = {}, together = {}, current
    cdef Py_ssize_t column = 0
    cdef Split each
    cdef list ascii = [], pairs
    for each in columns:
        ascii.append(each.ascii)
        for some, target in each.beyond:
            members.setdefault(some, []).append((column, target))
        column += 1
    if members:
        for part, within in partition(tuple(members)):
            current = {}
            for some in within:
                current.update(members[some])
            target = joined(current, join, known)
            if target is not EMPTY_TERM:
                together.setdefault(target, []).append(part)
    pairs = [(union_of(tuple(some)), target) for target, some in together.items()]
    return Split(tuple(spread(ascii, join, known)), tuple(pairs))


# The target of a column; only its address is read.
cdef struct Member:
    Py_ssize_t column
    PyObject *target


cdef struct Range:
    int32_t high
    # The next range that begins with the same character, NONE after the last one.
    int32_t following
    Member member


cdef object _joined(const Member *members, Py_ssize_t count, join, dict known):
    """What `join` makes of these members."""
    cdef Py_ssize_t at
    cdef dict current
    key = PyBytes_FromStringAndSize(<const char *>members, count * sizeof(Member))
    target = known.get(key)
    if target is None:
        spend(1 + count // (2 * A_STEP))
        current = {}
        for at in range(count):
            current[members[at].column] = <object>members[at].target
        target = known[key] = join(current)
    return target


cpdef joined(dict current, join, dict known):
    cdef Py_ssize_t at = 0
    cdef Member *members = <Member *>malloc((len(current) + 1) * sizeof(Member))
    if members is NULL:
        raise MemoryError
    try:
        for column, target in current.items():
            members[at] = Member(column, <PyObject *>target)
            at += 1
        return _joined(members, at, join, known)
    finally:
        free(members)


cpdef list spread(list columns, join, dict known):
    cdef Py_ssize_t total = 0, column
    cdef int32_t first[ASCII]
    cdef bint cut[ASCII + 1]
    cdef int32_t low, high, place = 0
    cdef list found = []
    cdef Range *ranges
    for arcs in columns:
        total += len(<tuple>arcs)
    if total >= A_STEP:
        spend(total // A_STEP)
    ranges = <Range *>malloc((total + 1) * (sizeof(Range) + sizeof(Member) + sizeof(int32_t)))
    if ranges is NULL:
        raise MemoryError
    memset(first, NONE, sizeof(first))
    memset(cut, 0, sizeof(cut))
    try:
        for column in range(len(columns) - 1, -1, -1):  # the last range is the first of its list
            for low, high, target in <tuple>columns[column]:
                if not 0 <= low <= high < ASCII:
                    raise ValueError(f"there is no range from {low} to {high} in ASCII")
                ranges[place] = Range(high, first[low], Member(column, <PyObject *>target))
                first[low] = place
                cut[low] = cut[high + 1] = True
                place += 1
        _overlay(ranges, total, first, cut, join, known, found)
    finally:
        free(ranges)
    return found


cdef int _overlay(
    const Range *ranges,
    Py_ssize_t total,
    const int32_t *first,
    const bint *cut,
    join,
    dict known,
    list found,
) except -1:
    """List in `found` where the ranges lead together. Behind `total` + 1 of them is scratch."""
    cdef Member *members = <Member *>(ranges + total + 1)
    cdef int32_t *active = <int32_t *>(members + total + 1)
    cdef Py_ssize_t count = 0, kept, at
    cdef int32_t place, low, stop, begins = 0
    last = None  # the target of the range from `begins` on, which may go on
    for low in range(ASCII + 1):
        if not cut[low]:
            continue
        kept = 0
        for at in range(count):
            if ranges[active[at]].high >= low:
                active[kept] = active[at]
                kept += 1
        count = kept
        place = first[low] if low < ASCII else NONE
        while place != NONE:
            active[count] = place
            count += 1
            place = ranges[place].following
        target = None
        if count:
            for at in range(count):
                members[at] = ranges[active[at]].member
            target = _joined(members, count, join, known)
            if target is EMPTY_TERM:
                target = None
        if target is not last:
            if last is not None:
                found.append((begins, low - 1, last))
            last, begins = target, low
    return 0
