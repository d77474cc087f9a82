"""Which batches run in recorded steps, and that these compute what the model does."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest
import torch
from torch import Tensor

from maskwright.kernels.kv_pool import KvPool
from maskwright.kernels.paged_plan import DevicePlan
from maskwright.models import DEMO_PATH, Adapter, ForwardBatch, Run
from maskwright.models.config import parse_config, read_config
from maskwright.models.dense import DenseDecoder
from maskwright.models.graphs import DecodeGraphs
from maskwright.models.weights import read_weights
from tests.models.graphs.tape import TapeRecorder
from tests.models.test_device import META, recorded

BLOCK, BLOCKS, VOCAB = 4, 40, 7
SPARE = BLOCKS


def forward(batch: ForwardBatch, pool: KvPool, out: Tensor) -> Tensor:
    """A model whose logits are the sum of what the sequence has up to a row, times the number of
    the logit; each position has its token times a hundred, plus the position, plus one."""
    memory, plan = pool.data[:, 0, 0, :, 0, 0], batch.attention
    assert isinstance(plan, DevicePlan)
    assert plan.decode is not None
    memory[batch.blocks, batch.offsets] = (batch.tokens * 100 + batch.positions + 1).float()
    every = plan.decode
    past = memory[every.tables].flatten(1)
    places = torch.arange(past.shape[1])
    sums = torch.zeros(len(batch.tokens) + 1)  # the last one for queries that aren't there
    for query in range(every.most):
        seen = places <= (every.start + query)[:, None]
        row = torch.where(query < every.count, every.first + query, len(batch.tokens))
        sums[row] = (past * seen).sum(1)
    return out.copy_(sums[batch.select][:, None] * torch.arange(float(VOCAB)))


def graphs(rows: int = 12, positions: int = 1100, recorder: Any = None) -> DecodeGraphs:
    """The recorded steps of that model."""
    decoder: Any = SimpleNamespace(forward=forward, device=torch.device("cpu"), vocab_size=VOCAB)
    pool = KvPool(torch.zeros(BLOCKS + 1, 1, 2, BLOCK, 1, 1))
    return DecodeGraphs(
        *(decoder, pool, recorder or TapeRecorder()),
        spare=SPARE,
        most_rows=rows,
        most_positions=positions,
    )


def test_steps_are_those_of_the_model() -> None:
    """Sequences that grow at random, with several tokens at a time."""
    rng, recorder = random.Random(1), TapeRecorder()
    found = graphs(recorder=recorder)
    blocks = rng.sample(range(1, BLOCKS), 36)
    tables = [blocks[at : at + 9] for at in range(0, 36, 9)]
    past: list[list[int]] = [[] for _ in tables]
    sizes: set[int] = set()
    for _ in range(60):
        some = [at for at in rng.sample(range(4), rng.randint(1, 4)) if len(past[at]) < 33]
        if not some:
            break
        runs, expected = [], []
        for at in some:
            count = rng.randint(1, 3)
            tokens, start = [rng.randrange(5) for _ in range(count)], len(past[at])
            rows = rng.randint(1, count)
            past[at] += [100 * token + start + i + 1 for i, token in enumerate(tokens)]
            runs.append(Run(tokens, start, tables[at], rows))
            expected += [sum(past[at][: start + i + 1]) for i in range(count - rows, count)]
        logits = found.forward(runs)
        assert logits is not None
        sizes.add(len(logits))
        assert logits.shape == (-(-len(expected) // 4) * 4, VOCAB)
        assert logits[: len(expected), 1].tolist() == expected
        assert logits[: len(expected), 3].tolist() == [3 * each for each in expected]
    assert found.replayed > 20
    assert 4 <= len(recorder.tapes) < found.replayed / 2, "most steps are replayed"
    assert sizes >= {4, 8}
    assert not found._pool.data[0].any(), "the trash block is never written"


def test_others_are_not_for_recorded_steps() -> None:
    found = graphs()
    adapter = Adapter({})
    refused = {
        "an adapter": [Run([1], 0, [1], 1), Run([1], 3, [2], 1, adapter)],
        "a piece of a prompt": [Run([1] * 9, 0, [1, 2, 3], 1)],
        "too many rows": [Run([1], 0, [1], 1)] * 13,
        "too many positions": [Run([1], 2048, list(range(513)), 1)],
    }
    for reason, runs in refused.items():
        assert found.forward(runs) is None, reason
    assert found.replayed == 0
    assert found.forward([Run([1] * 8, 0, [1, 2], 1)]) is not None
    assert found.forward([Run([1], 0, [1], 1)] * 12) is not None
    assert found.forward([Run([1], 2047, [1] * 512, 1)]) is not None
    assert found.replayed == 3


def test_a_step_is_recorded_when_a_batch_first_needs_it() -> None:
    """By the step of that batch, which is computed once; the largest one is recorded beforehand."""
    recorder, rows_of = TapeRecorder(), []
    original = forward

    def noting(batch: ForwardBatch, pool: KvPool, out: Tensor) -> Tensor:
        rows_of.append(len(batch.tokens))
        return original(batch, pool, out)

    with patch(f"{__name__}.forward", noting):
        found = graphs(rows=16, positions=8, recorder=recorder)
        assert (len(found.shapes), rows_of) == (6, [])
        found.record_largest()
        assert rows_of == [16]
        for count, expected in ((2, [16, 4]), (4, [16, 4]), (5, [16, 4, 8]), (1, [16, 4, 8])):
            logits = found.forward([Run([3], 0, [block + 1], 1) for block in range(count)])
            assert logits is not None
            assert logits[:count, 1].tolist() == [301] * count
            assert rows_of == expected
        assert found.forward([Run([3] * 8, 0, [1, 2], 1)] * 2) is not None
        assert (rows_of, len(recorder.tapes), found.replayed) == ([16, 4, 8], 3, 5)


def test_all_steps_can_be_launched_without_rows() -> None:
    """So that their kernels are compiled. Nothing but the spare block is written."""
    sizes: list[tuple[int, int]] = []
    original = forward

    def noting(batch: ForwardBatch, pool: KvPool, out: Tensor) -> Tensor:
        assert isinstance(batch.attention, DevicePlan)
        assert batch.attention.decode is not None
        sizes.append((len(batch.tokens), batch.attention.decode.most))
        return original(batch, pool, out)

    recorder = TapeRecorder()
    with patch(f"{__name__}.forward", noting):
        found = graphs(rows=8, positions=8, recorder=recorder)
        found.launch()
    assert sizes == [(4, 1), (4, 8), (8, 1), (8, 8)]
    assert (recorder.tapes, found.replayed) == ([], 0)
    assert not found._pool.data[:SPARE].any()


def test_without_recorded_steps_the_engine_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    recorder = TapeRecorder()
    found = graphs(rows=8, positions=8, recorder=recorder)
    batch = [Run([1], 0, [1], 1)]
    assert found.forward(batch) is not None
    message = "CUDA error: operation not permitted when stream is capturing"
    with patch.object(recorder, "record", side_effect=RuntimeError(message)) as record:
        assert found.forward(batch * 5) is None
        assert found.forward(batch * 5) is None
        assert found.forward(batch) is None
    assert record.call_count == 1
    assert "Decode steps can't be recorded (CUDA error: operation not permitted" in caplog.text


def test_nothing_of_a_dense_decoder_is_on_the_host() -> None:
    """As in `test_device`: kernels are launched on tensors without data, once."""
    config = parse_config(read_config(DEMO_PATH))
    decoder = DenseDecoder(config, read_weights(DEMO_PATH), torch.bfloat16, device=META)
    pool = decoder.new_pool(9, 16)
    with (
        patch("maskwright.models.decoder.kernels_run_on", return_value=True),
        recorded() as kernels,
    ):
        found = DecodeGraphs(
            *(decoder, pool, TapeRecorder()), spare=8, most_rows=4, most_positions=64
        )
        counts: list[dict[str, int]] = []
        for _ in range(2):
            logits = found.forward([Run([5], 3, [1], 1), Run([6], 3, [2], 1)])
            assert logits is not None
            assert (logits.shape, logits.device) == ((4, config.vocab_size), META)
            counts.append({name: len(kernel.launches) for name, kernel in kernels.items()})
    assert counts[0]["attend_kernel"] == config.layers
    assert counts[0] == counts[1], "replayed"
