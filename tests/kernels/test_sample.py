"""Sampling against sorting and counting in Python: the twin, the kernels in the interpreter, and
the kernels on a GPU."""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import fields, replace
from itertools import pairwise

import pytest
import torch

from maskwright.kernels import sample as module
from maskwright.kernels import sample_finish
from maskwright.kernels.device import INTERPRETED, new_logits, readable_tokens
from maskwright.kernels.reference import random_words
from maskwright.kernels.sample import sample_rows
from maskwright.kernels.sample_inputs import (
    ALLOWED,
    BANNED,
    EMPTY,
    END,
    NOT_FINITE,
    OCCURRED,
    Drawn,
    ListedTokens,
    SampleInputs,
    min_p_bound,
)
from tests.kernels.interpreted import long

NOTHING = float("-inf")


def inputs_of(rng: random.Random, rows: int, vocab: int, listed: bool = True) -> SampleInputs:
    """Random parameters for each row, among them greedy rows, rows without a mask, and rows whose
    mask allows nothing."""
    words = -(-vocab // 32)
    share = [rng.choice([0.0, 0.02, 0.3, 0.9, 1.0]) for _ in range(5)]
    bits = torch.tensor([[rng.random() < p for _ in range(32 * words)] for p in share])
    powers = 1 << torch.arange(8)
    table = (bits.view(5, -1, 8) * powers).sum(-1).to(torch.uint8).view(torch.int32)

    def column(choices: list[float], dtype: torch.dtype = torch.float32) -> torch.Tensor:
        return torch.tensor([rng.choice(choices) for _ in range(rows)], dtype=dtype)

    return SampleInputs(
        table=table,
        mask_rows=column([-1, 0, 1, 2, 3, 4, 3, 4, -1], torch.int32),
        temperature=column([0, 0.3, 1, 1, 2.5, 1e-30]),
        top_k=column([0, 0, 1, 3, 20, 10**6], torch.int32),
        top_p=column([1, 1, 0, 0.1, 0.5, 0.93], torch.float64),
        least=min_p_bound(column([0, 0, 0.03, 0.5, 1], torch.float64)),
        repetition=column([1, 1.3, 0.7]),
        presence=column([0, 1.1, -0.4]),
        frequency=column([0, 0.3, -0.2]),
        only_listed=column([0, 0, 0, 0, 1] if listed else [0], torch.int32),
        seeds=torch.tensor([rng.randrange(-(2**63), 2**63) for _ in range(rows)]),
        positions=column([1, 7, 5000], torch.int32),
        listed=listed_of(rng, rows, vocab) if listed else None,
    )


def listed_of(rng: random.Random, rows: int, vocab: int) -> ListedTokens:
    tokens: list[int] = []
    starts = [0]
    for _ in range(rows):
        tokens += sorted(rng.sample(range(vocab), min(vocab, rng.choice([0, 1, 5, 40]))))
        starts.append(len(tokens))
    n = len(tokens)
    flags = [rng.choice([0, BANNED, END, ALLOWED, ALLOWED]) | rng.choice([0, 1]) for _ in range(n)]
    counts = [rng.choice([0, 1, 4]) if flag & OCCURRED else 0 for flag in flags]
    return ListedTokens(
        starts=torch.tensor(starts, dtype=torch.int32),
        tokens=torch.tensor(tokens, dtype=torch.int32),
        bias=torch.tensor([rng.choice([0.0, 0.0, 2.5, -1.7]) for _ in range(n)]),
        counts=torch.tensor(counts, dtype=torch.int32),
        flags=torch.tensor(flags, dtype=torch.int32),
        most=max(b - a for a, b in pairwise(starts)),
    )


def float32(value: float) -> float:
    return float(torch.tensor(value, dtype=torch.float32))


def allowed_by(inputs: SampleInputs, row: int, vocab: int) -> list[bool]:
    number = int(inputs.mask_rows[row])
    if number < 0:
        return [True] * vocab
    words = [word & 0xFFFFFFFF for word in inputs.table[number].tolist()]
    words += [0] * -(-vocab // 32)
    return [bool(words[token // 32] >> (token % 32) & 1) for token in range(vocab)]


def chain(logits: list[float], inputs: SampleInputs, row: int) -> list[float]:
    """The logits of a row before the temperature: each step rounded to float32."""
    values, ends = list(logits), set[int]()
    listed = inputs.listed
    if int(inputs.only_listed[row]):
        values = [NOTHING] * len(values)
    if listed is not None:
        for i in range(int(listed.starts[row]), int(listed.starts[row + 1])):
            token, flag = int(listed.tokens[i]), int(listed.flags[i])
            value = float32(logits[token] + float(listed.bias[i]))
            if flag & OCCURRED:
                factor = float(inputs.repetition[row])
                value = float32(value / factor if value > 0 else value * factor)
            if int(listed.counts[i]):
                value = float32(value - float(inputs.presence[row]))
            shift = float32(int(listed.counts[i]) * float(inputs.frequency[row]))
            value = float32(value - shift)
            if flag & BANNED or (int(inputs.only_listed[row]) and not flag & ALLOWED):
                value = NOTHING
            values[token] = value
            if flag & END:
                ends.add(token)
    mask = allowed_by(inputs, row, len(values))
    values = [value if keep else NOTHING for value, keep in zip(values, mask, strict=True)]
    others = [NOTHING if token in ends else value for token, value in enumerate(values)]
    return others if any(value != NOTHING for value in others) else values


def truncated(values: list[float], inputs: SampleInputs, row: int) -> list[float]:
    """The scaled logits, with those that top-k, top-p and min-p drop at -inf."""
    peak, heat = max(values), float(inputs.temperature[row])
    scaled = [float32(float32(value - peak) / heat) for value in values]
    k = int(inputs.top_k[row])
    if k:
        last = sorted(scaled, reverse=True)[min(k, len(scaled)) - 1]
        scaled = [z if z >= last else NOTHING for z in scaled]
    p = float(inputs.top_p[row])
    if p < 1:
        ordered = sorted(scaled, reverse=True)
        reached, last, total = 0.0, ordered[0], math.fsum(map(math.exp, ordered))
        for z in ordered:
            if reached >= p * total:
                break
            reached, last = reached + math.exp(z), z
        scaled = [z if z >= last else NOTHING for z in scaled]
    return [z if z >= float(inputs.least[row]) else NOTHING for z in scaled]


def expected(logits: torch.Tensor, inputs: SampleInputs) -> tuple[list[int], list[list[float]]]:
    """The tokens, and what truncation left of each row."""
    words = random_words(inputs.seeds, inputs.positions.long(), logits.shape[1]).tolist()
    tokens: list[int] = []
    left: list[list[float]] = []
    for row, raw in enumerate(logits.float().tolist()):
        values = chain(raw, inputs, row)
        peak = math.inf if any(value != value for value in values) else max(values)
        if math.isinf(peak):
            tokens.append(NOT_FINITE if peak > 0 else EMPTY)
            left.append([])
        elif float(inputs.temperature[row]) == 0:
            tokens.append(values.index(peak))
            left.append([])
        else:
            left.append(truncated(values, inputs, row))
            noise = [-math.log(-math.log1p(-(word + 0.5) / 2**32)) for word in words[row]]
            scores = [z + g for z, g in zip(left[-1], noise, strict=True)]
            tokens.append(scores.index(max(scores)))
    return tokens, left


def moved(inputs: SampleInputs, device: torch.device) -> SampleInputs:
    def place(part: object) -> object:
        if isinstance(part, torch.Tensor):
            return part.to(device)
        if isinstance(part, ListedTokens):
            return replace(part, **{f.name: place(getattr(part, f.name)) for f in fields(part)})
        return part

    return replace(inputs, **{f.name: place(getattr(inputs, f.name)) for f in fields(inputs)})


def drawn_on(
    device: torch.device, logits: torch.Tensor, inputs: SampleInputs, *, scored: bool = False
) -> Drawn:
    return sample_rows(logits.clone().to(device), moved(inputs, device), scored=scored)


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make programs read little at once, so that small rows have many tiles. It is faster, too."""
    monkeypatch.setattr(module, "EIGHTS", 32)
    monkeypatch.setattr(module, "SLOTS", 16)
    monkeypatch.setattr(module, "LIST", 16)


@pytest.mark.parametrize(
    ("vocab", "dtype", "rows"),
    [
        (1, torch.float32, 12),
        (33, torch.bfloat16, 20),
        long(200, torch.float16, 20),
        (515, torch.bfloat16, 16),
    ],
)
def test_tokens_equal_those_of_sorting(
    vocab: int, dtype: torch.dtype, rows: int, device: torch.device
) -> None:
    """Logits with ties, -inf, and some that are not finite; rows that lie apart."""
    rng = random.Random(vocab)
    torch.manual_seed(vocab)
    scales = torch.tensor([[0.0], [1.0], [6.0], [60.0]]).repeat(rows // 4, 1)
    logits = torch.randn(rows, vocab + 3) * scales
    logits[::3] = logits[::3].round()
    logits[torch.rand(logits.shape) < 0.03] = NOTHING
    logits[torch.rand(logits.shape) < 0.2 / vocab] = math.nan
    logits[torch.rand(logits.shape) < 0.2 / vocab] = math.inf
    inputs = inputs_of(rng, rows, vocab)
    logits = logits.to(dtype)[:, 1 : vocab + 1]
    tokens, _ = expected(logits, inputs)
    assert drawn_on(device, logits, inputs).tokens.tolist() == tokens
    assert vocab == 1 or (EMPTY in tokens and len(set(tokens)) > 8)


@pytest.mark.parametrize("dtype", [long(torch.float32), torch.bfloat16])
@pytest.mark.parametrize("vocab", [long(33), 203, long(520)])
def test_what_is_read_after_the_vocabulary_counts_for_nothing(
    vocab: int, dtype: torch.dtype, device: torch.device
) -> None:
    """Rows of the engine begin at multiples of 16 logits. Whatever is between them stays."""
    rng, rows = random.Random(vocab), 8
    torch.manual_seed(vocab)
    inputs = inputs_of(rng, rows, vocab)
    logits = new_logits(rows, vocab, device, dtype)
    logits.copy_(4 * torch.randn(rows, vocab))
    assert readable_tokens(logits) % 16 == 0
    whole = logits.as_strided((rows, logits.stride(0)), logits.stride())
    whole[:, vocab:] = torch.tensor([math.inf, math.nan], dtype=dtype)[torch.arange(rows) % 2, None]
    kept = logits.cpu().clone()
    tokens, _ = expected(kept, inputs)
    expected_scores = drawn_on(device, kept, inputs, scored=True)
    drawn = sample_rows(logits, moved(inputs, device), scored=True)
    assert drawn.tokens.tolist() == tokens
    for found, right in zip(drawn.columns(), expected_scores.columns(), strict=True):
        torch.testing.assert_close(found, right)  # sums of scores go over other parts of the rows
    assert not whole[:, vocab:].isfinite().any()


@pytest.mark.parametrize("listed", [long(False), True])
def test_scores_equal_those_of_sorting(listed: bool, device: torch.device) -> None:
    rng = random.Random(4)
    torch.manual_seed(4)
    rows, vocab = 12, 300
    logits = torch.randn(rows, vocab) * 3
    inputs = inputs_of(rng, rows, vocab, listed)
    tokens, left = expected(logits, inputs)
    drawn = drawn_on(device, logits, inputs, scored=True)
    assert drawn.tokens.tolist() == tokens
    parts = [drawn.raw, drawn.masked, drawn.kept, drawn.processed, drawn.support, drawn.allowed]
    for row, token in enumerate(tokens):
        if token < 0:
            continue
        shares = logits[row].double().log_softmax(-1).tolist()
        mask = allowed_by(inputs, row, vocab)
        kept = math.fsum(math.exp(s) for s, keep in zip(shares, mask, strict=True) if keep)
        masked = shares[token] - math.log(kept)
        support, processed = 1, 0.0
        if left[row]:
            support = sum(z > NOTHING for z in left[row])
            processed = left[row][token] - math.log(math.fsum(map(math.exp, left[row])))
        right = [shares[token], masked, kept, processed, support, sum(mask)]
        found = [float(part[row]) for part in parts if part is not None]
        assert found == pytest.approx(right, rel=1e-5, abs=2e-5)


@pytest.mark.long_interpreted
def test_draws_follow_the_probabilities(device: torch.device) -> None:
    """A chi-square test over positions: with seven degrees of freedom, 24.3 is exceeded once in a
    thousand times, but the draws are always the same ones."""
    rows, vocab, heat = (120 if INTERPRETED else 40_000), 8, 0.8
    logits = torch.linspace(-0.5, 0.5, vocab)
    inputs = inputs_of(random.Random(0), 1, vocab, listed=False)
    plain = {"mask_rows": -1, "temperature": heat, "top_k": 0, "top_p": 1, "least": NOTHING}
    columns = {
        field.name: part.expand(rows).contiguous()
        for field in fields(inputs)
        if isinstance(part := getattr(inputs, field.name), torch.Tensor) and field.name != "table"
    }
    for name, value in plain.items():
        columns[name].fill_(value)
    columns["positions"] = torch.arange(rows, dtype=torch.int32)
    drawn = drawn_on(device, logits.repeat(rows, 1), replace(inputs, **columns))
    found = Counter(drawn.tokens.tolist())
    shares = (logits.double() / heat).softmax(-1).tolist()
    assert sum((found[token] - rows * p) ** 2 / (rows * p) for token, p in enumerate(shares)) < 24.3


def test_a_draw_does_not_depend_on_the_other_rows(device: torch.device) -> None:
    rng = random.Random(9)
    torch.manual_seed(9)
    inputs = inputs_of(rng, 8, 90, listed=False)
    logits = torch.randn(8, 90)
    together = drawn_on(device, logits, inputs).tokens.tolist()
    for row in (0, 3, 7):
        own = {
            field.name: part[row : row + 1]
            for field in fields(inputs)
            if isinstance(part := getattr(inputs, field.name), torch.Tensor)
            and field.name != "table"
        }
        alone = drawn_on(device, logits[row : row + 1], replace(inputs, **own))
        assert alone.tokens.tolist() == together[row : row + 1]


def test_other_types_and_shapes_are_refused() -> None:
    inputs = inputs_of(random.Random(1), 2, 8)
    with pytest.raises(ValueError, match="logits must be"):
        sample_rows(torch.zeros(2, 8).double(), inputs)
    with pytest.raises(ValueError, match="logits must be"):
        sample_rows(torch.zeros(8, 2).T, inputs)
    with pytest.raises(ValueError, match="positions must be contiguous"):
        replace(inputs, positions=torch.zeros(4, dtype=torch.int32)[::2])
    with pytest.raises(ValueError, match="3 rows of logits"):
        sample_rows(torch.zeros(3, 8), inputs)


@pytest.mark.skipif(not INTERPRETED, reason="needs TRITON_INTERPRET=1; test_interpreter.py sets it")
@pytest.mark.parametrize(("name", "value"), [("top_k", 20), ("top_p", 0.95)])
def test_a_threshold_is_found_in_few_passes(
    name: str, value: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Distances are 31 bits, of which halving alone would look at each."""
    passes: list[None] = []
    whole = sample_finish.ladder

    def counted(*args: object) -> object:
        passes.append(None)
        return whole(*args)

    monkeypatch.setattr(sample_finish, "ladder", counted)
    torch.manual_seed(5)
    inputs = inputs_of(random.Random(1), 1, 515, listed=False)
    plain = {"mask_rows": -1, "temperature": 1.0, "top_k": 0, "top_p": 1.0, "least": NOTHING}
    columns = {
        field: torch.full_like(getattr(inputs, field), number)
        for field, number in (plain | {name: value}).items()
    }
    logits = torch.randn(1, 515) * 4
    given = replace(inputs, **columns)
    assert sample_rows(logits.clone(), given).tokens.tolist() == expected(logits, given)[0]
    assert 3 < len(passes) < 20


@pytest.mark.skipif(not INTERPRETED, reason="needs TRITON_INTERPRET=1; test_interpreter.py sets it")
def test_the_interpreter_does_not_run_the_twin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(module, "sample_twin")
    inputs = replace(inputs_of(random.Random(1), 1, 8, listed=False), temperature=torch.zeros(1))
    inputs.mask_rows.fill_(-1)
    assert sample_rows(torch.arange(8.0)[None], inputs).tokens.tolist() == [7]
