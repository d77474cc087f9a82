"""Everything at once, for long: arrivals, cancels, timeouts, preemptions, swaps, shared prompts,
several answers to one prompt, classes, slow readers and grammars. The pool is whole at the end, and
every constrained output is valid."""

import json
import random
from collections import Counter
from dataclasses import replace

import jsonschema
import pytest

from maskwright.engine import EngineConfig, FinishReason, Request
from maskwright.engine.schedule.plan import StepPlan
from maskwright.mask import Grammar, compile_json_schema, compile_regex
from maskwright.models import LoadedModel
from maskwright.sampling import SamplingParams
from maskwright.server.starter import choice_seed
from tests.engine.step.test_core import Harness
from tests.engine.test_constrained import SCHEMAS

PATTERN = "(yes|no), [0-9]{2,5}"
WHOLE = {FinishReason.STOP, FinishReason.GRAMMAR, FinishReason.LENGTH}


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("count", "overlap"),
    [
        (300, False),
        pytest.param(10_000, False, marks=pytest.mark.slow),
        pytest.param(10_000, True, marks=pytest.mark.slow),
    ],
)
def test_soak(loaded: LoadedModel, count: int, overlap: bool) -> None:
    rng = random.Random(count)
    config = EngineConfig(
        block_size=4,
        blocks=70,
        max_running=12,
        max_batch_tokens=48,
        reader_tokens=8,
        swap_bytes=1 << 14,
        overlap=overlap,
    )
    harness = Harness(loaded, config)
    seen = watch_plans(harness)
    grammars = [compile_json_schema(schema, loaded.vocab) for schema in SCHEMAS]
    grammars.append(compile_regex(PATTERN, loaded.vocab))
    prompts = [[rng.randrange(256) for _ in range(n)] for n in (3, 30, 60)]
    asked: list[Request] = []
    groups: list[range] = []
    while len(asked) < count or not harness.core.idle or harness.scheduler.paused:
        while len(asked) < count and (harness.core.live < 30 and rng.random() < 0.6):
            answers = draw_answers(rng, draw_request(rng, grammars, prompts))
            groups.append(range(len(asked), len(asked) + len(answers)))
            for request in answers:
                harness.add(request, len(asked))
                asked.append(request)
        harness.now += rng.random()
        harness.core.step()
        harness.logits.clear()
        if harness.core.counts.steps % 16 == 0:
            harness.scheduler.check()
            harness.poison()
        live = list(harness.core._active)
        if live and rng.random() < 0.05:
            harness.core.cancel(rng.choice(live))
        behind = harness.core._active.get(rng.choice(live)) if live else None
        if behind is not None and rng.random() < 0.1:
            harness.scheduler.pause(behind.sequence)
        for sequence in list(harness.scheduler.paused):
            if rng.random() < 0.3:
                harness.core.resume(sequence.arrival)
    harness.post_step_work.stop()
    harness.scheduler.check()
    assert (harness.pool.used, harness.core.live, harness.empty_masks) == (0, 0, 0)
    ends = [check(number, request, harness) for number, request in enumerate(asked)]
    assert len(ends) >= count
    assert set(ends) >= {FinishReason.GRAMMAR, FinishReason.CANCELLED, FinishReason.TIMEOUT}
    assert FinishReason.ERROR not in ends
    assert harness.scheduler.preemptions > harness.scheduler.swaps > 0
    assert harness.scheduler.host.used == 0
    assert min(harness.core.counts.accepted_tokens, harness.core.counts.forced_tokens) > 0
    tree = harness.scheduler.tree
    assert tree is not None
    assert tree.hits > 0
    assert tree.evictions > 0
    check_forks(groups, ends, seen, count)


def watch_plans(harness: Harness) -> Counter[str]:
    """Counts what the plans of all steps hold: answers that go on in a copy of another's last
    block or beside others that hold the same blocks, and each way to copy."""
    seen: Counter[str] = Counter()
    plan_step = harness.scheduler.plan

    def watched(budget: int | None = None) -> StepPlan:
        plan = plan_step(budget)
        seen["preempted"] += len(plan.preempted)
        for move in plan.copies:
            seen[move.direction.name] += 1
        for sequence in plan.admitted:
            shared = any(harness.pool.references(block) > 2 for block in sequence.table)
            seen["admitted beside others with the same blocks"] += shared
        return plan

    harness.scheduler.plan = watched
    return seen


def draw_answers(rng: random.Random, request: Request) -> list[Request]:
    """The `n` answers to one prompt, as the server asks for them: a seed for each."""
    seed = request.params.seed
    return [
        replace(request, params=replace(request.params, seed=choice_seed(seed, index)))
        for index in range(rng.choice([1, 1, 1, 2, 4]))
    ]


def check_forks(
    groups: list[range], ends: list[FinishReason], seen: Counter[str], count: int
) -> None:
    """Answers to one prompt shared blocks and copied the last; single ones were cancelled, and
    their siblings went on to an end of their own."""
    forks = [Counter(ends[number] for number in group) for group in groups if len(group) > 1]
    alone = [fork for fork in forks if fork[FinishReason.CANCELLED] == 1]
    assert len(forks) > count / 10
    assert any(fork.keys() & WHOLE for fork in alone), "no single answer was cancelled"
    assert seen["admitted beside others with the same blocks"] > count / 20
    assert min(seen[way] for way in ("WITHIN", "OUT", "IN")) > 0
    assert seen["WITHIN"] > count / 20, "forks copy the last block of their prompt"


def draw_request(rng: random.Random, grammars: list[Grammar], prompts: list[list[int]]) -> Request:
    grammar = rng.choice([None, *grammars])
    least = 1 if grammar is None else grammar.min_tokens
    return Request(
        prompt=[*rng.choice(prompts), *(rng.randrange(256) for _ in range(rng.randint(1, 9)))],
        params=SamplingParams(
            temperature=rng.choice([0.0, 1.0, 2.0]),
            seed=rng.getrandbits(63),
            top_k=rng.choice([0, 8]),
            repetition_penalty=rng.choice([1.0, 1.2]),
            logprobs=rng.choice([None, None, None, 2]),
        ),
        max_tokens=least + rng.randint(0, 40),
        stop=("e", "the") if grammar is None and rng.random() < 0.3 else (),
        grammar=grammar,
        service=rng.choice(["interactive", "agent", "batch"]),
        client=rng.choice("abc"),
        timeout=rng.choice([None, None, None, 40.0]),
    )


def check(number: int, request: Request, harness: Harness) -> FinishReason:
    got = harness.completion(number)
    assert len(got.token_ids) <= request.max_tokens
    if request.params.logprobs is not None:
        assert [score.token for score in got.scores] == list(got.token_ids)
    if request.grammar is not None and got.finish_reason in WHOLE:
        matcher = request.grammar.matcher()
        assert all(matcher.accept(token) for token in got.token_ids)
        assert matcher.accepting
        if got.text[:2] not in {"ye", "no"}:
            assert any(
                jsonschema.Draft202012Validator(schema).is_valid(json.loads(got.text))
                for schema in SCHEMAS
            )
    return got.finish_reason
