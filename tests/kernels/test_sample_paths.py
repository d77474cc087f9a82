"""The paths that a row can take through the sampling kernels, each against sorting in Python: the
twin, the kernels in the interpreter, and the kernels on a GPU."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from maskwright.kernels import sample as module
from maskwright.kernels import sample_finish
from maskwright.kernels.device import INTERPRETED
from maskwright.kernels.sample_inputs import (
    BANNED,
    EMPTY,
    END,
    NOT_FINITE,
    ListedTokens,
    SampleInputs,
    min_p_bound,
)
from tests.kernels.interpreted import long
from tests.kernels.test_sample import NOTHING, drawn_on, expected

VOCAB = 1003
"""Of four tiles, the last of which isn't full."""

OFF: dict[str, float] = {
    "mask_rows": -1,
    "temperature": 1.0,
    "top_k": 0,
    "top_p": 1.0,
    "least": NOTHING,
    "repetition": 1.0,
    "presence": 0.0,
    "frequency": 0.0,
    "only_listed": 0,
}
LEAST = float(min_p_bound(torch.tensor([0.1], dtype=torch.float64)))
KINDS: dict[str, dict[str, float]] = {
    "greedy": {"temperature": 0.0},
    "temperature": {"temperature": 0.9},
    "top-k": {"top_k": 7},
    "top-p": {"top_p": 0.9},
    "min-p": {"least": LEAST},
    "top-k, top-p": {"top_k": 40, "top_p": 0.7},
    "all": {"temperature": 0.7, "top_k": 30, "top_p": 0.95, "least": LEAST},
}
DTYPES = {
    "mask_rows": torch.int32,
    "top_k": torch.int32,
    "top_p": torch.float64,
    "only_listed": torch.int32,
}


def rows_of(*rows: dict[str, float], listed: ListedTokens | None = None) -> SampleInputs:
    """The parameters of rows, each with what is not off. Masks 0 and 1 allow a few tokens and
    half."""
    table = torch.zeros(2, -(-VOCAB // 32), dtype=torch.int32)
    generator = torch.Generator().manual_seed(3)
    for bit in range(32):
        allowed = torch.rand(table.shape, generator=generator) < torch.tensor([[0.02], [0.5]])
        table |= allowed.int() << bit
    columns = {
        name: torch.tensor(
            [row.get(name, off) for row in rows], dtype=DTYPES.get(name, torch.float32)
        )
        for name, off in OFF.items()
    }
    number = torch.arange(len(rows))
    return SampleInputs(
        table=table,
        seeds=number * 7919 + 5,
        positions=number.int() + 11,
        listed=listed,
        **columns,
    )


def listed_in_each(rows: int, tokens: list[int], flags: list[int]) -> ListedTokens:
    count = rows * len(tokens)
    return ListedTokens(
        starts=torch.arange(0, count + 1, len(tokens), dtype=torch.int32),
        tokens=torch.tensor(tokens * rows, dtype=torch.int32),
        bias=torch.zeros(count),
        counts=torch.zeros(count, dtype=torch.int32),
        flags=torch.tensor(flags * rows, dtype=torch.int32),
        most=len(tokens),
    )


def assert_as_by_sorting(logits: Tensor, inputs: SampleInputs, device: torch.device) -> list[int]:
    """Hold tokens and what was kept to those of sorting, and return the tokens."""
    tokens, left = expected(logits, inputs)
    assert drawn_on(device, logits, inputs).tokens.tolist() == tokens
    drawn = drawn_on(device, logits, inputs, scored=True)
    assert drawn.tokens.tolist() == tokens
    assert drawn.support is not None
    kept = [sum(z > NOTHING for z in row) if row else 1 for row in left]
    for token, right, found in zip(tokens, kept, drawn.support.tolist(), strict=True):
        assert token < 0 or found == right
    return tokens


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiles of 256 tokens with 32 candidates."""
    monkeypatch.setattr(module, "EIGHTS", 32)
    monkeypatch.setattr(module, "SLOTS", 32)
    monkeypatch.setattr(module, "LIST", 16)


@pytest.fixture
def tiles_read(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """How many tiles were read a second time; in the interpreter alone."""
    read: list[None] = []
    whole = sample_finish.values_of_tile

    def counted(*args: Any) -> Any:
        read.append(None)
        return whole(*args)

    monkeypatch.setattr(sample_finish, "values_of_tile", counted)
    return lambda: len(read)


@pytest.mark.parametrize("mask", [long(-1), 0, long(1)])
def test_rows_of_one_batch_take_the_path_they_need(
    mask: int, device: torch.device, tiles_read: Callable[[], int]
) -> None:
    """Peaked rows, whose candidates suffice: nothing is read a second time."""
    torch.manual_seed(mask + 7)
    logits = 6 * torch.randn(len(KINDS), VOCAB)
    inputs = rows_of(*({**kind, "mask_rows": mask} for kind in KINDS.values()))
    tokens = assert_as_by_sorting(logits, inputs, device)
    assert min(tokens) >= 0
    assert tiles_read() == 0


@pytest.mark.parametrize("deviation", [0.0, long(1e-6), long(0.01), long(0.7)])
def test_flat_rows_have_their_threshold_searched_among_all_tokens(
    deviation: float, device: torch.device, tiles_read: Callable[[], int]
) -> None:
    torch.manual_seed(1)
    logits = deviation * torch.randn(5, VOCAB)
    inputs = rows_of(
        {"top_p": 0.6}, {"top_k": 300}, {"least": LEAST}, {"top_k": 500, "top_p": 0.8}, {}
    )
    tokens = assert_as_by_sorting(logits, inputs, device)
    assert len(set(tokens)) > 2
    assert tiles_read() > 0 or not INTERPRETED or device.type == "cuda"


@pytest.mark.parametrize("kind", [long("top-k"), long("top-p"), long("min-p"), "all"])
def test_ties_at_the_threshold_are_kept_wherever_they_stand(
    kind: str, device: torch.device
) -> None:
    """Whole numbers as logits: at each threshold are some equal ones, in all tiles, and once more
    than candidates have room."""
    torch.manual_seed(2)
    few = torch.randint(-40, 1, (VOCAB,)).float()
    many = torch.where(torch.rand(VOCAB) < 0.3, few, -2.0)
    many[500] = 0.0
    logits = torch.stack((few, many, few.roll(300), many.roll(77)))
    inputs = rows_of(*[KINDS[kind]] * 4)
    assert_as_by_sorting(logits, inputs, device)


@pytest.mark.parametrize("token", [long(0), long(127), 255, long(256), long(VOCAB - 1)])
def test_a_token_without_others_is_chosen_by_every_kind(token: int, device: torch.device) -> None:
    logits = torch.full((len(KINDS), VOCAB), NOTHING)
    logits[:, token] = -7.25
    assert assert_as_by_sorting(logits, rows_of(*KINDS.values()), device) == [token] * len(KINDS)


@pytest.mark.parametrize(
    ("value", "token"),
    [(math.nan, 700), long(math.nan, 3), long(math.inf, 700), long(math.inf, 3)],
)
def test_what_is_not_finite_ends_rows_that_may_choose_it(
    value: float, token: int, device: torch.device
) -> None:
    torch.manual_seed(token)
    logits = 5 * torch.randn(len(KINDS), VOCAB)
    logits[:, token] = value
    inputs = rows_of(*KINDS.values())
    assert assert_as_by_sorting(logits, inputs, device) == [NOT_FINITE] * len(KINDS)
    forbidden = inputs.table.clone()
    forbidden[:, token // 32] &= ~(1 << (token % 32))
    masked = replace(inputs, table=forbidden, mask_rows=torch.ones_like(inputs.mask_rows))
    assert min(drawn_on(device, logits, masked).tokens.tolist()) >= 0
    ends = replace(inputs, listed=listed_in_each(len(KINDS), [token], [END]))
    assert min(drawn_on(device, logits, ends).tokens.tolist()) >= 0


@pytest.mark.long_interpreted
def test_ends_are_chosen_where_nothing_else_is_left(device: torch.device) -> None:
    """More listed tokens than one tile has, of which those of the second one end the answer."""
    logits = torch.full((len(KINDS), VOCAB), NOTHING)
    tokens = list(range(0, 800, 16))
    logits[:, tokens] = torch.linspace(1, 2, len(tokens))
    flags = [BANNED if number < 35 else END for number in range(len(tokens))]
    listed = listed_in_each(len(KINDS), tokens, flags)
    inputs = rows_of(*KINDS.values(), listed=listed)
    assert min(assert_as_by_sorting(logits, inputs, device)) >= tokens[35]
    logits[:, 999] = -30.0
    assert set(assert_as_by_sorting(logits, inputs, device)) == {999}
    banned = replace(listed, flags=torch.full_like(listed.flags, BANNED))
    logits[:, 999] = NOTHING
    found = assert_as_by_sorting(logits, rows_of(*KINDS.values(), listed=banned), device)
    assert set(found) == {EMPTY}


@pytest.mark.parametrize(
    "temperature", [1e-38, long(1e-30), long(1e-3), long(100.0), long(1e6), long(1e38)]
)
def test_temperatures_far_from_one(temperature: float, device: torch.device) -> None:
    torch.manual_seed(5)
    logits = 4 * torch.randn(5, VOCAB)
    logits[:, 400:404] = 20.0  # the highest, so that a draw decides even if it is cold
    kinds = [KINDS[name] for name in ("temperature", "top-k", "top-p", "min-p", "top-k, top-p")]
    inputs = rows_of(*({**kind, "temperature": temperature} for kind in kinds))
    assert_as_by_sorting(logits, inputs, device)


def test_logits_far_apart(device: torch.device) -> None:
    """Differences that overflow, and padding of some models at -1e30."""
    torch.manual_seed(6)
    logits = 2 * torch.randn(len(KINDS), VOCAB)
    logits[:, 900:] = -1e30
    logits[:, 5::64] = -3e38
    logits[:, 8] = 3e38 if logits[0, 8] > 0 else 12.0
    assert_as_by_sorting(logits, rows_of(*KINDS.values()), device)


@pytest.mark.parametrize(("eights", "slots"), [long(16, 8), (32, 8), long(64, 32), long(128, 64)])
def test_tiles_and_slots_of_any_size_draw_alike(
    eights: int, slots: int, device: torch.device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With eight slots, a tile in which two groups of eight may have the highest score has no room
    for their tokens, and the row is read again."""
    monkeypatch.setattr(module, "EIGHTS", eights)
    monkeypatch.setattr(module, "SLOTS", slots)
    torch.manual_seed(8)
    logits = (3 * torch.randn(len(KINDS), VOCAB)).to(torch.bfloat16)
    assert_as_by_sorting(logits, rows_of(*KINDS.values()), device)
