"""Log-probabilities of prompts: those of a plain forward, whatever is cached, cut into chunks or
preempted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
import transformers

from maskwright.engine import Engine, EngineConfig, Request
from maskwright.errors import InputError
from maskwright.models import LoadedModel, load
from maskwright.sampling import PromptScores, SamplingParams
from maskwright.sizing.serving_plan import MOST_SCORED
from tests.engine.step.test_core import Harness
from tests.engine.tiny import LiteralGrammar, save_checkpoint

CONFIG = EngineConfig(block_size=4, blocks=64, max_running=4, max_batch_tokens=16, overlap=False)
SHARED = list(range(70, 110))


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_checkpoint(tmp_path_factory.mktemp("checkpoint") / "scored")


@pytest.fixture(scope="module")
def scored(checkpoint: Path) -> LoadedModel:
    return load(checkpoint)


def asked(number: int = 1, *, top: int | None = 3, max_tokens: int = 12) -> Request:
    prompt = [*SHARED, *([110 + number] * 25)]
    params = SamplingParams(seed=number)
    return Request(prompt, params, max_tokens=max_tokens, eos=(), prompt_logprobs=top)


def run(harness: Harness, *requests: Request, first: int = 1) -> list[PromptScores | None]:
    for number, request in enumerate(requests, first):
        harness.add(request, number)
    generations = [
        harness.core._active[number].generation for number in range(first, first + len(requests))
    ]
    harness.run()
    return [generation.prompt_scores for generation in generations]


def check(checkpoint: Path, request: Request, scores: PromptScores | None) -> None:
    """Compare with the plain forward of transformers."""
    model = transformers.AutoModelForCausalLM.from_pretrained(checkpoint)
    with torch.no_grad():
        plain = model(torch.tensor([list(request.prompt)]), use_cache=False).logits[0].double()
    shares = torch.log_softmax(plain, dim=-1)
    assert scores is not None
    assert scores.tokens.tolist() == list(request.prompt[1:])
    most = request.prompt_logprobs
    assert most is not None
    for at, score in enumerate(scores.read(most)):
        row = shares[at]
        assert score.logprob == pytest.approx(float(row[request.prompt[at + 1]]), abs=1e-4)
        assert abs(score.rank - 1 - int((row > score.logprob).sum())) <= 1, "ties aside"
        best = row.topk(most)
        assert [value for _, value in score.top] == pytest.approx(best.values.tolist(), abs=1e-4)
        assert [token for token, _ in score.top][:1] == best.indices.tolist()[:1]


def test_a_prompt_in_many_steps(checkpoint: Path, scored: LoadedModel) -> None:
    harness = Harness(scored, CONFIG)
    [scores] = run(harness, asked())
    check(checkpoint, asked(), scores)
    assert harness.core.counts.steps > 5


def test_a_cached_prefix_is_computed_again(checkpoint: Path, scored: LoadedModel) -> None:
    """A prompt that has been computed before, one that is being computed at the time, and after
    both one without scores, which takes everything from the cache."""
    harness = Harness(scored, CONFIG)
    [none] = run(harness, asked(top=None))
    assert none is None
    first, other = run(harness, asked(top=0), asked(2), first=2)
    check(checkpoint, asked(top=0), first)
    check(checkpoint, asked(2), other)
    tree = harness.scheduler.tree
    assert tree is not None
    assert tree.hits == 0
    run(harness, asked(top=None), first=4)
    assert tree.hits >= 60
    assert harness.completion(4).token_ids == harness.completion(1).token_ids
    assert harness.completion(2).token_ids == harness.completion(1).token_ids


@pytest.mark.parametrize("swap_bytes", [0, 1 << 20], ids=["recomputed", "swapped"])
def test_preemption_repeats_and_loses_no_score(
    checkpoint: Path, scored: LoadedModel, swap_bytes: int
) -> None:
    config = replace(CONFIG, blocks=24, swap_bytes=swap_bytes)
    harness = Harness(scored, config)
    requests = [asked(number, max_tokens=20) for number in (1, 2, 3)]
    every = run(harness, *requests)
    for request, scores in zip(requests, every, strict=True):
        check(checkpoint, request, scores)
    first = Harness(scored, config)
    first.add(requests[0], 1)
    sequence = first.core._active[1].sequence
    generation = first.core._active[1].generation
    for _ in range(3):
        first.step()
    assert 0 < sequence.scored < sequence.to_score
    first.scheduler.pause(sequence)  # as for a slow reader, whose blocks others need
    first.add(replace(requests[1], prompt=[*requests[1].prompt[::-1]]), 2)
    first.run()
    assert first.scheduler.preemptions == 1
    first.scheduler.resume(sequence)
    first.run()
    check(checkpoint, requests[0], generation.prompt_scores)


def test_a_step_keeps_few_rows_of_logits(scored: LoadedModel) -> None:
    config = EngineConfig(blocks=128, max_running=4, max_batch_tokens=512, overlap=False)
    harness = Harness(scored, config)
    forward, most = harness.runner.forward, []
    harness.runner.forward = lambda plan: (
        most.append(sum(c.rows for c in plan.chunks)) or forward(plan)
    )
    run(harness, *[asked(number) for number in range(1, 5)])
    assert MOST_SCORED <= max(most) <= MOST_SCORED + config.max_running


def test_before_text_that_a_grammar_forces(checkpoint: Path, scored: LoadedModel) -> None:
    """Which could otherwise be written without computing the prompt at all."""
    grammar = LiteralGrammar(scored.vocab, b"the cat")
    request = replace(asked(), eos=None, grammar=grammar)
    harness = Harness(scored, CONFIG)
    [scores] = run(harness, request)
    check(checkpoint, request, scores)
    assert harness.completion(1).text == "the cat"


def test_the_engine_has_them_before_the_first_delta(checkpoint: Path, scored: LoadedModel) -> None:
    with Engine(scored, EngineConfig(blocks=64, max_running=2)) as engine:
        generation = engine.submit(asked())
        next(iter(generation))
        check(checkpoint, asked(), generation.prompt_scores)
        short = engine.submit(replace(asked(), prompt=[70]))
        short.result()
        assert short.prompt_scores is None, "a first token has no token before it"
    with pytest.raises(InputError) as caught:
        asked(top=21)
    assert caught.value.param == "prompt_logprobs"
