"""The engine through its public face: threads, event loops, errors."""

import asyncio
import threading
from dataclasses import replace

import pytest
import torch

from maskwright.engine import Engine, EngineConfig, FinishReason, Generation, Request
from maskwright.engine.step import loop
from maskwright.errors import BudgetError, EngineStoppedError, InputError, OverloadedError
from maskwright.models import LoadedModel
from maskwright.models.decoder import MOST_SHARING
from maskwright.sampling import SamplingParams
from maskwright.vocab import Vocabulary
from tests.bounds import PATIENCE, wait_until
from tests.engine.step.held import held_steps
from tests.engine.tiny import LiteralGrammar

CONFIG = EngineConfig(blocks=64, max_running=8, max_batch_tokens=32)


def request(loaded: LoadedModel, seed: int = 1, max_tokens: int = 20, **changes) -> Request:
    prompt = loaded.encode("the cat")
    return replace(Request(prompt, SamplingParams(seed=seed), max_tokens, eos=()), **changes)


def test_deltas_join_to_the_result(loaded: LoadedModel) -> None:
    with Engine(loaded, CONFIG) as engine:
        assert engine.alive
        deltas = list(engine.submit(request(loaded)))
        completion = engine.submit(request(loaded)).result()
        stats = engine.stats()
    assert "".join(d.text for d in deltas) == completion.text
    assert sum((d.token_ids for d in deltas), ()) == completion.token_ids
    assert deltas[-1].finish_reason is completion.finish_reason is FinishReason.LENGTH
    assert (completion.prompt_tokens, completion.completion_tokens) == (
        len(request(loaded).prompt),
        20,
    )
    assert (stats.blocks_used, stats.running, stats.waiting) == (0, 0, 0)
    assert stats.blocks_free + stats.blocks_cached == stats.blocks_total == 64
    assert (stats.sampled_tokens, stats.finished) == (40, {"length": 2})
    assert not engine.alive


def test_a_grammar_gives_its_text(loaded: LoadedModel) -> None:
    grammar = LiteralGrammar(loaded.vocab, b'{"the":"cat"}')
    with Engine(loaded, CONFIG) as engine:
        completion = engine.submit(
            request(loaded, max_tokens=grammar.min_tokens, grammar=grammar, eos=None)
        ).result()
    assert completion.text == '{"the":"cat"}'
    assert completion.finish_reason is FinishReason.GRAMMAR


def test_async_readers_share_a_loop_and_leave_it_free(loaded: LoadedModel) -> None:
    async def main(engine: Engine) -> list[str]:
        with held_steps(engine):  # until the loop has turned: readers that block it wait in vain
            generations = [engine.submit(request(loaded, seed)) for seed in range(12)]
            work = asyncio.gather(*(g.aresult() for g in generations))
            for _ in range(50):
                await asyncio.sleep(0)
            assert not work.done()
        return [completion.text for completion in await work]

    with Engine(loaded, CONFIG) as engine:
        together = asyncio.run(main(engine))
        alone = [engine.submit(request(loaded, seed)).result().text for seed in range(12)]
    assert together == alone


@pytest.mark.parametrize(
    ("setting", "torchs", "usable", "expected"),
    [(None, 16, 16, MOST_SHARING), (None, 1, 16, 1), (None, 16, 2, 2), (1, 16, 16, 1)],
)
def test_rows_are_shared_by_threads(
    loaded: LoadedModel,
    setting: int | None,
    torchs: int,
    usable: int,
    expected: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []
    monkeypatch.setattr(loop, "set_threads", asked.append)
    monkeypatch.setattr(torch, "get_num_threads", lambda: torchs)
    monkeypatch.setattr(loop, "usable_processors", lambda: usable)
    with Engine(loaded, replace(CONFIG, threads=setting)) as engine:
        engine.submit(request(loaded)).result()
    assert asked == [expected]


def test_threads_may_submit_together(loaded: LoadedModel) -> None:
    texts: dict[int, str] = {}
    with Engine(loaded, CONFIG) as engine:

        def work(seed: int) -> None:
            texts[seed] = engine.submit(request(loaded, seed)).result().text

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        again = {seed: engine.submit(request(loaded, seed)).result().text for seed in range(16)}
    assert texts == again


def test_a_seed_is_drawn_where_none_is_given(loaded: LoadedModel) -> None:
    with Engine(loaded, CONFIG) as engine:
        first, second = (engine.submit(request(loaded, params=SamplingParams())) for _ in range(2))
        again = engine.submit(request(loaded, seed=first.seed))
        assert first.seed != second.seed
        assert again.result().text == first.result().text


def test_cancel_frees_and_says_so(loaded: LoadedModel) -> None:
    with Engine(loaded, replace(CONFIG, reader_tokens=8)) as engine:  # so that it pauses till then
        generation = engine.submit(request(loaded, max_tokens=200))
        reader = iter(generation)
        first = next(reader)
        generation.cancel()
        rest = list(reader)
        generation.cancel()
        assert rest[-1].finish_reason is FinishReason.CANCELLED
        assert len(first.token_ids) + sum(len(d.token_ids) for d in rest) < 200
        assert engine.stats().blocks_used == 0
        assert engine.submit(request(loaded)).result().finish_reason is FinishReason.LENGTH


def test_a_reader_that_leaves_mid_way(loaded: LoadedModel) -> None:
    """64 readers that stop reading and cancel at different moments leave no block behind."""

    async def leave(generation: Generation, after: int) -> None:
        async for _ in generation:
            after -= 1
            if after < 0:
                break
        generation.cancel()

    async def main(engine: Engine) -> None:
        await asyncio.gather(
            *(leave(engine.submit(request(loaded, i, 40)), i % 13) for i in range(64))
        )

    with Engine(loaded, CONFIG) as engine:
        asyncio.run(main(engine))
        wait_until(lambda: engine.stats().running + engine.stats().waiting == 0)
        assert engine.stats().blocks_used == 0
        assert engine.alive


def test_a_slow_reader_holds_one_delta(loaded: LoadedModel) -> None:
    with Engine(loaded, CONFIG) as engine:
        slow = engine.submit(request(loaded, max_tokens=30))
        wait_until(lambda: engine.stats().finished == {"length": 1})
        deltas = list(slow)
        assert len(deltas) == 1
        assert len(deltas[0].token_ids) == 30


REFUSED = [
    ({"prompt": [65] * 256}, "prompt", "context_length_exceeded"),
    ({"prompt": [65] * 200, "max_tokens": 57}, "max_tokens", "context_length_exceeded"),
    ({"prompt": [10**6]}, "prompt", "invalid_value"),
    ({"prompt": [-1]}, "prompt", "invalid_value"),
    ({"eos": (10**6,)}, "eos", "invalid_value"),
    ({"params": SamplingParams(logit_bias={10**6: 1.0})}, "logit_bias", "invalid_value"),
    ({"params": SamplingParams(bad_words=((10**6,),))}, "logit_bias", "invalid_value"),
]


@pytest.mark.parametrize(("changes", "param", "code"), REFUSED)
def test_what_can_never_be_served_is_refused(
    loaded: LoadedModel, changes: dict, param: str, code: str
) -> None:
    with Engine(loaded, CONFIG) as engine:
        with pytest.raises(InputError) as caught:
            engine.submit(request(loaded, **changes))
        assert (caught.value.param, caught.value.code) == (param, code)
        assert engine.submit(request(loaded)).result().completion_tokens == 20


@pytest.mark.parametrize(
    ("values", "param"),
    [
        ({"prompt": ()}, "prompt"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"stop": ("a", "")}, "stop"),
        ({"grammar": object(), "eos": (1,)}, "eos"),
    ],
)
def test_a_request_that_makes_no_sense(values: dict, param: str) -> None:
    with pytest.raises(InputError) as caught:
        Request(**{"prompt": (1,), "params": SamplingParams(), "max_tokens": 1, **values})
    assert caught.value.param == param


def test_a_request_larger_than_the_pool_is_refused(loaded: LoadedModel) -> None:
    with Engine(loaded, EngineConfig(blocks=2, max_running=4)) as engine:
        assert engine.max_context == 32
        with pytest.raises(InputError, match="context of 32"):
            engine.submit(request(loaded, max_tokens=32))
        most = 32 - len(request(loaded).prompt)
        assert engine.submit(request(loaded, max_tokens=most)).result().completion_tokens == most


def test_a_limit_below_the_shortest_output_says_what_is_needed(loaded: LoadedModel) -> None:
    grammar = LiteralGrammar(loaded.vocab, b"xyxyxy")
    with Engine(loaded, CONFIG) as engine, pytest.raises(BudgetError) as caught:
        engine.submit(request(loaded, max_tokens=5, grammar=grammar, eos=None))
    assert (caught.value.needed, caught.value.param) == (6, "max_tokens")


def test_a_grammar_of_another_vocabulary_is_refused(loaded: LoadedModel) -> None:
    other = LiteralGrammar(Vocabulary([b"a", b"b", b""], eos=2), b"ab")
    with Engine(loaded, CONFIG) as engine, pytest.raises(InputError, match="another vocabulary"):
        engine.submit(request(loaded, grammar=other, eos=None))


def test_a_full_queue_refuses(loaded: LoadedModel) -> None:
    config = EngineConfig(blocks=64, max_running=1, max_waiting=2)
    with Engine(loaded, config) as engine:
        with held_steps(engine):
            generations = [engine.submit(request(loaded, max_tokens=200)) for _ in range(3)]
            with pytest.raises(OverloadedError) as caught:
                engine.submit(request(loaded))
            assert caught.value.retry_after > 0
            for generation in generations:
                generation.cancel()
        assert [g.result().finish_reason for g in generations] == [FinishReason.CANCELLED] * 3
        assert engine.submit(request(loaded)).result().completion_tokens == 20


def test_a_defect_of_the_loop_fails_every_request(
    loaded: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Engine(loaded, CONFIG) as engine:
        steps = iter(range(5))
        submitted = threading.Event()
        forward = engine._runner.forward

        def broken(plan):
            if next(steps, None) is None:
                assert submitted.wait(PATIENCE)
                raise RuntimeError("out of paper")
            return forward(plan)

        monkeypatch.setattr(engine._runner, "forward", broken)
        generations = [engine.submit(request(loaded, seed)) for seed in range(12)]
        submitted.set()
        for generation in generations:
            with pytest.raises(EngineStoppedError, match="out of paper"):
                generation.result()
        assert not engine.alive
        assert not engine.stats().healthy
        with pytest.raises(EngineStoppedError, match="out of paper"):
            engine.submit(request(loaded))


def test_stopping_ends_what_is_left(loaded: LoadedModel) -> None:
    engine = Engine(loaded, CONFIG)
    with pytest.raises(EngineStoppedError, match="not running"):
        engine.submit(request(loaded))
    engine.start()
    forward = engine._runner.forward

    def until_stopping(plan):
        wait_until(lambda: engine._stopping)
        return forward(plan)

    engine._runner.forward = until_stopping
    generations = [engine.submit(request(loaded, max_tokens=200)) for _ in range(12)]
    engine.stop()
    for generation in generations:
        with pytest.raises(EngineStoppedError, match="stopped"):
            generation.result()
    assert engine.stats().blocks_used == 0
    with pytest.raises(EngineStoppedError):
        engine.submit(request(loaded))


@pytest.mark.parametrize(
    ("values", "param"),
    [
        ({"blocks": 0}, "blocks"),
        ({"block_size": 12}, "block_size"),
        ({"max_running": 600}, "max_batch_tokens"),
        ({"max_waiting": 1.5}, "max_waiting"),
        ({"threads": True}, "threads"),
    ],
)
def test_configuration_is_checked(values: dict, param: str) -> None:
    with pytest.raises(InputError) as caught:
        EngineConfig(**values)
    assert caught.value.param == param


def test_a_context_beyond_the_model_is_refused(loaded: LoadedModel) -> None:
    with pytest.raises(InputError, match="256 positions"):
        Engine(loaded, EngineConfig(max_context=257))
    assert Engine(loaded, EngineConfig(max_context=100)).max_context == 100
