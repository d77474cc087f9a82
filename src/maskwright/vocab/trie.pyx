"""The vocabulary as a trie in flat arrays, in two layouts.

A `Trie` is laid out depth first: the subtree of node i is i+1 .. skip[i]-1, so a walk is a loop
over an index. It goes on to i+1 if the byte at i is accepted, and to skip[i] if it is rejected. In
a `SiblingTrie` the children of each node are adjacent. There is no root node in either; the first
byte of a token has depth 1.
"""

from typing import NamedTuple

from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcmp

import numpy as np

from maskwright.native cimport BUILT_FROM, const_int32s, const_uint8s, uint64s
from maskwright.native import require_built

require_built(__name__, BUILT_FROM)


class Trie(NamedTuple):
    byte: object
    depth: object
    skip: object
    token: object
    twin: object

    @property
    def height(self):
        return int(self.depth.max()) if len(self.depth) else 0

    @classmethod
    def build(cls, tokens, chosen=None):
        ids = range(len(tokens)) if chosen is None else chosen
        order = sorted([i for i in ids if tokens[i]], key=tokens.__getitem__)
        data = np.frombuffer(b"".join([tokens[i] for i in order]), np.uint8)
        start = np.cumsum([0, *[len(tokens[i]) for i in order]], dtype=np.int64)
        ids = np.array(order, np.int32)
        return cls(*_lay_out(data, start, start[1:], ids, _twins_of(data, start, ids, len(tokens))))

    @classmethod
    def of_ordered(cls, data, start, ids, twin):
        return cls(*_lay_out(data, start[ids], start[ids + 1], ids, twin))


cdef enum:
    MOST_COUNTED = (1 << 20) - 1  # nodes below a node that are counted


cdef _twins_of(
    const uint8_t[::1] data, const int64_t[::1] start, const int32_t[::1] ids, Py_ssize_t size
):
    """[size]: the next token with equal bytes, or `NO_TOKEN`, for tokens sorted by their bytes."""
    cdef Py_ssize_t at
    cdef int64_t length
    found = np.full(size, NO_TOKEN, np.int32)
    cdef int32_t[::1] twin = found
    for at in range(ids.shape[0] - 1):
        length = start[at + 1] - start[at]
        if length == start[at + 2] - start[at + 1] and not memcmp(
            &data[start[at]], &data[start[at + 1]], length
        ):
            twin[ids[at]] = ids[at + 1]
    return found


cdef Twins twins_of(twin, const int32_t[::1] tokens) except *:
    """The twins of the tokens of nodes, by `Trie.twin`."""
    cdef Twins found = Twins(const_int32s(twin), <int32_t>len(twin), -1)
    cdef Py_ssize_t node
    cdef int32_t token
    for node in range(tokens.shape[0]):
        token = tokens[node]
        while token >= 0 and found.next[token] >= 0:
            found.first, found.last = min(found.first, token), max(found.last, token)
            token = found.next[token]
    return found


cdef _lay_out(
    const uint8_t[::1] data,
    const int64_t[::1] starts,
    const int64_t[::1] stops,
    const int32_t[::1] ids,
    twin,
):
    """The fields of the `Trie` of tokens that are sorted by their bytes: `ids`, each of which is
    `data[start:stop]`, and which the node of the first one of equals leads to in `twin`."""
    cdef Py_ssize_t total = 0, tallest = 0, at, length, shared
    for at in range(ids.shape[0]):
        length = stops[at] - starts[at]
        shared = _shared(data, starts, stops, at) if at else 0
        total += length - shared
        tallest = max(tallest, length)
    byte, depth = np.empty(total, np.uint8), np.empty(total, np.int16)
    skip, token = np.empty(total, np.int32), np.full(total, NO_TOKEN, np.int32)
    path = np.empty(tallest + 1, np.int32)
    cdef uint8_t[::1] bytes_ = byte
    cdef int16_t[::1] depths = depth
    cdef int32_t[::1] skips = skip, tokens = token, nodes = path
    with nogil:
        _enter_tokens(data, starts, stops, ids, bytes_, depths, skips, tokens, nodes)
    return byte, depth, skip, token, twin


cdef inline Py_ssize_t _shared(
    const uint8_t[::1] data, const int64_t[::1] starts, const int64_t[::1] stops, Py_ssize_t at
) noexcept nogil:
    """How many bytes a token, which is not the first, begins with as the one before it does."""
    cdef Py_ssize_t shared = 0
    cdef Py_ssize_t most = min(stops[at] - starts[at], stops[at - 1] - starts[at - 1])
    while shared < most and data[starts[at] + shared] == data[starts[at - 1] + shared]:
        shared += 1
    return shared


cdef int _enter_tokens(
    const uint8_t[::1] data,
    const int64_t[::1] starts,
    const int64_t[::1] stops,
    const int32_t[::1] ids,
    uint8_t[::1] byte,
    int16_t[::1] depth,
    int32_t[::1] skip,
    int32_t[::1] token,
    int32_t[::1] path,
) except -1 nogil:
    """Lay out tokens in their order. `path` is scratch: the nodes of the token before."""
    cdef Py_ssize_t count = 0, at, length, shared, d, before = 0
    for at in range(ids.shape[0]):
        length = stops[at] - starts[at]
        shared = _shared(data, starts, stops, at) if at else 0
        for d in range(shared, before):
            skip[path[d]] = <int32_t>count
        for d in range(shared, length):
            byte[count] = data[starts[at] + d]
            depth[count] = <int16_t>(d + 1)
            path[d] = <int32_t>count
            count += 1
        if token[path[length - 1]] == NO_TOKEN:
            token[path[length - 1]] = ids[at]
        before = length
    for d in range(before):
        skip[path[d]] = <int32_t>count
    return 0


cdef _lay_out_siblings(
    const uint8_t[::1] byte, const int32_t[::1] skip, const int32_t[::1] token
):
    """The arrays `byte`, `first`, `children` and `token` of a `SiblingTrie`, from those of a
    `Trie`."""
    size = len(byte)
    new_byte = np.empty(size, np.uint8)
    new_token, first, children, place = (np.empty(size, np.int32) for _ in range(4))
    cdef uint8_t[::1] bytes_ = new_byte
    cdef int32_t[::1] tokens = new_token, firsts = first, counts = children, places = place
    with nogil:
        _order_by_siblings(byte, skip, token, bytes_, firsts, counts, tokens, places)
    return new_byte, first, children, new_token


cdef int _order_by_siblings(
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


cdef class SiblingTrie:
    def __init__(self, byte, first, children, token, twin, int32_t roots):
        self.byte, self.first, self.children, self.token = byte, first, children, token
        self.twin = twin
        self.c.byte = const_uint8s(byte)
        self.c.first = const_int32s(first)
        self.c.children = const_int32s(children)
        self.c.token = const_int32s(token)
        self.c.twins = twins_of(twin, token)
        self.c.roots = roots
        self.c.tokens = <int32_t>len(twin)
        wide = np.flatnonzero(children >= WIDE).astype(np.int32)
        self.wide = np.concatenate((np.array([-1], np.int32), wide))
        self.present = np.zeros(4 * len(self.wide), np.uint64)
        self.c.wide, self.c.wides = const_int32s(self.wide), <int32_t>len(self.wide)
        self.c.present = <const Present *>uint64s(self.present)
        self.note_children()
        self.below = np.zeros(len(byte), np.uint64)
        self.note_below(self.below)
        self.c.below = <const uint64_t *>uint64s(self.below)

    cdef int note_children(self) except -1:
        """Note which bytes the children of the root and of each wide node have."""
        cdef Present *present = <Present *>self.c.present
        cdef int32_t at, node, child, first = 0, stop = self.c.roots
        cdef uint8_t byte
        for at in range(self.c.wides):
            if at:
                node = self.c.wide[at]
                first, stop = self.c.first[node], self.c.first[node] + self.c.children[node]
            for child in range(first, stop):
                byte = self.c.byte[child]
                present[at][byte >> 6] |= (<uint64_t>1) << (byte & 63)
        return 0

    cdef int note_below(self, uint64_t[::1] below) except -1:
        """Note what is below each node, from the last one back: no node comes before its parent."""
        cdef uint64_t classes = (<uint64_t>1 << CLASSES) - 1, most = MOST_COUNTED
        cdef uint64_t found, count
        cdef Py_ssize_t node, child, stop, size = below.shape[0]
        for node in range(size - 1, -1, -1):
            found = count = 0
            stop = self.c.first[node] + self.c.children[node]
            for child in range(self.c.first[node], stop):
                found |= (<uint64_t>1 << class_of(self.c.byte[child])) | (below[child] & classes)
                count += 1 + (below[child] >> CLASSES)
            if count >= most or self.c.first[node] + count > <uint64_t>size:
                found, count = classes, most
            below[node] = found | count << CLASSES
        return 0

    def note_run(self, uint64_t low, uint64_t high, bint after_space):
        cdef Py_ssize_t size = len(self.byte), node, child, first, stop
        cdef uint8_t byte
        cdef bint within
        if size > MOST_COUNTED:
            return  # where the nodes below a node end may not be known
        inside, leaving = np.zeros(size, np.uint8), np.zeros(size, np.uint8)
        cdef uint8_t[::1] is_inside = inside, leaves = leaving
        for node in range(-1, size):
            if node < 0:
                first, stop, within = 0, 0 if after_space else self.c.roots, False
            else:
                within = is_inside[node]
                if not within and not (after_space and node < self.c.roots):
                    continue
                first, stop = self.c.first[node], self.c.first[node] + self.c.children[node]
            for child in range(first, stop):
                byte = self.c.byte[child]
                if byte < 128 and ((low if byte < 64 else high) >> (byte & 63)) & 1:
                    if self.c.token[child] != NO_TOKEN:
                        raise ValueError("a token stays within the run")
                    is_inside[child] = True
                elif within:
                    leaves[child] = True
        self.inside, self.leaving = inside, np.flatnonzero(leaving).astype(np.int32)
        self.c.inside, self.c.leaving = const_uint8s(self.inside), const_int32s(self.leaving)
        self.c.leavings = <int32_t>len(self.leaving)
        self.c.run_low, self.c.run_high = low, high

    @classmethod
    def of(cls, trie):
        laid_out = _lay_out_siblings(trie.byte, trie.skip, trie.token)
        return cls(*laid_out, trie.twin, (trie.depth == 1).sum())

    @property
    def roots(self):
        return self.c.roots

    def __reduce__(self):
        return SiblingTrie, (
            self.byte, self.first, self.children, self.token, self.twin, self.c.roots
        )

    def without(self, tokens):
        token = np.where(np.isin(self.token, tokens), np.int32(NO_TOKEN), self.token)
        return SiblingTrie(self.byte, self.first, self.children, token, self.twin, self.c.roots)

    def continues(self, bytes text not None):
        cdef Py_ssize_t low = 0, high = self.c.roots, node
        cdef uint8_t byte
        for byte in text:
            node = _child(&self.c, low, high, byte)
            if node < 0:
                return False
            low = self.c.first[node]
            high = low + self.c.children[node]
        return high > low

    def most_for_a_suffix(self, bytes data not None):
        cdef const Siblings *trie = &self.c
        cdef const uint8_t *bytes_ = data
        cdef Py_ssize_t end = len(data), start, at, node
        cdef int32_t most = 0
        cdef int32_t cost[LONG + 1]
        if end > LONG:
            return end
        # By dynamic programming from the end: a suffix takes a token and what the rest takes.
        cost[end] = 0
        for start in range(end - 1, -1, -1):
            cost[start] = <int32_t>(end + 1)
            at = start
            node = _child(trie, 0, trie.roots, bytes_[at])
            while node >= 0:
                at += 1
                if trie.token[node] >= 0:
                    cost[start] = min(cost[start], cost[at] + 1)
                if at == end:
                    break
                node = _child(
                    trie, trie.first[node], trie.first[node] + trie.children[node], bytes_[at]
                )
            most = max(most, cost[start])
        return most


cdef Py_ssize_t _child(
    const Siblings *trie, Py_ssize_t low, Py_ssize_t high, uint8_t wanted
) noexcept nogil:
    """Which node of `low` to `high` - 1, which are siblings, has a byte; -1 if there is none."""
    cdef Py_ssize_t end = high, middle
    while low < high:
        middle = (low + high) // 2
        if trie.byte[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low if low < end and trie.byte[low] == wanted else -1
