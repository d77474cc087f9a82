"""A request as bytes: every field arrives, and damage is found."""

from __future__ import annotations

import random
from dataclasses import fields, replace
from typing import cast

import pytest

from maskwright.dist.handoff.move import pack_request, unpack_request
from maskwright.engine import Request
from maskwright.errors import InputError
from maskwright.mask import CompiledGrammar
from maskwright.sampling import SamplingParams
from maskwright.sampling.params import TextBan

TEXTS = (b"a", b"b", b"ab", b"\xff", b"")
PARAMS = SamplingParams(
    temperature=0.1 + 0.2,
    top_k=3,
    top_p=0.9,
    min_p=0.01,
    repetition_penalty=1.1,
    presence_penalty=0.3,
    frequency_penalty=-0.3,
    logit_bias={4: -1.5, 2: 3.0},
    bad_words=((1,), (2, 3)),
    banned=TextBan([b"ab", b"\xff"], TEXTS),
    allowed_tokens=(0, 1, 2),
    min_tokens=2,
    ignore_eos=True,
    no_repeat_ngram=3,
    seed=2**64 - 1,
)
REQUEST = Request(
    prompt=(1, 2, 3),
    params=PARAMS,
    max_tokens=9,
    stop=("a", "日"),
    stop_tokens=(4,),
    include_stop=True,
    eos=(3,),
    service="batch",
    client="somebody",
    timeout=1.25,
    cache_salt="salt",
    adapter="adapter",
    begun=(1, 2),
    shortened_at=1,
    length_if_shortened=False,
    cuts=(1, 2),
    prompt_logprobs=2,
)


def there_are_none(name: str) -> CompiledGrammar:
    raise AssertionError(name)


def test_every_field_arrives() -> None:
    for item in fields(Request):
        if item.name not in {"grammar", "trace"}:
            assert getattr(REQUEST, item.name) != item.default, item.name
    for item in fields(PARAMS):
        if item.init and item.name not in {"logprobs", "scale"}:
            assert getattr(PARAMS, item.name) != item.default, item.name
    arrived = unpack_request(pack_request(REQUEST, None), there_are_none, TEXTS)
    assert arrived.params.banned is not None
    assert PARAMS.banned is not None
    assert arrived.params.banned.words == PARAMS.banned.words
    assert arrived.params.banned.tokens([0]).tolist() == PARAMS.banned.tokens([0]).tolist()
    assert replace(arrived, params=replace(arrived.params, banned=PARAMS.banned)) == REQUEST
    assert arrived.params.restricts == PARAMS.restricts


def test_scores_arrive() -> None:
    params = SamplingParams(logprobs=3, scale="masked")
    request = Request((1,), params, 4, trace=True)
    assert unpack_request(pack_request(request, None), there_are_none, TEXTS) == request


def test_a_grammar_is_found_by_its_name() -> None:
    grammar = cast(CompiledGrammar, object())
    request = Request((1,), SamplingParams(), 4, grammar=grammar)
    data = pack_request(request, "cats")
    assert unpack_request(data, {"cats": grammar}.__getitem__, TEXTS) == request


def test_damage_is_found() -> None:
    data = pack_request(REQUEST, None)
    rng = random.Random(0)
    for at in [0, 15, 16, *(rng.randrange(len(data)) for _ in range(40))]:
        damaged = bytearray(data)
        damaged[at] ^= 1 << rng.randrange(8)
        with pytest.raises(InputError, match="damaged"):
            unpack_request(bytes(damaged), there_are_none, TEXTS)
    for length in (0, 10, len(data) - 1):
        with pytest.raises(InputError, match="damaged"):
            unpack_request(data[:length], there_are_none, TEXTS)
