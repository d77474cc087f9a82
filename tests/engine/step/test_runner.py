"""Blocks that a step copies and clears, and what it reports of the tokens that it samples."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import torch

from maskwright.engine.schedule.chunk import Chunk
from maskwright.engine.schedule.plan import BlockCopy, CopyDirection, StepPlan
from maskwright.engine.schedule.sequence import Sequence
from maskwright.engine.step.runner import Runner
from maskwright.errors import EmptySupportError
from maskwright.models import DEMO_PATH, LoadedModel
from maskwright.models.config import parse_config, read_config
from maskwright.models.dense import DenseDecoder
from maskwright.models.weights import read_weights
from maskwright.sampling import SampleRow, SamplingParams, TokenScore, score_prompt
from tests.engine.step.host_waits import READS, HostWaits
from tests.models.graphs.tape import TapeRecorder
from tests.models.test_device import META, recorded

WITHIN, OUT, IN = CopyDirection
BLOCKS, HOST = 4, 3


def runner(loaded: LoadedModel) -> Runner:
    """Pools in which every number of a block is that of the block; the host's are negative."""
    found = Runner(loaded.decoder, BLOCKS, 4, host_blocks=HOST)
    for pool, sign in ((found._pool, 1), (found._host, -1)):
        for block in range(1, len(pool.data)):
            pool.data[block] = sign * block
    return found


def contents(found: Runner) -> tuple[list[float], list[float]]:
    """The number in each block of both pools, the trash block left out."""
    for pool in (found._pool, found._host):
        flat = pool.data.flatten(1)
        assert torch.equal(flat, flat[:, :1].expand_as(flat)), "a block was copied in part"
    return (
        found._pool.data.flatten(1)[1:, 0].tolist(),
        found._host.data.flatten(1)[1:, 0].tolist(),
    )


ARRANGED: list[tuple[list[BlockCopy], list[int], list[float], list[float]]] = [
    # copies, blocks to clear; then the model's pool and the host's
    ([], [], [1, 2, 3, 4], [-1, -2, -3]),
    ([], [2, 4], [1, 0, 3, 0], [-1, -2, -3]),
    ([BlockCopy(WITHIN, 1, 3)], [], [1, 2, 1, 4], [-1, -2, -3]),
    ([BlockCopy(OUT, 2, 1)], [], [1, 2, 3, 4], [2, -2, -3]),
    ([BlockCopy(IN, 2, 4)], [], [1, 2, 3, -2], [-1, -2, -3]),
    ([BlockCopy(OUT, 1, 1), BlockCopy(OUT, 4, 3)], [1, 4], [0, 2, 3, 0], [1, -2, 4]),
    # In their order: a block goes out before another comes into its place, and is copied on.
    ([BlockCopy(OUT, 1, 1), BlockCopy(IN, 3, 1)], [], [-3, 2, 3, 4], [1, -2, -3]),
    ([BlockCopy(IN, 3, 1), BlockCopy(OUT, 1, 1)], [], [-3, 2, 3, 4], [-3, -2, -3]),
    ([BlockCopy(WITHIN, 1, 2), BlockCopy(WITHIN, 2, 3)], [], [1, 1, 1, 4], [-1, -2, -3]),
    # Cleared after it was copied from.
    ([BlockCopy(WITHIN, 1, 3)], [1], [0, 2, 1, 4], [-1, -2, -3]),
]


@pytest.mark.parametrize(("copies", "fresh", "pool", "host"), ARRANGED, ids=str)
def test_blocks_are_copied_in_order_and_then_cleared(
    loaded: LoadedModel,
    copies: list[BlockCopy],
    fresh: list[int],
    pool: list[float],
    host: list[float],
) -> None:
    found = runner(loaded)
    found.arrange(StepPlan((), tuple(copies), tuple(fresh), (), ()))
    assert contents(found) == (pool, host)


def test_each_pool_has_a_trash_block(loaded: LoadedModel) -> None:
    found = runner(loaded)
    assert len(found._pool.data) == BLOCKS + 1
    assert len(found._host.data) == HOST + 1
    assert not found._pool.data[0].any()


def words(*masks: set[int]) -> np.ndarray:
    """Masks over a vocabulary of 40 tokens."""
    bits = np.zeros((len(masks), 64), np.bool_)
    for row, mask in zip(bits, masks, strict=True):
        row[list(mask)] = True
    return np.packbits(bits, axis=1, bitorder="little").view("<i4")


def row(**params: object) -> SampleRow:
    fields: dict[str, object] = {"temperature": 0.0, **params}
    return SampleRow(SamplingParams(**fields), (1, 2), 2, 7)  # type: ignore[arg-type]


def logits(*best: int) -> torch.Tensor:
    """A row for each of `best`, which are the likeliest; the others fall with their number."""
    found = torch.arange(40.0).neg().repeat(len(best), 1)
    for line, token in zip(found, best, strict=True):
        line[token] = 9.0
    return found


def test_each_row_has_its_mask_its_score_and_its_error(loaded: LoadedModel) -> None:
    rows = [row(), row(logprobs=1), row(), row(logprobs=0)]
    masks = words({3, 5}, {6, 8}, set(), {39})
    outcomes = runner(loaded).sample(logits(3, 4, 5, 2), rows, masks)
    assert outcomes[0] == (3, None)
    assert isinstance(outcomes[1], tuple)
    token, score = outcomes[1]
    assert (token, score.token, score.allowed, score.forced) == (6, 6, 2, False)
    assert [other.token for other in score.top] == [4], "the model's own favourite"
    assert isinstance(outcomes[2], EmptySupportError)
    assert isinstance(outcomes[3], tuple)
    token, score = outcomes[3]
    assert (token, score.token, score.forced, score.top) == (39, 39, True, ())


def test_raw_scores_are_from_before_the_chain(loaded: LoadedModel) -> None:
    """The chain overwrites the logits; the score of each row is of its own."""
    plain, biased = row(logprobs=0), row(logprobs=0, logit_bias={7: 50.0})
    outcomes = runner(loaded).sample(logits(3, 3), [plain, biased], words({3, 7}, {3, 7}))
    scores: list[TokenScore] = [outcome[1] for outcome in outcomes]  # type: ignore[index,misc]
    assert [score.token for score in scores] == [3, 7]
    expected = torch.log_softmax(logits(3)[0].double(), dim=-1)
    for score in scores:
        assert score.raw == pytest.approx(float(expected[score.token]))
    assert all(math.isfinite(score.masked) for score in scores)


def test_warming_up_samples_from_every_token(loaded: LoadedModel) -> None:
    found = runner(loaded)
    taken: list[tuple[int, ...]] = []
    sample = found.sample

    def recording(logits: torch.Tensor, rows: object, masks: list[np.ndarray]) -> object:
        taken.append((logits.shape[1], int(np.unpackbits(masks[0].view(np.uint8)).sum())))
        return sample(logits, rows, masks)  # type: ignore[arg-type]

    found.sample = recording  # type: ignore[method-assign,assignment]
    found.warm_up(256, lambda _: pytest.fail("nothing else is done on a CPU"))
    ((vocab, allowed),) = taken
    assert vocab == loaded.decoder.vocab_size
    assert allowed >= vocab


def device_decoder(vocab: int | None = None) -> DenseDecoder:
    """The demo model on a device without data; with the first `vocab` tokens."""
    config, weights = parse_config(read_config(DEMO_PATH)), read_weights(DEMO_PATH)
    if vocab is not None:
        config = replace(config, vocab_size=vocab)
        embedding = weights["model.embed_tokens.weight"][:vocab]
        weights = {**weights, "model.embed_tokens.weight": embedding}
    return DenseDecoder(config, weights, torch.bfloat16, device=META)


@pytest.mark.parametrize("graphs", [False, True])
def test_warming_up_compiles_the_kernels_of_all_steps(graphs: bool) -> None:
    """Draws with and without listed tokens and scores have kernels of their own, and so have
    decodes of few and of many rows, within a split and beyond, and pieces of prompts. Nothing is
    read back while kernels are only compiled. Then draws are launched, and the largest step is
    recorded."""
    decoder = device_decoder(515)
    found = Runner(decoder, 2, 16)
    tapes = TapeRecorder()
    lines: list[str] = []
    ahead: list[dict[str, list[tuple[Any, ...]]]] = []

    def compiling(launch: Callable[[], object]) -> None:
        with recorded() as kernels, HostWaits() as waits:
            launch()
            ahead.append({name: kernel.launches for name, kernel in kernels.items()})
        assert not set(waits.waits) & set(READS)

    with (
        patch("maskwright.engine.step.runner.runs_kernels", return_value=True),
        patch("maskwright.models.decoder.kernels_run_on", return_value=True),
        patch("maskwright.engine.step.runner.find_recorder", return_value=tapes),
        patch("maskwright.engine.step.runner.compile_ahead", compiling),
        recorded() as kernels,
        HostWaits(),
    ):
        if graphs:
            found.open_graphs(256, 2048, in_a_row=True)
        found.warm_up(2048, lines.append)
    [compiled] = ahead
    for launches in (compiled, {name: kernel.launches for name, kernel in kernels.items()}):
        gathers = launches["gather_kernel"]
        stats = [isinstance(launch[-1], torch.Tensor) for launch in gathers]
        assert stats[:4] == [False, False, True, True]
        assert {(launch[1] % 16, launch[6] % 16) for launch in gathers} == {(0, 0)}
        assert len(launches["edit_kernel"]) == 2
        assert len(launches["finish_kernel"]) == len(gathers)
    queries = {len(launch[0]) for launch in compiled["attend_kernel"]}
    assert queries >= ({4, 8, 256, 12} if graphs else {12})
    joined = {launch[2] for launch in compiled["merge_kernel"]}
    assert 17 in joined, "no multiple of 16"
    assert len(compiled["gather_kernel"]) == 4 + graphs
    assert len(tapes.tapes) == graphs
    assert lines == ["compiling kernels", *["recording the largest decode step"] * graphs]


def test_kernels_that_can_not_be_compiled_ahead_are_compiled_on_use(
    caplog: pytest.LogCaptureFixture,
) -> None:
    found = Runner(device_decoder(515), 2, 16)
    failing = patch(
        "maskwright.engine.step.runner.compile_ahead", side_effect=RuntimeError("out of memory")
    )
    with (
        patch("maskwright.engine.step.runner.runs_kernels", return_value=True),
        recorded() as kernels,
        HostWaits(),
        failing,
    ):
        found.warm_up(2048, lambda _: None)
    assert len(kernels["gather_kernel"].launches) == 4
    assert "compiled when they are first used (out of memory)" in caplog.text


@pytest.mark.parametrize("scored", [False, True])
def test_a_step_on_a_device_waits_for_its_results_alone(scored: bool) -> None:
    """Decodes, a piece of a prompt, blocks to clear and rows of every kind: all that goes to the
    device goes in three copies that the host doesn't wait for. Masks that are there are not copied
    again."""
    decoder = device_decoder()
    found = Runner(decoder, 9, 16)
    sequences = [
        Sequence(number, [5] * 20, 8, 99, computed=computed, table=[2 * number + 1, 2 * number + 2])
        for number, computed in enumerate((19, 19, 0))
    ]
    chunks = [Chunk(each, each.computed, each.pending, samples=True) for each in sequences]
    plan = StepPlan(tuple(chunks), (BlockCopy(WITHIN, 1, 7),), (5, 6), (), ())
    rows = [
        row(),
        row(temperature=1.0, top_k=5, top_p=0.9, min_p=0.1, logit_bias={3: 1.0}),
        row(temperature=0.7, repetition_penalty=1.2, bad_words=((1, 2),)),
    ]
    if scored:
        rows[1:] = [
            row(temperature=1.0, top_p=0.9, logprobs=2, logit_bias={3: 1.0}),
            row(logprobs=3, scale="masked"),
        ]
    masks = [np.full(-(-decoder.vocab_size // 32), number, np.int32) for number in (1, 2, 1)]
    noted = []
    with (
        patch("maskwright.models.decoder.kernels_run_on", return_value=True),
        patch("maskwright.engine.step.runner.runs_kernels", return_value=True),
        recorded() as kernels,
    ):
        for _ in range(2):
            with HostWaits() as waits:
                found.arrange(plan)
                logits = found.forward(plan)
                assert waits.waits == [], "the host goes on while the device computes"
                found.sample(logits[: len(rows)], rows, masks)
            noted.append((waits.waits, waits.uploads))
    assert kernels["attend_kernel"].launches
    assert kernels["finish_kernel"].launches
    # Blocks to clear; rows and tables; parameters. With scores, rows are drawn in two parts: their
    # numbers and parameters, and by what alternatives are chosen. New masks are one more.
    uploads = 7 if scored else 3
    assert noted == [(["tolist"], uploads + 1), (["tolist"], uploads)]


def test_scores_of_a_prompt_are_computed_on_the_device() -> None:
    """Of the logits, only what is reported comes to the host, in one copy."""
    logits = torch.empty(40, device_decoder().vocab_size, device=META)
    with HostWaits() as waits:
        scores = score_prompt(logits, [7] * 40, 3)
    assert (waits.waits, waits.uploads) == (["cpu"], 1)
    assert (len(scores), scores.top.shape, scores.tokens.tolist()) == (40, (40, 3), [7] * 40)
