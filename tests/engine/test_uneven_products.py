"""The engine over products that depend on the number of rows: it says so, and is nearly exact."""

from __future__ import annotations

import logging
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from maskwright.engine import Engine, EngineConfig, FinishReason, Request
from maskwright.models import BatchInvariance, LoadedModel, load
from maskwright.models.transformers_backend.self_check import computed_in_parts
from maskwright.sampling import SamplingParams
from tests.engine.step.test_core import check_grammar, drive, random_config, random_requests
from tests.engine.tiny import save_checkpoint
from tests.models.adapters import save_adapter
from tests.models.products import ROUNDING, even_products, uneven_products

LOGGER = "maskwright.engine.step.loop"


@pytest.fixture(autouse=True)
def uneven() -> Iterator[None]:
    with uneven_products():
        yield


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    directory = save_checkpoint(tmp_path_factory.mktemp("checkpoint") / "tiny")
    return load(directory, backend="transformers")


@pytest.mark.parametrize("seed", range(12))
def test_logits_stay_within_rounding_under_any_schedule(
    library: LoadedModel, other_weights: LoadedModel, seed: int
) -> None:
    """Neighbours, chunks, preemption, swaps, cached prefixes, drafts and forced runs: every row
    that a token was drawn from is that of the text before it, computed in one piece, up to
    rounding; the books balance after every step, and grammars are obeyed. (Tokens may differ from
    those of the request alone: where two are nearly equally likely.)"""
    rng = random.Random(seed)
    config = replace(random_config(rng, [library, other_weights]), kv_dtype="auto")
    driven = drive(library, config, rng, random_requests(rng, library))
    compared = 0
    for number, request in enumerate(driven.requests):
        got = driven.harness.completion(number)
        tokens = [*request.prompt, *got.token_ids]
        (expected,) = computed_in_parts(library.decoder, [tokens], random.Random(0), chunk=400)
        for length in range(len(request.prompt), len(tokens)):
            row = driven.harness.logits.get((request.params.seed, tuple(tokens[:length])))
            if row is not None:
                compared += 1
                torch.testing.assert_close(row, expected[length - 1], atol=ROUNDING, rtol=ROUNDING)
        if got.finish_reason is FinishReason.CANCELLED:
            assert number in driven.cancelled
        elif request.grammar is not None:
            check_grammar(request.grammar, got)
    assert compared


def test_the_engine_says_so_once(library: LoadedModel, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, LOGGER):
        engine = Engine(library, EngineConfig(max_running=2))
        assert engine.batch_invariance is engine.stats().batch_invariant is None
        with engine:
            for seed in range(3):
                engine.submit(Request([65], SamplingParams(seed=seed), 5)).result()
            assert engine.stats().batch_invariant is False
            assert engine.batch_invariance is not None
            violation = engine.batch_invariance.violation
    (record,) = [record for record in caplog.records if record.name == LOGGER]
    assert record.levelname == "WARNING"
    assert f"depend on what is computed beside them ({violation})" in record.getMessage()
    assert violation.startswith("the product of 32 inputs")


def test_it_says_nothing_where_products_are_even(
    library: LoadedModel, caplog: pytest.LogCaptureFixture
) -> None:
    with even_products(), Engine(library, EngineConfig(max_running=2)) as engine:
        engine.submit(Request([65], SamplingParams(), 5)).result()
        assert engine.batch_invariance == BatchInvariance()
        assert engine.stats().batch_invariant is True
    assert not [record for record in caplog.records if record.name == LOGGER]


def test_adapters_are_tried_though_the_model_is_compiled(
    loaded: LoadedModel, tmp_path: Path
) -> None:
    save_adapter(tmp_path, loaded.decoder.adapter_shapes, ["q_proj"])
    request = Request([65], SamplingParams(), 2)
    with Engine(loaded) as engine:
        engine.submit(request).result()
        assert engine.stats().batch_invariant is True
    with Engine(loaded, adapters={"a": tmp_path}) as engine:
        engine.submit(request).result()
        assert engine.batch_invariance is not None
        assert engine.batch_invariance.violation.startswith(
            "the product of 32 inputs and 4 outputs"
        )
