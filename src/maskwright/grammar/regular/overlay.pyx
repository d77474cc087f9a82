"""What several terms have in common with each character; see `overlay.pyi`."""

from collections.abc import Callable

from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.object cimport PyObject
from libc.stdint cimport int32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from maskwright.grammar.regular.terms import EMPTY, Regular
from maskwright.limits import spend
from maskwright.native cimport BUILT_FROM
from maskwright.native import require_built

require_built(__name__, BUILT_FROM)

Arc = tuple[int, int, Regular]
Join = Callable[[dict[int, Regular]], Regular]

cdef enum:
    ASCII = 128
    NONE = -1
    # Ranges, and members of a class, that count as a step.
    A_STEP = 8

cdef object NOWHERE = EMPTY


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


def joined(dict current not None, join, dict known not None):
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


def spread(list columns not None, join, dict known not None):
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
            if target is NOWHERE:
                target = None
        if target is not last:
            if last is not None:
                found.append((begins, low - 1, last))
            last, begins = target, low
    return 0
