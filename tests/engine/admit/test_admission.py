"""Which requests are refused before they queue, and what becomes of the others."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from maskwright.engine import EngineConfig, Generation, Request
from maskwright.engine.adapters import Adapters
from maskwright.engine.admit.admission import Admission
from maskwright.engine.kv.blocks import BlockPool
from maskwright.errors import BudgetError, InputError
from maskwright.mask import compile_regex
from maskwright.models import LoadedModel
from maskwright.sampling import SamplingParams
from tests.engine.tiny import LiteralGrammar
from tests.matching import EVERY_BYTE
from tests.models.adapters import save_adapter

CONTEXT = 32
CONFIG = EngineConfig(max_context=CONTEXT)


def admission(
    loaded: LoadedModel,
    config: EngineConfig = CONFIG,
    blocks: int = 64,
    adapters: Adapters | None = None,
) -> Admission:
    return Admission(loaded, BlockPool(blocks, config.block_size), config, adapters)


def request(prompt: int = 3, max_tokens: int = 5, **fields: Any) -> Request:
    params = fields.pop("params", SamplingParams())
    return Request([65] * prompt, params, max_tokens, **fields)


ADMITTED: list[Request] = [
    request(),
    request(prompt=CONTEXT - 1, max_tokens=1),
    request(prompt=1, max_tokens=CONTEXT - 1),
    request(eos=(0, 255)),
    request(params=SamplingParams(logit_bias={0: 1.0}, bad_words=((1, 2),))),
    request(service="batch"),
]


@pytest.mark.parametrize("good", ADMITTED)
def test_what_is_admitted(loaded: LoadedModel, good: Request) -> None:
    admission(loaded).check(good)


REFUSED: list[tuple[Request, str, str, str]] = [
    (request(prompt=CONTEXT, max_tokens=1), "prompt", "context_length_exceeded", "no room for an"),
    (request(prompt=9, max_tokens=CONTEXT - 8), "max_tokens", "context_length_exceeded", "23 are"),
    (Request([1, -1], SamplingParams(), 5), "prompt", "invalid_value", "Token -1 in prompt"),
    (Request([99999], SamplingParams(), 5), "prompt", "invalid_value", "Token 99999 in prompt"),
    (request(eos=(99999,)), "eos", "invalid_value", "Token 99999 in eos"),
    (
        request(params=SamplingParams(logit_bias={99999: 1.0})),
        "logit_bias",
        "invalid_value",
        "logit_bias, bad_words or allowed",
    ),
    (
        request(params=SamplingParams(bad_words=((1, 99999),))),
        "logit_bias",
        "invalid_value",
        "logit_bias, bad_words or allowed",
    ),
    (request(service="first"), "service", "invalid_value", "there are interactive, agent, batch"),
    (request(adapter="a"), "adapter", "invalid_value", "no adapter 'a'"),
]


@pytest.mark.parametrize(("bad", "param", "code", "message"), REFUSED)
def test_what_is_refused(
    loaded: LoadedModel, bad: Request, param: str, code: str, message: str
) -> None:
    with pytest.raises(InputError, match=message) as raised:
        admission(loaded).check(bad)
    assert (raised.value.param, raised.value.code) == (param, code)


@pytest.mark.parametrize("padded", [0, 1])
def test_ids_up_to_the_padded_vocabulary_are_tokens(loaded: LoadedModel, padded: int) -> None:
    last = Request([loaded.vocab.size - 1 + padded], SamplingParams(), 5)
    if padded:
        with pytest.raises(InputError, match="outside the vocabulary"):
            admission(loaded).check(last)
    else:
        admission(loaded).check(last)


@pytest.mark.parametrize(
    ("asked", "blocks", "context"),
    [
        (None, 64, 256),  # the model's own
        (100, 64, 100),
        (256, 64, 256),
        (None, 4, 64),  # what the pool holds
        (100, 4, 64),
        (50, 4, 50),
    ],
)
def test_the_context(loaded: LoadedModel, asked: int | None, blocks: int, context: int) -> None:
    config = EngineConfig(max_context=asked)
    assert admission(loaded, config, blocks).max_context == context


def test_no_context_beyond_the_positions_of_the_model(loaded: LoadedModel) -> None:
    with pytest.raises(InputError, match="the model has 256 positions") as raised:
        admission(loaded, EngineConfig(max_context=257))
    assert raised.value.param == "max_context"


@pytest.mark.parametrize(("limit", "refused"), [(9, True), (10, False)])
def test_a_limit_below_the_shortest_text(loaded: LoadedModel, limit: int, refused: bool) -> None:
    grammar = compile_regex("[a-c]{10}", loaded.vocab)
    asked = request(max_tokens=limit, grammar=grammar)
    if refused:
        with pytest.raises(BudgetError, match="takes 10 tokens, but max_tokens is 9") as raised:
            admission(loaded).check(asked)
        assert (raised.value.needed, raised.value.param) == (10, "max_tokens")
    else:
        admission(loaded).check(asked)


def test_a_grammar_of_another_vocabulary_is_refused(loaded: LoadedModel) -> None:
    with pytest.raises(InputError, match="another vocabulary") as raised:
        admission(loaded).check(request(grammar=compile_regex("a", EVERY_BYTE)))
    assert raised.value.param == "grammar"


def test_a_grammar_that_is_being_compiled_is_checked_later(loaded: LoadedModel) -> None:
    coming: Future[Any] = Future()
    asked = request(max_tokens=1, grammar=coming)
    admission(loaded).check(asked)
    with pytest.raises(BudgetError):
        admission(loaded).check_grammar(asked, compile_regex("[a-c]{10}", loaded.vocab))


def test_the_mask_without_a_grammar(loaded: LoadedModel) -> None:
    """Tokens with text, and the request's end tokens; nothing in the padding of the words."""
    vocab = loaded.vocab
    for eos in ((), vocab.eos, (65,)):
        words = admission(loaded).free_words(eos)
        bits = np.unpackbits(words.view(np.uint8), bitorder="little")
        assert set(np.flatnonzero(bits)) == {i for i, t in enumerate(vocab.tokens) if t} | {*eos}
        assert (words.dtype, words.shape) == (np.int32, (vocab.words,))


def test_the_claim_of_a_request(loaded: LoadedModel) -> None:
    for service, rank in (("interactive", 0), ("batch", 2)):
        claim = admission(loaded).claim(request(4, 7, service=service, client="c"))
        assert (claim.rank, claim.client, claim.prompt, claim.cap) == (rank, "c", 4, 7)
        assert claim.sequence is None


def generation(number: int = 3) -> Generation:
    return Generation(number, 0, 3, lambda number: None, deadline=8.5)


def test_the_sequence_of_an_admitted_request(loaded: LoadedModel) -> None:
    asked = request(4, 7, service="batch", client="c")
    sequence = admission(loaded).admit(asked, generation(), None).sequence
    assert (sequence.arrival, sequence.deadline) == (3, 8.5)
    assert (sequence.tokens, sequence.prompt_length, sequence.limit) == ([65] * 4, 4, 11)
    assert (sequence.rank, sequence.client, sequence.adapter) == (2, "c", None)
    assert sequence.tokens is not asked.prompt, "tokens are appended to it"


def test_what_an_active_request_has(loaded: LoadedModel) -> None:
    def admit(asked: Request, config: EngineConfig = CONFIG, grammar: Any = None) -> Any:
        return admission(loaded, config).admit(asked, generation(), grammar)

    plain = admit(request())
    assert plain.matcher is None
    assert plain.eos == set(loaded.vocab.eos)
    assert admit(request(eos=(1, 2))).eos == {1, 2}
    assert admit(request(eos=())).eos == set()
    assert admit(request(), grammar=LiteralGrammar(loaded.vocab, b"a")).matcher is not None
    assert plain.drafter is not None
    assert admit(request(), replace(CONFIG, drafts=0)).drafter is None
    assert (plain.canonical, admit(request(), replace(CONFIG, canonical=False)).canonical) == (
        True,
        False,
    )


def test_who_shares_cached_prefixes(loaded: LoadedModel, tmp_path: Path) -> None:
    """Requests of one model, one key/value type, one adapter's files and one salt."""
    for name, seed in (("a", 1), ("b", 2), ("copy of a", 1)):
        save_adapter(tmp_path / name, loaded.decoder.adapter_shapes, ["q_proj"], seed=seed)
    folders = {folder.name: folder for folder in tmp_path.iterdir()}
    adapters = Adapters(folders, loaded.decoder, 1 << 20)

    def salt(config: EngineConfig = CONFIG, **fields: Any) -> Any:
        asked = request(**fields)
        owner = admission(loaded, config, adapters=adapters)
        owner.check(asked)
        return owner.admit(asked, generation(), None).sequence.salt

    different = [
        salt(),
        salt(cache_salt="x"),
        salt(adapter="a"),
        salt(adapter="b"),
        salt(replace(CONFIG, kv_dtype="int8")),
    ]
    assert len(set(different)) == len(different)
    assert salt(client="other", service="batch") == different[0]
    assert salt(adapter="copy of a") == different[2]
