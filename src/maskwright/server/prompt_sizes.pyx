"""Reads the text of a body once, from left to right, and makes no objects of it.

What is no JSON ends the reading: `fail` puts the reader at the end, where bytes have a NUL, with
which nothing goes on. Whatever reads a value begins at its first byte and ends after its last.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy, strlen

from maskwright.native cimport BUILT_FROM
from maskwright.native import require_built

require_built(__name__, BUILT_FROM)

cdef enum:
    MOST_LEVELS = 128
    MOST_DIGITS = 4300
    NAME_BYTES = 32  # more than the names have that are looked for
    SYSTEM = 1
    USER = 2
    TOOL = 4

MAX_DEPTH = MOST_LEVELS
MAX_DIGITS = MOST_DIGITS

cdef uint64_t EACH = 0x0101010101010101
cdef uint64_t HIGH = 0x8080808080808080


cdef struct Bound:
    int64_t shrinks
    int64_t longest


cdef struct Reader:
    const uint8_t *at
    const uint8_t *end
    bint is_broken
    Bound bound


# The size of a text is in parts of a byte: a byte has `shrinks` parts where all are ASCII, else 1.
cdef struct Text:
    int64_t size
    int64_t stripped  # without the space around it
    int64_t length  # in bytes
    uint8_t name[NAME_BYTES]  # its beginning


cdef struct Least:
    int64_t most  # tokens of one prompt
    int64_t total


cdef struct Message:
    int32_t role  # 0: another one than those that count
    bint is_output
    int64_t content
    int64_t output


cdef struct Chat:
    int32_t shown
    int64_t size
    int64_t system  # of the first item, where it is a system's message


cdef inline void fail(Reader *r) noexcept nogil:
    r.is_broken = True
    r.at = r.end


# Strings


cdef inline bint is_plain(uint8_t byte) noexcept nogil:
    """Whether a byte of a string is a character as it stands."""
    return 0x20 <= byte < 0x80 and byte != c'"' and byte != c'\\'


cdef inline bint are_plain(const uint8_t *at) noexcept nogil:
    """Whether each of eight bytes is: a difference or a byte itself has its highest bit set where
    it isn't."""
    cdef uint64_t word, quote, backslash
    memcpy(&word, at, 8)
    quote, backslash = word ^ EACH * 0x22, word ^ EACH * 0x5C
    return (word | (word - EACH * 0x20) | (quote - EACH) | (backslash - EACH)) & HIGH == 0


cdef bint is_space(uint32_t point) noexcept nogil:
    """Whether `str.strip` removes a character."""
    if point < 0x80:
        return point == 0x20 or 0x09 <= point <= 0x0D or 0x1C <= point <= 0x1F
    if point < 0x1680:
        return point == 0x85 or point == 0xA0
    return (
        point == 0x1680 or 0x2000 <= point <= 0x200A or point == 0x2028 or point == 0x2029
        or point == 0x202F or point == 0x205F or point == 0x3000
    )


cdef inline bint follows(uint8_t byte) noexcept nogil:
    return byte & 0xC0 == 0x80


cdef void skip_letters(Reader *r) noexcept nogil:
    """Read on while characters have two bytes from U+00C0 on, or three from U+4000 on: these are no
    space."""
    cdef uint8_t first = r.at[0]
    while True:
        if 0xC3 <= first < 0xE0 and follows(r.at[1]):
            r.at += 2
        elif 0xE4 <= first < 0xF0 and first != 0xED and follows(r.at[1]) and follows(r.at[2]):
            r.at += 3
        else:
            return
        first = r.at[0]


cdef uint32_t multibyte(Reader *r) noexcept nogil:
    """Read a character of several bytes."""
    cdef const uint8_t *at = r.at
    cdef uint8_t first = at[0]
    if 0xC2 <= first < 0xE0 and follows(at[1]):
        r.at += 2
        return (first & 0x1F) << 6 | (at[1] & 0x3F)
    if 0xE0 <= first < 0xF0 and follows(at[1]) and follows(at[2]):
        if not (first == 0xE0 and at[1] < 0xA0 or first == 0xED and at[1] > 0x9F):
            r.at += 3
            return (first & 0x0F) << 12 | (at[1] & 0x3F) << 6 | (at[2] & 0x3F)
    if 0xF0 <= first < 0xF5 and follows(at[1]) and follows(at[2]) and follows(at[3]):
        if not (first == 0xF0 and at[1] < 0x90 or first == 0xF4 and at[1] > 0x8F):
            r.at += 4
            return (
                (<uint32_t>first & 0x07) << 18 | (at[1] & 0x3F) << 12 | (at[2] & 0x3F) << 6
                | (at[3] & 0x3F)
            )
    fail(r)
    return 0


cdef uint32_t unit(Reader *r) noexcept nogil:
    """Read four hexadecimal digits."""
    cdef uint32_t value = 0
    cdef uint8_t byte
    cdef int32_t count
    for count in range(4):
        byte = r.at[0]
        if c'0' <= byte <= c'9':
            value = value << 4 | (byte - c'0')
        elif c'a' <= byte | 0x20 <= c'f':
            value = value << 4 | ((byte | 0x20) - c'a' + 10)
        else:
            fail(r)
            return 0
        r.at += 1
    return value


cdef uint32_t escaped(Reader *r) noexcept nogil:
    """Read a character after a backslash."""
    cdef uint8_t byte = r.at[0]
    cdef uint32_t high, low
    r.at += 1
    if byte == c'n':
        return 0x0A
    if byte == c'"' or byte == c'\\' or byte == c'/':
        return byte
    if byte == c't':
        return 0x09
    if byte == c'r':
        return 0x0D
    if byte == c'b':
        return 0x08
    if byte == c'f':
        return 0x0C
    if byte == c'u':
        high = unit(r)
        if high & 0xF800 != 0xD800:
            return high
        if high < 0xDC00 and r.at[0] == c'\\' and r.at[1] == c'u':
            r.at += 2
            low = unit(r)
            if low & 0xFC00 == 0xDC00:
                return 0x10000 + ((high & 0x3FF) << 10 | (low & 0x3FF))
    fail(r)
    return 0


cdef inline int64_t width(uint32_t point) noexcept nogil:
    return 1 if point < 0x80 else 2 if point < 0x800 else 3 if point < 0x10000 else 4


cdef void note_name(Text *text, int64_t at, const uint8_t *of, int64_t size) noexcept nogil:
    if at < NAME_BYTES:
        memcpy(&text.name[at], of, <size_t>min(size, NAME_BYTES - at))


cdef void read_string(Reader *r, Text *text) noexcept nogil:
    cdef int64_t size = 0  # bytes so far
    cdef int64_t begin = -1, end = 0  # of the text without the space around it
    cdef bint is_ascii = True  # all of it
    cdef bint inner = True, stripped = True  # from `begin` so far; from `begin` to `end`
    cdef const uint8_t *first
    cdef const uint8_t *last
    cdef const uint8_t *start
    cdef uint32_t point
    cdef uint8_t byte
    r.at += 1
    while True:
        start = r.at
        while r.end - r.at >= 8 and are_plain(r.at):
            r.at += 8
        while is_plain(r.at[0]):
            r.at += 1
        if r.at != start:
            note_name(text, size, start, r.at - start)
            last = r.at
            while last > start and (last - 1)[0] == c' ':
                last -= 1
            if last > start:
                if begin < 0:
                    first = start
                    while first[0] == c' ':
                        first += 1
                    begin = size + (first - start)
                end = size + (last - start)
                stripped = inner
            size += r.at - start
        start = r.at
        skip_letters(r)
        if r.at != start:
            note_name(text, size, start, 1)
            if begin < 0:
                begin = size
            size += r.at - start
            end = size
            is_ascii = inner = stripped = False
            continue
        byte = r.at[0]
        if byte == c'"':
            r.at += 1
            break
        if byte == c'\\':
            r.at += 1
            point = escaped(r)
        elif byte >= 0x80:
            point = multibyte(r)
        else:
            fail(r)
        if r.is_broken:
            return
        byte = <uint8_t>point if point < 0x80 else 0xFF  # which is in no name
        note_name(text, size, &byte, 1)
        is_ascii = is_ascii and point < 0x80
        if not is_space(point):
            if begin < 0:
                begin = size
            inner = inner and point < 0x80
            stripped = inner
            end = size + width(point)
        elif begin >= 0:
            inner = inner and point < 0x80
        size += width(point)
    text.length = size
    text.size = size * r.bound.shrinks if is_ascii else size
    size = end - begin if begin >= 0 else 0
    text.stripped = size * r.bound.shrinks if stripped else size


cdef bint is_name(const Text *text, const char *name) noexcept nogil:
    cdef int64_t length = <int64_t>strlen(name)
    return text.length == length and memcmp(text.name, name, <size_t>length) == 0


# Values


cdef inline void skip_space(Reader *r) noexcept nogil:
    while r.at[0] == c' ' or r.at[0] == c'\n' or r.at[0] == c'\r' or r.at[0] == c'\t':
        r.at += 1


cdef bint next_item(Reader *r, bint is_first) noexcept nogil:
    """Go from the beginning of an array, or the end of one of its items, to the next item. False
    if there is none: then the array is read, or the reader has failed."""
    if not is_first:
        skip_space(r)
        if r.at[0] == c']':
            r.at += 1
            return False
        if r.at[0] != c',':
            fail(r)
            return False
    r.at += 1
    skip_space(r)
    if is_first and r.at[0] == c']':
        r.at += 1
        return False
    return not r.is_broken


cdef bint next_member(Reader *r, bint is_first, Text *name) noexcept nogil:
    """Like `next_item` in an object, to the value of the next member."""
    if not is_first:
        skip_space(r)
        if r.at[0] == c'}':
            r.at += 1
            return False
        if r.at[0] != c',':
            fail(r)
            return False
    r.at += 1
    skip_space(r)
    if is_first and r.at[0] == c'}':
        r.at += 1
        return False
    if r.at[0] != c'"':
        fail(r)
        return False
    read_string(r, name)
    skip_space(r)
    if r.at[0] != c':':
        fail(r)
        return False
    r.at += 1
    skip_space(r)
    return True


cdef int64_t digits(Reader *r) noexcept nogil:
    cdef const uint8_t *start = r.at
    while c'0' <= r.at[0] <= c'9':
        r.at += 1
    return r.at - start


cdef void read_number(Reader *r) noexcept nogil:
    cdef int64_t whole = 1
    cdef bint is_integer = True
    if r.at[0] == c'-':
        r.at += 1
    if r.at[0] == c'0':
        r.at += 1
    else:
        whole = digits(r)
        if whole == 0:
            fail(r)
    if r.at[0] == c'.':
        is_integer = False
        r.at += 1
        if digits(r) == 0:
            fail(r)
    if r.at[0] == c'e' or r.at[0] == c'E':
        is_integer = False
        r.at += 1
        if r.at[0] == c'+' or r.at[0] == c'-':
            r.at += 1
        if digits(r) == 0:
            fail(r)
    if is_integer and whole > MOST_DIGITS:
        fail(r)


cdef void read_word(Reader *r, const char *word) noexcept nogil:
    cdef int64_t length = <int64_t>strlen(word)
    if r.end - r.at >= length and memcmp(r.at, word, <size_t>length) == 0:
        r.at += length
    else:
        fail(r)


cdef void read_any(Reader *r, int32_t level) noexcept nogil:
    """Read a value that doesn't matter."""
    cdef Text text
    cdef bint more
    cdef uint8_t byte = r.at[0]
    if level > MOST_LEVELS:
        fail(r)
    elif byte == c'"':
        read_string(r, &text)
    elif byte == c'{':
        more = next_member(r, True, &text)
        while more:
            read_any(r, level + 1)
            more = next_member(r, False, &text)
    elif byte == c'[':
        more = next_item(r, True)
        while more:
            read_any(r, level + 1)
            more = next_item(r, False)
    elif byte == c't':
        read_word(r, b"true")
    elif byte == c'f':
        read_word(r, b"false")
    elif byte == c'n':
        read_word(r, b"null")
    else:
        read_number(r)


cdef bint read_text(Reader *r, int32_t level, Text *text) noexcept nogil:
    """Read a value, and return whether it is a string; else `text` is empty."""
    text.size = text.stripped = text.length = 0
    if r.at[0] == c'"':
        read_string(r, text)
        return True
    read_any(r, level)
    return False


# Prompts


cdef int64_t tokens(const Bound *bound, int64_t size) noexcept nogil:
    """The least tokens of a text of some size."""
    if bound.shrinks == 0:
        return 0
    cdef int64_t divisor = bound.longest * bound.shrinks
    return (size + divisor - 1) // divisor


cdef void add_prompt(Least *least, int64_t count) noexcept nogil:
    least.most = max(least.most, count)
    least.total += count


cdef int64_t read_part(Reader *r, int32_t level) noexcept nogil:
    """Read an object, and return the size of its text."""
    cdef Text name, text
    cdef int64_t size = 0
    cdef bint more = next_member(r, True, &name)
    while more:
        if is_name(&name, b"text"):
            read_text(r, level + 1, &text)
            size = text.stripped
        else:
            read_any(r, level + 1)
        more = next_member(r, False, &name)
    return size


cdef int64_t read_content(Reader *r, int32_t level) noexcept nogil:
    """Read the text of a message, or its parts, and return their size."""
    cdef Text text
    cdef int64_t size = 0
    cdef bint more
    if r.at[0] != c'[':
        read_text(r, level, &text)
        return text.stripped
    more = next_item(r, True)
    while more:
        if r.at[0] == c'{':
            size += read_part(r, level + 1)
        else:
            read_text(r, level + 1, &text)
            size += text.stripped
        more = next_item(r, False)
    return size


cdef int32_t role_of(const Text *text) noexcept nogil:
    if is_name(text, b"user"):
        return USER
    if is_name(text, b"system") or is_name(text, b"developer"):
        return SYSTEM
    if is_name(text, b"tool") or is_name(text, b"function"):
        return TOOL
    return 0


cdef void read_message(Reader *r, int32_t level, Message *message, bint has_outputs) noexcept nogil:
    cdef Text name, text
    cdef bint more = next_member(r, True, &name)
    message.role = message.is_output = message.content = message.output = 0
    while more:
        if is_name(&name, b"role"):
            read_text(r, level + 1, &text)
            message.role = role_of(&text)
        elif is_name(&name, b"content"):
            message.content = read_content(r, level + 1)
        elif has_outputs and is_name(&name, b"output"):
            message.output = read_content(r, level + 1)
        elif has_outputs and is_name(&name, b"type"):
            read_text(r, level + 1, &text)
            message.is_output = (
                is_name(&text, b"function_call_output")
                or is_name(&text, b"custom_tool_call_output")
            )
        else:
            read_any(r, level + 1)
        more = next_member(r, False, &name)
    if message.is_output:
        message.role, message.content = TOOL, message.output


cdef void read_chat(Reader *r, int32_t level, Chat *chat, bint has_outputs) noexcept nogil:
    """Read the messages of a chat."""
    cdef Message message
    cdef bint is_first = True, more = next_item(r, True)
    while more:
        if r.at[0] == c'{':
            read_message(r, level + 1, &message, has_outputs)
            if message.role & chat.shown:
                if message.role != SYSTEM:
                    chat.size += message.content
                elif is_first:
                    chat.system = message.content
        else:
            read_any(r, level + 1)
        is_first = False
        more = next_item(r, False)


cdef int64_t read_items(Reader *r, int32_t level) noexcept nogil:
    """Read an array, and return how many items it has."""
    cdef int64_t count = 0
    cdef bint more = next_item(r, True)
    while more:
        count += 1
        read_any(r, level + 1)
        more = next_item(r, False)
    return count


cdef void read_prompts(Reader *r, int32_t level, Least *least) noexcept nogil:
    """Read a text, token ids, or an array of several of these."""
    cdef Text text
    cdef int64_t count = 0
    cdef bint more, is_many
    if r.at[0] != c'[':
        read_text(r, level, &text)
        add_prompt(least, tokens(&r.bound, text.size))
        return
    more = next_item(r, True)
    is_many = r.at[0] == c'[' or r.at[0] == c'"'
    while more:
        count += 1
        if is_many and r.at[0] == c'[':
            add_prompt(least, read_items(r, level + 1))
        elif is_many:
            read_text(r, level + 1, &text)
            add_prompt(least, tokens(&r.bound, text.size))
        else:
            read_any(r, level + 1)
        more = next_item(r, False)
    if not is_many:
        add_prompt(least, count)


cdef Least read_body(
    Reader *r, const char *place, int32_t shown, bint instructed
) noexcept nogil:
    cdef Least least = Least(0, 0)
    cdef Chat chat = Chat(shown, 0, 0)
    cdef Text name, text
    cdef bint is_cut = False, more
    cdef bint has_outputs = place[0] == c'i', is_chat = has_outputs or place[0] == c'm'
    cdef int64_t instructions = -1
    skip_space(r)
    if r.at[0] != c'{':
        fail(r)
        return least
    more = next_member(r, True, &name)
    while more:
        if is_name(&name, place):
            least, chat = Least(0, 0), Chat(shown, 0, 0)  # the last of equal names counts
            if not is_chat:
                read_prompts(r, 2, &least)
            elif r.at[0] == c'[':
                read_chat(r, 2, &chat, has_outputs)
            else:
                read_text(r, 2, &text)
                if has_outputs and shown & USER:
                    chat.size = text.stripped
        elif is_name(&name, b"truncate_prompt_tokens"):
            is_cut = r.at[0] != c'n'
            read_any(r, 2)
        elif has_outputs and is_name(&name, b"instructions"):
            instructions = text.stripped if read_text(r, 2, &text) else -1
        else:
            read_any(r, 2)
        more = next_member(r, False, &name)
    skip_space(r)
    if r.at != r.end:
        fail(r)
    if is_chat:
        if instructions >= 0:  # which are the first message
            chat.system = instructions if instructed and shown & SYSTEM else 0
        add_prompt(&least, tokens(&r.bound, chat.size + chat.system))
    return Least(0, 0) if is_cut else least


def least_tokens(
    bytes body not None, str place not None, shown, int64_t shrinks, int64_t longest, *,
    bint instructed=True,
):
    if place not in ("messages", "input", "prompt"):
        raise ValueError(f"no prompts are in the field {place}")
    if shrinks < 0 or longest < 1:
        raise ValueError("a size must be above 0")
    cdef bytes name = place.encode()
    cdef const char *field = name
    cdef const char *data = body
    cdef int32_t roles = (
        SYSTEM * ("system" in shown) | USER * ("user" in shown) | TOOL * ("tool" in shown)
    )
    cdef Reader r
    cdef Least least
    r.at = <const uint8_t *>data
    r.end = r.at + len(body)
    r.is_broken = False
    r.bound = Bound(shrinks, longest)
    with nogil:
        least = read_body(&r, field, roles, instructed)
    return None if r.is_broken else (least.most, least.total)
