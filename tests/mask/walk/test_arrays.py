"""What a walk reads: each array is listed in its own place, and compiled code finds it there."""

# Compiled code: array elements are plain numbers here, which numpy's types don't say.
# pyright: reportUntypedFunctionDecorator=false, reportArgumentType=false
# pyright: reportUnknownParameterType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportMissingParameterType=false
from __future__ import annotations

import numpy as np
import pytest

from maskwright import Vocabulary, compile_json_schema
from maskwright.compiled import compiled
from maskwright.mask.walk.arrays import (
    CHAIN,
    MEMO,
    STATES,
    Directory,
    Scratch,
    SiblingTable,
    Spelling,
    needs,
    row_arrays,
    scratch_arrays,
    sibling_trie,
    spelling,
)
from maskwright.mask.walk.row_table import RowTable
from maskwright.vocab.trie import SiblingTrie, Trie
from tests.matching import EVERY_BYTE

TOKENS = [b"ab", b"a", b"cde", b""]
VOCABULARY = Vocabulary(tuple(TOKENS), eos=3)


@compiled
def read(address, rest, found):
    """The addresses of the arrays that compiled code sees, and lengths that tell them apart."""
    scratch, rows, texts = scratch_arrays(address), row_arrays(address), spelling(address)
    leaf, node = needs(address)
    trie = sibling_trie(address, rest)
    found[0] = rows.slots.ctypes.data
    found[1] = rows.counts.ctypes.data
    found[2] = texts.data.ctypes.data
    found[3] = texts.eos.ctypes.data
    found[4] = scratch.leaf.ctypes.data
    found[5] = scratch.state.ctypes.data
    found[6] = leaf.ctypes.data
    found[7] = node.ctypes.data
    found[8] = trie.byte.ctypes.data
    found[9] = trie.roots
    found[10] = len(scratch.row)


def table_of(tokens: list[bytes]) -> tuple[SiblingTrie, SiblingTable]:
    trie = SiblingTrie.of(Trie.build(tokens))
    return trie, SiblingTable(trie)


@pytest.mark.parametrize("given", [False, True], ids=["all tokens", "the other tokens"])
def test_compiled_code_sees_the_arrays_that_were_written(given: bool) -> None:
    machine = compile_json_schema({"type": "null"}, EVERY_BYTE).recognizer.machine
    rows, words = RowTable(4), 4
    texts, scratch = Spelling.of(VOCABULARY), Scratch.of(3, words)
    (whole, whole_table), (rest, rest_table) = table_of(TOKENS), table_of([b"xyz"])
    leaf, node = np.zeros(5, np.int32), np.zeros(6, np.int32)
    directory = Directory()
    directory.write(
        machine.leaves.arrays, machine.arrays, rows.arrays, whole_table, texts, scratch, leaf, node
    )
    found = np.zeros(11, np.int64)
    read(directory.address, rest_table.address if given else 0, found)
    trie = rest if given else whole
    arrays = (rows.arrays.slots, rows.arrays.counts, texts.data, texts.eos, scratch.leaf,
              scratch.state, leaf, node, trie.byte)  # fmt: skip
    assert found[:9].tolist() == [array.ctypes.data for array in arrays]
    assert found[9:].tolist() == [trie.roots, 2 * words]
    assert (directory.leaves, directory.rows) == (machine.leaves.arrays, rows.arrays)


def test_tokens_are_spelled_one_after_the_other() -> None:
    texts = Spelling.of(VOCABULARY)
    assert bytes(texts.data) == b"abacde"
    assert texts.start.tolist() == [0, 2, 3, 6, 6]
    assert texts.eos.tolist() == [3]


@pytest.mark.parametrize(("height", "words"), [(1, 1), (7, 3)])
def test_scratch_has_room_for_the_longest_token(height: int, words: int) -> None:
    scratch = Scratch.of(height, words)
    depths = height + 2  # the start, each byte, and one more that a walk writes before it looks
    assert {len(scratch.leaf), len(scratch.node), len(scratch.passed)} == {depths * CHAIN}
    assert {len(scratch.known), len(scratch.cursor), len(scratch.stop)} == {depths}
    assert len(scratch.living) == 4 * depths
    assert (len(scratch.added), len(scratch.touched), len(scratch.row)) == (words, words, 2 * words)
    assert len(scratch.left) == 3 * MEMO
    assert set(scratch.left.tolist()) == {-1}, "empty"
    assert len(scratch.state) == STATES
    assert MEMO & (MEMO - 1) == 0
