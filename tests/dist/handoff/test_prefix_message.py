"""The head of a message with blocks."""

from __future__ import annotations

import json

import pytest

from maskwright.dist.handoff.prefix_message import cut_head, pack_prefix, unpack_prefix
from maskwright.engine.step.exchange import KvLayout, KvPrefix
from maskwright.errors import InputError

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
