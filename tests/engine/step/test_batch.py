"""The tokens, rows and adapters that the chunks of a step ask the forward for."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.engine.schedule.chunk import Chunk
from maskwright.engine.schedule.sequence import Sequence
from maskwright.engine.step.batch import build_runs
from maskwright.models import Adapter, lay_out

SIZE = 4


def batch(*chunks: Chunk, adapters: Any = None) -> Any:
    """The batch of some chunks, for a decoder that plans attention as the spans themselves."""
    plan: Any = lambda spans, block_size: (spans, block_size)  # noqa: E731
    return lay_out(build_runs(chunks, adapters), SIZE, plan)


def sequence(tokens: list[int], table: list[int], **fields: Any) -> Sequence:
    return Sequence(1, tokens, len(tokens), 99, table=table, **fields)


TOKENS: list[tuple[Chunk, list[int]]] = [
    # a chunk, and the tokens that it computes
    (Chunk(sequence([10, 11, 12, 13, 14], [1, 2]), 0, 3, False), [10, 11, 12]),
    (Chunk(sequence([10, 11, 12, 13, 14], [1, 2]), 3, 2, True), [13, 14]),
    (Chunk(sequence([10, 11], [1], draft=[20, 21, 22]), 1, 3, True, 2), [11, 20, 21]),
    (Chunk(sequence([10, 11], [1], draft=[20, 21, 22]), 0, 2, True), [10, 11]),
    (Chunk(sequence([10], [1], draft=[20]), 0, 2, True, 1), [10, 20]),
]


@pytest.mark.parametrize(("chunk", "tokens"), TOKENS)
def test_tokens_and_drafts(chunk: Chunk, tokens: list[int]) -> None:
    found = batch(chunk)
    count = len(tokens)
    assert found.tokens[:count].tolist() == tokens
    assert found.positions[:count].tolist() == list(range(chunk.start, chunk.start + count))
    assert len(found.blocks) == count
    (span,), size = found.attention
    assert (span.first, span.start, span.count, size) == (0, chunk.start, count, SIZE)


def test_rows_are_in_the_order_of_the_chunks() -> None:
    first = Chunk(sequence([1, 2, 3, 4, 5], [7, 3]), 3, 2, True)
    second = Chunk(sequence([6, 7, 8], [5]), 0, 2, False)
    third = Chunk(sequence([9], [2], draft=[8, 7]), 0, 3, True, 2)
    found = batch(first, second, third)
    assert found.tokens[:7].tolist() == [4, 5, 6, 7, 9, 8, 7]
    assert found.blocks.tolist() == [7, 3, 5, 5, 2, 2, 2]
    assert found.offsets.tolist() == [3, 0, 0, 1, 0, 1, 2]
    # One row of the first, none of the second, three of the third.
    assert found.select[:4].tolist() == [1, 4, 5, 6]


def test_each_sequence_has_its_adapter() -> None:
    one, other = Adapter({}), Adapter({})
    chunks = [
        Chunk(sequence([1, 2], [1], adapter="one"), 0, 2, True),
        Chunk(sequence([3], [2]), 0, 1, True),
        Chunk(sequence([4], [3], adapter="other"), 0, 1, True),
        Chunk(sequence([5], [4], adapter="one"), 0, 1, True),
    ]
    found = batch(*chunks, adapters={"one": one, "other": other})
    rows = {id(group.adapter): group.rows[: group.count].tolist() for group in found.adapters}
    assert rows == {id(one): [0, 1, 4], id(other): [3]}
    assert batch(*chunks, adapters=None).adapters == ()
