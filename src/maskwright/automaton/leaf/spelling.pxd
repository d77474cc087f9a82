"""How characters are spelled byte by byte: as UTF-8, and inside a JSON string also by escapes.

This is the only place where these rules stand. A character that has been begun is two numbers: its
part says which bytes are missing, its value what is known of the code point.
"""

from libc.stdint cimport int32_t, uint8_t

cpdef enum:
    # How much of a character has been read.
    BETWEEN = 0
    BACKSLASH = 4
    DIGITS = 4
    PAIR = 9
    PAIR_U = 10
    PAIR_DIGITS = 10
    ANY_BYTES = 15
    ANY_DIGITS = 20

cdef enum:
    # Ranges of code points that a character can become, at most.
    MOST_RANGES = 3


# How much of a character has been read, and what of its code point is known.
cdef struct Character:
    int32_t part
    int32_t value


# Code points, ascending: `first` to `last`, each included.
cdef struct Points:
    int32_t count
    int32_t first[MOST_RANGES]
    int32_t last[MOST_RANGES]


cdef inline int32_t digit_of(uint8_t byte) noexcept nogil:
    if 0x30 <= byte <= 0x39:
        return byte - 0x30
    if 0x41 <= byte <= 0x46:
        return byte - 0x37
    if 0x61 <= byte <= 0x66:
        return byte - 0x57
    return -1


cdef inline Character begin(uint8_t byte) noexcept nogil:
    """After the first byte of a character that is not plain ASCII."""
    if byte == 0x5C:
        return Character(BACKSLASH, 0)
    if 0xC2 <= byte < 0xE0:
        return Character(1, byte & 0x1F)
    if 0xE0 <= byte < 0xF0:
        return Character(2, byte & 0x0F)
    if 0xF0 <= byte < 0xF5:
        return Character(3, byte & 0x07)
    return Character(-1, 0)


cdef inline Character go_on(uint8_t byte, int32_t part, int32_t value) noexcept nogil:
    """After a continuation byte of UTF-8, of which `part` were missing."""
    if byte & 0xC0 != 0x80:
        return Character(-1, 0)
    value = value << 6 | (byte & 0x3F)
    # After the second byte: neither a longer form of a short one, nor a surrogate, nor too large.
    if part == 2 and (value < 0x20 or 0x360 <= value < 0x380):
        return Character(-1, 0)
    if part == 3 and (value < 0x10 or value >= 0x110):
        return Character(-1, 0)
    return Character(part - 1, value)


cdef inline Character escaped(uint8_t byte) noexcept nogil:
    """After the byte that follows a backslash."""
    if byte == 0x75:
        return Character(DIGITS + 4, 0)
    if byte == 0x22 or byte == 0x5C or byte == 0x2F:
        return Character(BETWEEN, byte)
    if byte == 0x62:
        return Character(BETWEEN, 8)
    if byte == 0x66:
        return Character(BETWEEN, 12)
    if byte == 0x6E:
        return Character(BETWEEN, 10)
    if byte == 0x72:
        return Character(BETWEEN, 13)
    if byte == 0x74:
        return Character(BETWEEN, 9)
    return Character(-1, 0)


cdef inline Character after_digit(uint8_t byte, int32_t part, int32_t value) noexcept nogil:
    """After a hexadecimal digit of `\\uXXXX`, or of a low surrogate."""
    cdef int32_t digit = digit_of(byte), low
    if digit < 0:
        return Character(-1, 0)
    value = (value & 0x3FF0000) | (value & 0xFFFF) << 4 | digit
    part -= 1
    if part == DIGITS:
        if 0xD800 <= value < 0xDC00:
            return Character(PAIR, (value - 0xD800) << 16)
        if 0xDC00 <= value < 0xE000:
            return Character(-1, 0)
        return Character(BETWEEN, value)
    if part == PAIR_DIGITS:
        low = value & 0xFFFF
        if not 0xDC00 <= low < 0xE000:
            return Character(-1, 0)
        return Character(BETWEEN, 0x10000 + ((value >> 16) << 10) + (low - 0xDC00))
    return Character(part, value)


cdef inline int32_t skipped(uint8_t byte, int32_t part) noexcept nogil:
    """The part after a byte of a character whose target is known already."""
    if part < ANY_DIGITS:
        if byte & 0xC0 != 0x80:
            return -1
        return BETWEEN if part - 1 == ANY_BYTES else part - 1
    if digit_of(byte) < 0:
        return -1
    return BETWEEN if part - 1 == ANY_DIGITS else part - 1


cdef inline Character read_byte(uint8_t byte, Character begun) noexcept nogil:
    """After a byte within a character or at the start of one that is not plain ASCII. (0, point)
    for a character that is complete, (0, -1) for one whose target is known already; a part < 0
    where the byte can't stand."""
    cdef int32_t part = begun.part, value = begun.value
    if part == BETWEEN:
        return begin(byte)
    if part < BACKSLASH:
        return go_on(byte, part, value)
    if part == BACKSLASH:
        return escaped(byte)
    if part > ANY_BYTES:
        return Character(skipped(byte, part), -1)
    if part == PAIR:
        return Character(PAIR_U if byte == 0x5C else -1, value)
    if part == PAIR_U:
        return Character(PAIR_DIGITS + 4 if byte == 0x75 else -1, value)
    return after_digit(byte, part, value)


cdef inline void add_points(Points *points, int32_t first, int32_t last) noexcept nogil:
    if first <= last:
        points.first[points.count] = first
        points.last[points.count] = last
        points.count += 1


cdef inline void points_of(Character begun, Points *points) noexcept nogil:
    """The code points that a character can become of which something has been read, by part below
    `ANY_BYTES`."""
    cdef int32_t part = begun.part, value = begun.value, low, high, size, plane
    points.count = 0
    if part > DIGITS + 4:
        size = 4 * (part - PAIR_DIGITS) if part > PAIR_U else 16
        low = (value & 0xFFFF) << size
        high = low + (1 << size) - 1
        plane = 0x10000 + ((value >> 16) << 10)
        add_points(points, plane + max(low, 0xDC00) - 0xDC00, plane + min(high, 0xDFFF) - 0xDC00)
        return
    if part <= 3:
        low = value << (6 * part)
        high = min(low + (1 << (6 * part)) - 1, 0x10FFFF)
        if part:
            low = max(low, 0x80 if part == 1 else 0x800 if part == 2 else 0x10000)
    elif part == BACKSLASH:
        low, high = 0, 0x10FFFF
    else:
        size = 4 * (part - DIGITS)
        low = value << size
        high = low + (1 << size) - 1
    add_points(points, low, min(high, 0xD7FF))
    add_points(points, max(low, 0xE000), high)
    if part > BACKSLASH:  # pairs of surrogates
        low, high = max(low, 0xD800), min(high, 0xDBFF)
        if low <= high:
            add_points(
                points, 0x10000 + ((low - 0xD800) << 10), 0x10000 + ((high - 0xD800) << 10) + 0x3FF
            )
