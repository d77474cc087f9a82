"""How characters are spelled byte by byte, for whoever builds rows in Python."""

from functools import lru_cache

from maskwright.native cimport BUILT_FROM
from maskwright.native import require_built

require_built(__name__, BUILT_FROM)


@lru_cache(4096)
def following(int32_t part, int32_t value):
    cdef int32_t byte
    cdef Character after
    cdef list found = []
    for byte in range(256):
        after = read_byte(<uint8_t>byte, Character(part, value))
        if after.part >= 0:
            found.append((byte, after.part, after.value))
    return tuple(found)


def points(int32_t part, int32_t value):
    cdef Points found
    points_of(Character(part, value), &found)
    return [(found.first[at], found.last[at]) for at in range(found.count)]
