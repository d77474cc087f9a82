"""The loops over tries: both layouts are made, and a text's tokens counted."""

from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t
from libc.stdlib cimport calloc, free

import numpy as np

from maskwright.native cimport BUILT_FROM
from maskwright.native import require_built

require_built(__name__, BUILT_FROM)


def lay_out(
    const uint8_t[::1] data,
    const int64_t[::1] starts,
    const int64_t[::1] stops,
    const int32_t[::1] ids,
    Py_ssize_t size,
):
    cdef Py_ssize_t total = 0, tallest = 0, at, count
    for at in range(ids.shape[0]):
        total += stops[at] - starts[at]
        tallest = max(tallest, stops[at] - starts[at])
    byte, depth = np.zeros(total, np.uint8), np.zeros(total, np.int16)
    skip, token = np.zeros(total, np.int32), np.full(total, -1, np.int32)
    twin, path = np.full(size, -1, np.int32), np.zeros(tallest + 1, np.int32)
    cdef uint8_t[::1] bytes_ = byte
    cdef int16_t[::1] depths = depth
    cdef int32_t[::1] skips = skip, tokens = token, twins = twin, nodes = path
    with nogil:
        count = _lay_out(data, starts, stops, ids, bytes_, depths, skips, tokens, twins, nodes)
    return byte[:count].copy(), depth[:count].copy(), skip[:count].copy(), token[:count].copy(), twin


cdef Py_ssize_t _lay_out(
    const uint8_t[::1] data,
    const int64_t[::1] starts,
    const int64_t[::1] stops,
    const int32_t[::1] ids,
    uint8_t[::1] byte,
    int16_t[::1] depth,
    int32_t[::1] skip,
    int32_t[::1] token,
    int32_t[::1] twin,
    int32_t[::1] path,
) except -1 nogil:
    """Lay out tokens in their order; returns how many nodes there are. `path` is scratch: the nodes
    of the token before."""
    cdef Py_ssize_t count = 0, at, start, length, shared, d, last
    cdef Py_ssize_t before = 0, before_length = 0
    for at in range(ids.shape[0]):
        start = starts[at]
        length = stops[at] - start
        shared = 0
        while (
            shared < length
            and shared < before_length
            and data[start + shared] == data[before + shared]
        ):
            shared += 1
        for d in range(shared, before_length):
            skip[path[d]] = <int32_t>count
        for d in range(shared, length):
            byte[count] = data[start + d]
            depth[count] = <int16_t>(d + 1)
            path[d] = <int32_t>count
            count += 1
        last = path[length - 1]
        if token[last] >= 0:
            twin[ids[at]] = token[last]
        token[last] = ids[at]
        before, before_length = start, length
    for d in range(before_length):
        skip[path[d]] = <int32_t>count
    return count


def lay_out_siblings(
    const uint8_t[::1] byte, const int32_t[::1] skip, const int32_t[::1] token
):
    size = len(byte)
    new_byte, new_token = np.zeros(size, np.uint8), np.full(size, -1, np.int32)
    first, children, place = (np.zeros(size, np.int32) for _ in range(3))
    cdef uint8_t[::1] bytes_ = new_byte
    cdef int32_t[::1] tokens = new_token, firsts = first, counts = children, places = place
    with nogil:
        _lay_out_siblings(byte, skip, token, bytes_, firsts, counts, tokens, places)
    return new_byte, first, children, new_token


cdef int _lay_out_siblings(
    const uint8_t[::1] byte,
    const int32_t[::1] skip,
    const int32_t[::1] token,
    uint8_t[::1] new_byte,
    int32_t[::1] first,
    int32_t[::1] children,
    int32_t[::1] new_token,
    int32_t[::1] place,
) except -1 nogil:
    """`place` is scratch: the new number of each node."""
    cdef Py_ssize_t size = byte.shape[0], free_place = 0, at = 0, node, here
    while at < size:
        place[at] = <int32_t>free_place
        free_place += 1
        at = skip[at]
    for node in range(size):
        here = place[node]
        new_byte[here] = byte[node]
        new_token[here] = token[node]
        first[here] = <int32_t>free_place
        at = node + 1
        while at < skip[node]:
            place[at] = <int32_t>free_place
            free_place += 1
            at = skip[at]
        children[here] = <int32_t>(free_place - first[here])
    return 0


def most_for_a_suffix(
    const uint8_t[::1] byte,
    const int32_t[::1] first,
    const int32_t[::1] children,
    const int32_t[::1] token,
    Py_ssize_t roots,
    const uint8_t[::1] data,
):
    cdef Py_ssize_t end = data.shape[0], start, at, node
    cdef int32_t most = 0
    cdef int32_t *cost = <int32_t *>calloc(end + 1, sizeof(int32_t))
    if cost is NULL:
        raise MemoryError
    # By dynamic programming from the end: a suffix takes a token and what the rest takes.
    try:
        for start in range(end - 1, -1, -1):
            cost[start] = <int32_t>(end + 1)
            at = start
            node = _child(byte, 0, roots, data[at])
            while node >= 0:
                at += 1
                if token[node] >= 0:
                    cost[start] = min(cost[start], cost[at] + 1)
                if at == end:
                    break
                node = _child(byte, first[node], first[node] + children[node], data[at])
            most = max(most, cost[start])
    finally:
        free(cost)
    return most


cdef Py_ssize_t _child(
    const uint8_t[::1] byte, Py_ssize_t low, Py_ssize_t high, uint8_t wanted
) except -2 nogil:
    """Which node of `low` to `high` - 1, which are siblings, has a byte; -1 if there is none."""
    cdef Py_ssize_t end = high, middle
    while low < high:
        middle = (low + high) // 2
        if byte[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low if low < end and byte[low] == wanted else -1
