"""What tokens hold, whatever the grammar: their characters, and whether they stay inside a
string."""

from typing import NamedTuple

from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t


import numpy as np

from maskwright.automaton.leaf.rows cimport DEAD, UNBUILT, LeafRows, Leaves, next_leaf
from maskwright.native cimport BUILT_FROM, const_int16s, const_int32s, const_uint8s, int32s, uint64s
from maskwright.native import require_built
from maskwright.vocab.trie cimport twins_of

require_built(__name__, BUILT_FROM)


# Inside a string


def classify(
    LeafRows rows not None, trie, int32_t leaf, uint8_t[::1] stays, int32_t[::1] characters
):
    cdef const Leaves *leaves = &rows.c
    cdef const uint8_t[::1] byte = trie.byte
    cdef const int16_t[::1] depths = trie.depth
    cdef const int32_t[::1] skip = trie.skip, tokens = trie.token, twin = trie.twin
    cdef int32_t[::1] path = np.zeros(trie.height + 1, np.int32)
    cdef int32_t[::1] passed = np.zeros(trie.height + 1, np.int32)
    cdef int32_t at = 0, depth, before, target, token, missing = DEAD
    rows.check(leaf)
    path[0] = leaf
    with nogil:
        while at < byte.shape[0]:
            depth = depths[at]
            before = path[depth - 1]
            if leaves.base[before] == UNBUILT:
                missing = before
                break
            if leaves.label[before] != 0:
                target = before
            else:
                target = next_leaf(leaves, before, byte[at])
            if target == DEAD:
                at = skip[at]
                continue
            path[depth] = target
            passed[depth] = passed[depth - 1] + (before == leaf)
            token = tokens[at]
            while token >= 0:
                stays[token] = 2 if leaves.label[target] != 0 else 1
                characters[token] = passed[depth]
                token = twin[token]
            at += 1
    return missing


def most_characters(trie, const uint8_t[::1] allowed):
    cdef const uint8_t[::1] bytes_ = trie.byte
    cdef const int16_t[::1] depths = trie.depth
    cdef const int32_t[::1] skip = trie.skip
    cdef int32_t[::1] count = np.zeros(trie.height + 1, np.int32)
    cdef uint8_t[::1] escaped = np.zeros(trie.height + 1, np.uint8)
    cdef int32_t at = 0, depth, most = 0
    cdef uint8_t byte
    cdef bint free_, continues, is_short, starts
    if allowed.shape[0] != 256:
        raise ValueError(f"there are 256 bytes, not {allowed.shape[0]}")
    with nogil:
        while at < bytes_.shape[0]:
            depth, byte = depths[at], bytes_[at]
            free_ = escaped[depth - 1] == 1 or byte == 0x5C
            continues = byte & 0xC0 == 0x80
            is_short = count[depth - 1] + skip[at] - at <= most  # a way is no longer than that
            if is_short or not (free_ or continues or allowed[byte] == 1):
                at = skip[at]
                continue
            escaped[depth] = free_
            starts = not continues or depth == 1
            count[depth] = count[depth - 1] + starts
            most = max(most, count[depth])
            at += 1
    return most


# Texts


class Texts(NamedTuple):
    token: object
    low: object
    high: object
    kind: object
    begins: object


def in_order(trie):
    cdef const int32_t[::1] tokens = trie.token, twin = trie.twin
    cdef int32_t[::1] order
    cdef Py_ssize_t count = 0, at
    cdef int32_t token
    found = np.empty(len(trie.twin), np.int32)
    order = found
    for at in range(tokens.shape[0]):
        token = tokens[at]
        while token >= 0:
            order[count] = token
            count += 1
            token = twin[token]
    return found[:count].copy()


def texts_of(
    const uint8_t[::1] data, const int64_t[::1] start, const int32_t[::1] order, int skipped
):
    count = len(order)
    found = Texts(
        np.asarray(order),
        np.zeros(count, np.uint64),
        np.zeros(count, np.uint64),
        np.zeros(count, np.uint8),
        np.zeros(257, np.int32),
    )
    cdef uint64_t[::1] low = found.low, high = found.high
    cdef uint8_t[::1] kind = found.kind
    cdef int32_t[::1] begins = found.begins
    cdef Py_ssize_t number
    cdef int64_t at, stop
    cdef int byte, left, least, most
    with nogil:
        for number in range(order.shape[0]):
            at, stop = start[order[number]] + skipped, start[order[number] + 1]
            if at >= stop:
                continue
            begins[data[at] + 1] += 1
            kind[number] = ASCII
            while at < stop:
                byte = data[at]
                at += 1
                if byte < 64:
                    low[number] |= <uint64_t>1 << byte
                    continue
                if byte < 128:
                    high[number] |= <uint64_t>1 << (byte - 64)
                    continue
                kind[number] = max(kind[number], <uint8_t>BEYOND)
                if byte < 0xC2 or byte > 0xF4:
                    kind[number] = BROKEN
                    break
                left = 1 if byte < 0xE0 else 2 if byte < 0xF0 else 3
                least = 0xA0 if byte == 0xE0 else 0x90 if byte == 0xF0 else 0x80
                most = 0x9F if byte == 0xED else 0x8F if byte == 0xF4 else 0xBF
                while left > 0 and at < stop:
                    if data[at] < least or data[at] > most:
                        kind[number] = BROKEN
                    least, most = 0x80, 0xBF
                    left -= 1
                    at += 1
        for byte in range(256):
            begins[byte + 1] += begins[byte]
    return found


def divide(
    texts,
    const uint8_t[::1] first,
    uint64_t later_low,
    uint64_t later_high,
    bint beyond,
    int32_t[::1] allowed,
):
    cdef const int32_t[::1] tokens = texts.token, begins = texts.begins
    cdef const uint64_t[::1] low = texts.low, high = texts.high
    cdef const uint8_t[::1] kind = texts.kind
    cdef uint8_t most = BEYOND if beyond else ASCII
    cdef int32_t[::1] others
    cdef int32_t byte, at, token, count = 0
    found = np.empty(len(tokens), np.int32)
    others = found
    with nogil:
        for byte in range(256):
            if first[byte] == 0:
                continue
            for at in range(begins[byte], begins[byte + 1]):
                token = tokens[at]
                if (
                    kind[at] <= most
                    and (low[at] & ~later_low) == 0
                    and (high[at] & ~later_high) == 0
                ):
                    allowed[token >> 5] |= <int32_t>(<uint32_t>1 << (token & 31))
                elif kind[at] < BROKEN:
                    others[count] = token
                    count += 1
    return found[:count]


# Subtrees of the trie


cdef class Subtrees:
    def __init__(self, trie, stays):
        size = len(trie.byte)
        self.trie = trie
        self.low, self.high = np.zeros(size, np.uint64), np.zeros(size, np.uint64)
        self.height, self.first = np.zeros(size, np.int32), np.zeros(size + 1, np.int32)
        tokens = (trie.token >= 0).sum() + (trie.twin >= 0).sum()
        self.order = np.zeros(int(tokens), np.int32)
        self.depth = trie.height
        _fill(
            trie.byte, trie.depth, trie.token, trie.twin, stays.view(np.uint8),
            self.low, self.high, self.height, self.first, self.order, self.depth,
        )  # fmt: skip
        self.c.nodes = <int32_t>size
        self.c.byte = const_uint8s(trie.byte)
        self.c.depth = const_int16s(trie.depth)
        self.c.skip = const_int32s(trie.skip)
        self.c.token = const_int32s(trie.token)
        self.c.twins = twins_of(trie.twin, trie.token)
        self.c.low = uint64s(self.low)
        self.c.high = uint64s(self.high)
        self.c.height = int32s(self.height)
        self.c.first = int32s(self.first)
        self.c.order = int32s(self.order)


cdef _fill(
    const uint8_t[::1] bytes_,
    const int16_t[::1] depths,
    const int32_t[::1] tokens,
    const int32_t[::1] twin,
    const uint8_t[::1] stays,
    uint64_t[::1] low,
    uint64_t[::1] high,
    int32_t[::1] height,
    int32_t[::1] first,
    int32_t[::1] order,
    int32_t tallest,
):
    cdef int32_t[::1] above = np.zeros(tallest + 2, np.int32)
    cdef int32_t[::1] parent = np.zeros(bytes_.shape[0], np.int32)
    cdef int32_t at, up, token, depth, count = 0, size = <int32_t>bytes_.shape[0]
    cdef uint8_t byte, bit
    cdef bint special
    with nogil:
        for at in range(size):
            first[at] = count
            token = tokens[at]
            special = False
            while token >= 0:
                order[count] = token
                count += 1
                special = special or not stays[token]
                token = twin[token]
            byte = bytes_[at]
            bit = BEYOND_ASCII if byte >= 0x80 else byte
            if special or byte < 0x20 or byte == 0x22 or byte == 0x5C:
                low[at] |= <uint64_t>1 << SPECIAL
            if bit < 64:
                low[at] |= <uint64_t>1 << bit
            else:
                high[at] |= <uint64_t>1 << (bit - 64)
            height[at] = 1
            depth = depths[at]
            above[depth] = at
            parent[at] = above[depth - 1] if depth > 1 else -1
        first[size] = count
        for at in range(size - 1, -1, -1):
            up = parent[at]
            if up >= 0:
                low[up] |= low[at]
                high[up] |= high[at]
                height[up] = max(height[up], height[at] + 1)
