"""A block as a file: what is recognised as damaged."""

from maskwright.engine.tiers.block_file import HEAD, USES, USES_AT, pack_block, unpack_block

KEY, CONTENTS = bytes(range(32)), bytes(range(200))


def test_every_flipped_bit_and_every_cut_is_recognised() -> None:
    """But for the counter of uses, which changes no contents."""
    data = pack_block(KEY, CONTENTS)
    assert unpack_block(KEY, data) == CONTENTS
    counter = range(USES_AT, USES_AT + USES.size)
    for place in range(len(data)):
        for bit in (1, 0x80):
            damaged = bytearray(data)
            damaged[place] ^= bit
            expected = CONTENTS if place in counter else None
            assert unpack_block(KEY, bytes(damaged)) == expected, place
    for end in range(len(data)):
        assert unpack_block(KEY, data[:end]) is None
    assert unpack_block(KEY, data + b"\0") is None
    assert len(data) == HEAD.size + len(CONTENTS)


def test_a_file_under_another_key_is_not_taken() -> None:
    assert unpack_block(KEY[::-1], pack_block(KEY, CONTENTS)) is None
