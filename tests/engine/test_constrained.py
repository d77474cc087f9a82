"""Real grammars in the engine: whatever the limit, the neighbours and the pool, the output is whole
and valid."""

import itertools
import json

import jsonschema
import pytest

from maskwright.engine import Engine, EngineConfig, FinishReason, Request
from maskwright.errors import BudgetError
from maskwright.mask import compile_json_schema, compile_regex
from maskwright.models import LoadedModel
from maskwright.sampling import SamplingParams
from tests.engine.step.held import held_steps

SCHEMAS = [
    {
        "type": "object",
        "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
        "required": ["name", "age"],
        "additionalProperties": False,
    },
    {"type": "array", "items": {"enum": ["the cat", 7, None]}, "minItems": 2, "maxItems": 5},
    {"anyOf": [{"type": "boolean"}, {"type": "string", "maxLength": 12}]},
    {},
]
WHOLE = {FinishReason.STOP, FinishReason.GRAMMAR}
SMALL = EngineConfig(blocks=24, block_size=4, max_running=6, max_batch_tokens=24)


def test_every_output_is_valid_at_every_limit(loaded: LoadedModel) -> None:
    grammars = [compile_json_schema(schema, loaded.vocab) for schema in SCHEMAS]
    with Engine(loaded, SMALL) as engine:
        work = []
        with held_steps(engine):
            for (schema, grammar), extra, temperature in itertools.product(
                zip(SCHEMAS, grammars, strict=True), (0, 1, 4, 25), (0.0, 1.0, 3.0)
            ):
                limit = max(1, grammar.min_tokens + extra)
                params = SamplingParams(temperature=temperature, seed=extra)
                request = Request(loaded.encode("the cat sat"), params, limit, grammar=grammar)
                work.append((schema, request, engine.submit(request)))
        for schema, request, generation in work:
            completion = generation.result()
            assert completion.finish_reason in {*WHOLE, FinishReason.LENGTH}
            assert completion.completion_tokens <= request.max_tokens
            jsonschema.validate(json.loads(completion.text), schema)
            matcher = request.grammar.matcher()
            assert all(matcher.accept(token) for token in completion.token_ids)
            assert matcher.accepting
        stats = engine.stats()
    assert stats.preemptions > 0, "the pool was meant to be too small"
    assert stats.blocks_used == 0


def test_constrained_tokens_do_not_depend_on_neighbours(loaded: LoadedModel) -> None:
    grammars = [compile_json_schema(schema, loaded.vocab) for schema in SCHEMAS]
    requests = [
        Request(loaded.encode("x" * n), SamplingParams(seed=n), 40, grammar=grammar)
        for n, grammar in enumerate(grammars * 3, start=1)
    ]
    with Engine(loaded, SMALL) as engine:
        together = [g.result() for g in [engine.submit(r) for r in requests]]
        alone = [engine.submit(r).result() for r in requests]
    assert together == alone


@pytest.mark.parametrize("limit", [1, 9])
def test_a_limit_below_every_output_is_refused(loaded: LoadedModel, limit: int) -> None:
    grammar = compile_regex("[a-c]{10}", loaded.vocab)
    with Engine(loaded, SMALL) as engine, pytest.raises(BudgetError) as caught:
        engine.submit(Request([65], SamplingParams(), limit, grammar=grammar))
    assert caught.value.needed == 10


def test_a_regex_that_is_complete_ends_without_an_end_token(loaded: LoadedModel) -> None:
    grammar = compile_regex("(yes|no) [0-9]{3}", loaded.vocab)
    with Engine(loaded, SMALL) as engine:
        request = Request([65], SamplingParams(seed=4), 50, grammar=grammar)
        completion = engine.submit(request).result()
    assert completion.finish_reason is FinishReason.GRAMMAR
    assert completion.token_ids[-1] not in loaded.eos
    assert completion.text[:-3] in {"yes ", "no "}
