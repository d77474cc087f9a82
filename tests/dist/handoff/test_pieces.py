"""Blocks as bytes: every cut has the same pieces, and a damaged byte costs its own piece."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maskwright.dist.handoff.pieces import (
    CHUNK_BLOCKS,
    Assembly,
    Contents,
    Cutting,
    Piece,
    cut_blocks,
    cut_head,
    pack_message,
    pack_prefix,
    unpack_message,
    unpack_prefix,
)
from maskwright.engine.kv.block_keys import block_keys
from maskwright.engine.step.exchange import KvLayout, KvPrefix
from maskwright.errors import InputError

LAYERS, NBYTES, BLOCKS = 3, 40, 19
TOKENS = list(range(4 * BLOCKS))
KEYS = block_keys(TOKENS, 4, "salt")
HEAD = 32


def blocks(count: int = BLOCKS, begin: int = 0) -> dict[int, Contents]:
    rng = np.random.default_rng(0)
    return {
        number: rng.integers(0, 256, (LAYERS, NBYTES), np.uint8)
        for number in range(begin, begin + count)
    }


def messages(contents: dict[int, Contents], cut: Cutting) -> list[bytes]:
    return [pack_message(pieces, KEYS) for pieces in cut_blocks(contents, cut)]


def assembled(sent: list[bytes], keys: list[bytes] = KEYS) -> dict[int, Contents]:
    assembly = Assembly(LAYERS)
    for message in sent:
        for piece in unpack_message(message, keys):
            assembly.add(piece)
    return assembly.complete()


def same(one: dict[int, Contents], other: dict[int, Contents]) -> bool:
    return set(one) == set(other) and all(np.array_equal(one[i], other[i]) for i in one)


@pytest.mark.parametrize(
    ("cut", "count", "pieces"),
    [
        (Cutting.WHOLE, 1, BLOCKS),
        (Cutting.BY_LAYER, LAYERS, BLOCKS * LAYERS),
        (Cutting.BY_CHUNK, -(-BLOCKS // CHUNK_BLOCKS), BLOCKS),
    ],
)
def test_every_cut_has_the_bytes_of_all_blocks_once(cut: Cutting, count: int, pieces: int) -> None:
    sent = messages(blocks(), cut)
    assert len(sent) == count
    assert sum(map(len, sent)) == BLOCKS * LAYERS * NBYTES + pieces * HEAD
    assert same(assembled(sent), blocks())
    assert same(assembled(sent[::-1]), blocks()), "the order of messages matters"
    assert messages({}, cut) == []


@settings(max_examples=60)
@given(cut=st.sampled_from(Cutting), place=st.integers(0, 10**6), flip=st.integers(1, 255))
def test_a_damaged_byte_is_found(cut: Cutting, place: int, flip: int) -> None:
    """Wherever it is. In the contents it costs one piece, in a length what follows as well; what
    does arrive is right."""
    sent = messages(blocks(), cut)
    which = place % len(sent)
    damaged = bytearray(sent[which])
    at = place % len(damaged)
    damaged[at] ^= flip
    arrived = assembled([*sent[:which], bytes(damaged), *sent[which + 1 :]])
    assert len(arrived) < BLOCKS
    assert same(arrived, {number: blocks()[number] for number in arrived})
    piece = HEAD + (NBYTES if cut is Cutting.BY_LAYER else NBYTES * LAYERS)
    if at % piece >= HEAD:
        assert len(arrived) == BLOCKS - 1


@settings(max_examples=40)
@given(cut=st.sampled_from(Cutting), length=st.integers(0, 3000))
def test_what_is_cut_off_is_missing(cut: Cutting, length: int) -> None:
    sent = messages(blocks(), cut)
    arrived = assembled([sent[0][:length], *sent[1:]])
    assert same(arrived, {number: blocks()[number] for number in arrived})
    if length < len(sent[0]):
        assert len(arrived) < BLOCKS


def test_a_piece_belongs_to_its_tokens() -> None:
    """One of another request, salt or place is not taken for one of this."""
    sent = messages(blocks(), Cutting.WHOLE)
    assert assembled(sent, block_keys(TOKENS, 4, "other")) == {}
    other = block_keys([*TOKENS[:37], 0, *TOKENS[38:]], 4, "salt")
    assert sorted(assembled(sent, other)) == list(range(37 // 4))
    assert sorted(assembled(sent, KEYS[:5])) == list(range(5))


def test_blocks_that_are_needed_no_longer_are_forgotten() -> None:
    assembly = Assembly(LAYERS)
    for message in messages(blocks(4), Cutting.BY_LAYER):
        for piece in unpack_message(message, KEYS):
            assembly.add(piece)
    assembly.forget(3)
    assert sorted(assembly.complete()) == [3]


def test_a_block_is_complete_with_its_last_layer() -> None:
    assembly = Assembly(LAYERS)
    for layer, message in enumerate(messages(blocks(2), Cutting.BY_LAYER), 1):
        for piece in unpack_message(message, KEYS):
            assembly.add(piece)
        assert len(assembly.complete()) == (2 if layer == LAYERS else 0)


def test_a_block_may_come_as_a_whole_and_in_parts() -> None:
    """The piece that came last counts, whichever way a block was cut."""
    first, last = (np.full((LAYERS, 4), value, np.uint8) for value in (1, 2))
    assembly = Assembly(LAYERS)
    assembly.add(Piece(0, 0, first))
    assembly.add(Piece(0, 1, last[1:2]))
    assert assembly.complete()[0][:, 0].tolist() == [1, 2, *[1] * (LAYERS - 2)]
    assembly.add(Piece(0, 0, last))
    assert assembly.complete()[0].tolist() == last.tolist()
    assembly.forget(1)
    assert assembly.complete() == {}


LAYOUT = KvLayout("digest", ("demo", "torch.float32", "auto"), 16, 4, 4096)
PREFIX = KvPrefix(("model", "", "é"), [1, 2, 70_000])


def test_what_is_packed_comes_back() -> None:
    head, rest = cut_head(pack_prefix(LAYOUT, PREFIX) + b"rest")
    assert (unpack_prefix(head), rest) == ((LAYOUT, PREFIX), b"rest")


def damaged(**changes: object) -> bytes:
    head = json.loads(pack_prefix(LAYOUT, PREFIX)[4:])
    text = json.dumps({**head, **changes}).encode()
    return len(text).to_bytes(4, "little") + text


@pytest.mark.parametrize(
    "message",
    [
        *(b"", b"\x01", b"\xff\xff\xff\xff{}", b"\x02\x00\x00\x00[]"),
        pack_prefix(LAYOUT, PREFIX)[:-1],
        *(damaged(tokens=[-1]), damaged(tokens=[1 << 32]), damaged(tokens=["a"])),
        *(damaged(layout={}), damaged(layout=5), damaged(salt=None)),
    ],
)
def test_anything_else_is_refused(message: bytes) -> None:
    with pytest.raises(InputError, match="no message about blocks"):
        unpack_prefix(cut_head(message)[0])
