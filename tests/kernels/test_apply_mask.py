"""Masks against a loop over tokens: on the CPU, in the interpreter and on a GPU."""

from __future__ import annotations

import random

import pytest
import torch

from maskwright.kernels import reference
from maskwright.kernels.apply_mask import GROUPS, apply_mask, apply_mask_by_row
from maskwright.kernels.device import INTERPRETED

TYPES = [torch.float32, torch.float16, torch.bfloat16]


def mask_table(rng: random.Random, masks: int, words: int) -> torch.Tensor:
    """Rows with no bit, with all bits, and with bytes of either kind beside mixed ones."""
    rows = [[0] * 4 * words, [255] * 4 * words]
    rows += [
        [rng.choice([0, 255, rng.randrange(256)]) for _ in range(4 * words)] for _ in range(masks)
    ]
    return torch.tensor(rows[:masks], dtype=torch.uint8).view(torch.int32)


def expected(logits: torch.Tensor, table: torch.Tensor, rows: list[int]) -> torch.Tensor:
    """The masked logits, token by token."""
    out = logits.clone()
    words = [[word & 0xFFFFFFFF for word in row] for row in table.tolist()]
    for row, number in enumerate(rows):
        for token in range(logits.shape[1] if number >= 0 else 0):
            word = words[number][token // 32] if token // 32 < len(words[number]) else 0
            if not word >> (token % 32) & 1:
                out[row, token] = float("-inf")
    return out


def same_bits(left: torch.Tensor, right: torch.Tensor) -> bool:
    """Whether all bits are equal, also those of NaN."""
    as_integers = torch.int16 if left.element_size() == 2 else torch.int32
    return left.cpu().view(as_integers).equal(right.cpu().view(as_integers))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("vocab", [1, 31, 32, 33, 200, 203])
def test_by_row_number(vocab: int, dtype: torch.dtype, device: torch.device) -> None:
    rng = random.Random(vocab)
    table = mask_table(rng, 6, -(-vocab // 32))
    rows = [5, -1, 0, 1, 2, 3, 3, -1, 4]
    logits = torch.randn(len(rows), vocab).to(dtype)
    logits[:, rng.randrange(vocab)] = float("nan")
    got = logits.to(device)
    apply_mask_by_row(got, table.to(device), torch.tensor(rows, dtype=torch.int32, device=device))
    assert same_bits(got, expected(logits, table, rows))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("vocab", [5, 64, 100])
def test_a_bitmask_for_each_row(vocab: int, dtype: torch.dtype, device: torch.device) -> None:
    table = mask_table(random.Random(vocab), 7, -(-vocab // 32))
    logits = torch.randn(7, vocab).to(dtype)
    got = logits.to(device)
    apply_mask(got, table.to(device))
    assert same_bits(got, expected(logits, table, list(range(7))))


@pytest.mark.parametrize("vocab", [65, 96, 127, 128, 300])
def test_tokens_after_the_words_of_a_mask_are_forbidden(vocab: int, device: torch.device) -> None:
    """Models pad their vocabulary: they have more logits than a mask has bits."""
    table = mask_table(random.Random(1), 4, 2)
    rows = [1, -1, 3, 0]
    logits = torch.randn(4, vocab)
    got = logits.to(device)
    apply_mask_by_row(got, table.to(device), torch.tensor(rows, dtype=torch.int32, device=device))
    assert same_bits(got, expected(logits, table, rows))
    assert got[0, 64:].eq(float("-inf")).all()
    got = logits.to(device)
    apply_mask(got, table.to(device))
    assert same_bits(got, expected(logits, table, [0, 1, 2, 3]))


@pytest.mark.parametrize("offset", [0, 1, 8])
def test_rows_that_lie_apart(offset: int, device: torch.device) -> None:
    """What is between the rows stays."""
    table = mask_table(random.Random(2), 5, 9)[:, 1:6]
    rows = [2, 4, -1, 3]
    whole = torch.randn(4, 200).to(torch.bfloat16)
    logits = whole[:, offset : offset + 150]
    got = whole.to(device)
    part = got[:, offset : offset + 150]
    numbers = torch.tensor(rows, dtype=torch.int32, device=device)
    apply_mask_by_row(part, table.to(device), numbers)
    whole[:, offset : offset + 150] = expected(logits, table, rows)
    assert same_bits(got, whole)


def test_a_vocabulary_of_several_programs(device: torch.device) -> None:
    vocab = 8 * GROUPS * 2 + 40
    table = mask_table(random.Random(3), 3, -(-vocab // 32))
    rows = [2, -1]
    logits = torch.randn(2, vocab).to(torch.float16)
    got = logits.to(device)
    apply_mask_by_row(got, table.to(device), torch.tensor(rows, dtype=torch.int32, device=device))
    assert same_bits(got, expected(logits, table, rows))


@pytest.mark.parametrize(("rows", "vocab"), [(0, 40), (3, 0)])
def test_nothing_to_mask(rows: int, vocab: int, device: torch.device) -> None:
    table = torch.zeros(max(rows, 1), 2, dtype=torch.int32, device=device)
    numbers = torch.zeros(rows, dtype=torch.int32, device=device)
    apply_mask_by_row(torch.zeros(rows, vocab, device=device), table, numbers)


@pytest.mark.parametrize(
    ("logits", "table", "rows", "message"),
    [
        (torch.zeros(2, 8).double(), torch.zeros(2, 1).int(), None, "logits must be"),
        (torch.zeros(8, 2).T, torch.zeros(2, 1).int(), None, "logits must be"),
        (torch.zeros(2, 8), torch.zeros(2, 1).long(), None, "masks must be"),
        (torch.zeros(2, 8), torch.zeros(3, 1).int(), None, "2 rows of logits have 3 masks"),
        (torch.zeros(2, 8), torch.zeros(3, 1).int(), torch.zeros(2).long(), "numbers of masks"),
        (torch.zeros(2, 8), torch.zeros(3, 1).int(), torch.zeros(3).int(), "numbers of masks"),
    ],
)
def test_other_types_and_shapes_are_refused(
    logits: torch.Tensor, table: torch.Tensor, rows: torch.Tensor | None, message: str
) -> None:
    more = () if rows is None else (rows,)
    with pytest.raises(ValueError, match=message):
        (apply_mask_by_row if more else apply_mask)(logits, table, *more)


@pytest.mark.skipif(not INTERPRETED, reason="needs TRITON_INTERPRET=1; test_interpreter.py sets it")
def test_the_interpreter_does_not_run_the_twin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(reference, "apply_mask")
    monkeypatch.delattr(reference, "apply_mask_by_row")
    logits = torch.zeros(1, 40)
    apply_mask(logits, torch.tensor([[-1, 0]], dtype=torch.int32))
    assert logits.isfinite().sum() == 32
