"""The engine through its public face: threads, event loops, errors."""

import asyncio

from maskwright.engine import Engine, EngineConfig, FinishReason, Request
from maskwright.models import LoadedModel
from maskwright.sampling import SamplingParams
from tests.engine.tiny import LiteralGrammar

CONFIG = EngineConfig(blocks=64, max_running=8, max_batch_tokens=32)


def test_a_request_gives_tokens(loaded: LoadedModel) -> None:
    with Engine(loaded, CONFIG) as engine:
        generation = engine.submit(
            Request(loaded.encode("the cat"), SamplingParams(seed=1), max_tokens=12)
        )
        deltas = list(generation)
        assert "".join(d.text for d in deltas)
        assert deltas[-1].finish_reason in {FinishReason.LENGTH, FinishReason.STOP}
        assert engine.stats().blocks_used == 0
        assert engine.alive
    assert not engine.alive


def test_grammar_gives_its_text(loaded: LoadedModel) -> None:
    grammar = LiteralGrammar(loaded.vocab.tokens, loaded.eos, b'{"the":"cat"}')
    with Engine(loaded, CONFIG) as engine:
        request = Request(
            loaded.encode("x"), SamplingParams(seed=3), grammar.min_tokens, grammar=grammar
        )
        completion = engine.submit(request).result()
    assert completion.text == '{"the":"cat"}'
    assert completion.finish_reason is FinishReason.STOP
    assert completion.completion_tokens == grammar.min_tokens


def test_async_readers_share_a_loop(loaded: LoadedModel) -> None:
    async def main(engine: Engine) -> list[str]:
        generations = [
            engine.submit(Request(loaded.encode("the"), SamplingParams(seed=i), max_tokens=20))
            for i in range(12)
        ]
        done = await asyncio.gather(*(g.aresult() for g in generations))
        return [completion.text for completion in done]

    with Engine(loaded, CONFIG) as engine:
        together = asyncio.run(main(engine))
        alone = [
            engine.submit(Request(loaded.encode("the"), SamplingParams(seed=i), max_tokens=20))
            .result()
            .text
            for i in range(12)
        ]
    assert together == alone
