"""The engine over a model of the transformers library: answers as over the dense decoder."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from maskwright import compile_json_schema
from maskwright.engine import Completion, Engine, EngineConfig, Request
from maskwright.models import LoadedModel, load
from maskwright.sampling import SamplingParams
from tests.engine.tiny import save_checkpoint

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> tuple[LoadedModel, LoadedModel]:
    directory: Path = save_checkpoint(tmp_path_factory.mktemp("checkpoint") / "tiny")
    return load(directory), load(directory, backend="transformers")


def answers(loaded: LoadedModel, config: EngineConfig, *, together: bool) -> list[Completion]:
    grammar = compile_json_schema(SCHEMA, loaded.vocab)
    rng = random.Random(3)
    prompt = [rng.randrange(200) for _ in range(40)]
    requests = [
        Request(
            prompt=[*prompt, *range(number)],
            params=SamplingParams(seed=number, temperature=0.8 * (number % 2)),
            max_tokens=30,
            grammar=grammar if number % 3 else None,
        )
        for number in range(1, 7)
    ]
    with Engine(loaded, config) as engine:
        if together:
            return [g.result() for g in [engine.submit(request) for request in requests]]
        return [engine.submit(request).result() for request in requests]


def test_tokens_are_those_of_the_dense_decoder(models: tuple[LoadedModel, LoadedModel]) -> None:
    dense, library = models
    few = EngineConfig(blocks=24, max_running=4, max_batch_tokens=32)
    plain = EngineConfig(blocks=64, max_running=1, prefix_cache=False, drafts=0)
    expected = answers(dense, plain, together=False)
    assert answers(library, plain, together=False) == expected
    assert answers(library, few, together=True) == expected
