"""How many blocks a sliding window keeps."""

from __future__ import annotations

import pytest

from maskwright.engine.kv.blocks import AttentionWindow

SIZE = 4

OUTSIDE: list[tuple[int | None, int, int]] = [
    # window, tokens computed, blocks that are not read again
    (None, 10_000, 0),
    (8, 0, 0),
    (8, 9, 0),
    (8, 12, 0),  # the next token looks back on 5 … 12, and the one before it stays too
    (8, 13, 1),
    (8, 16, 1),
    (8, 17, 2),
    (7, 12, 1),
    (1, 8, 0),  # a whole block and a position are kept at least
    (1, 9, 1),
    (1, 12, 1),
    (1, 13, 2),
]


@pytest.mark.parametrize(("window", "computed", "blocks"), OUTSIDE)
def test_blocks_outside_the_window(window: int | None, computed: int, blocks: int) -> None:
    assert AttentionWindow(SIZE, 16, window).blocks_outside(computed) == blocks


MOST: list[tuple[int | None, int, int, int]] = [
    # window, tokens in a step, tokens in all, blocks at once
    (None, 16, 0, 0),
    (None, 16, 1, 1),
    (None, 16, 17, 5),
    (8, 16, 17, 5),
    (8, 16, 1000, 8),  # 25 positions can lie in eight blocks
    (8, 3, 1000, 4),
    (1, 3, 1000, 3),
    (8, 3, 12, 3),
]


@pytest.mark.parametrize(("window", "chunk", "tokens", "blocks"), MOST)
def test_the_most_blocks_at_once(window: int | None, chunk: int, tokens: int, blocks: int) -> None:
    assert AttentionWindow(SIZE, chunk, window).most_blocks(tokens) == blocks


@pytest.mark.parametrize("positions", [1, 3, 4, 5, 8, 17])
@pytest.mark.parametrize("chunk", [1, 3, 16])
def test_every_position_that_is_read_is_held(positions: int, chunk: int) -> None:
    """Step by step: what the next tokens look back on stays, and no more is held than was said."""
    window = AttentionWindow(SIZE, chunk, positions)
    held = 0
    for computed in range(0, 200, chunk):
        first_read = max(0, computed - positions)  # by the next token, or the last one again
        assert window.blocks_outside(computed) * SIZE <= first_read
        after = -(-(computed + chunk) // SIZE)
        held = max(held, after - window.blocks_outside(computed))
        assert after - window.blocks_outside(computed) <= window.most_blocks(computed + chunk)
    assert held >= window.most_blocks(200) - 1, "not many more are promised than are needed"
