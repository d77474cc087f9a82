"""Each processor by itself, and the order of all of them: the reference, which the draws of
`test_sampler.py` are held against."""

import math

import numpy as np
import pytest
import torch

from maskwright.errors import EmptySupportError, GenerationError
from maskwright.sampling import SampleRow, SamplingParams, TextBan
from tests.sampling.reference_chain import CHAIN, ReferenceBatch, run_chain

INF = math.inf
VOCAB = 8


def words(allowed: set[int]) -> list[int]:
    return [int(np.array(sum(1 << t for t in allowed), np.uint32).view(np.int32))]


def run(
    logits: list[float],
    *,
    prompt: tuple[int, ...] = (7,),
    output: tuple[int, ...] = (),
    allowed: set[int] | None = None,
    eos: frozenset[int] = frozenset(),
    stop_tokens: frozenset[int] = frozenset(),
    **params: object,
) -> list[float]:
    """The chain on one row; its error is raised."""
    params_ = SamplingParams(**params)
    row = SampleRow(params_, (*prompt, *output), len(prompt), 0, eos, stop_tokens)
    mask = torch.tensor([words(set(range(VOCAB)) if allowed is None else allowed)])
    batch = ReferenceBatch([row], mask.to(torch.int32))
    tensor = torch.tensor([logits])
    run_chain(tensor, batch)
    if batch.failures:
        raise batch.failures[0]
    return tensor[0].tolist()


def test_the_order_is_this_one() -> None:
    assert [processor.__name__ for processor in CHAIN] == [
        "logit_bias",
        "repetition_penalty",
        "presence_penalty",
        "frequency_penalty",
        "no_repeat_ngrams",
        "bad_words",
        "allowed_tokens",
        "mask_rows",
        "min_tokens",
        "require_support",
        "temperature",
        "top_k",
        "top_p",
        "min_p",
    ]


FLAT = [0.0] * VOCAB
RAMP = [0.0, -1.0, -2.0, -3.0, -4.0, -5.0, -6.0, -7.0]


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ({"logit_bias": {2: 5.0}}, {2: 3.0}),
        ({"repetition_penalty": 2.0, "prompt": (0, 1), "output": (3, 3)}, {1: -2.0, 3: -6.0}),
        ({"presence_penalty": 1.5, "prompt": (0, 1), "output": (3, 3)}, {3: -4.5}),
        ({"frequency_penalty": 1.5, "prompt": (0, 1), "output": (3, 3)}, {3: -6.0}),
        ({"no_repeat_ngram": 1, "prompt": (1, 2), "output": (4,)}, {1: -INF, 2: -INF, 4: -INF}),
        ({"no_repeat_ngram": 2, "prompt": (1, 2), "output": (4, 1)}, {2: -INF}),
        ({"no_repeat_ngram": 3, "prompt": (1, 2), "output": (4, 1)}, {}),
        ({"no_repeat_ngram": 5, "prompt": (1, 2), "output": (4, 1)}, {}),
        ({"bad_words": ((5,), (1, 6), (2, 3))}, {5: -INF}),
        ({"bad_words": ((5,), (1, 6), (2, 3)), "output": (1,)}, {5: -INF, 6: -INF}),
        ({"bad_words": ((7, 1, 6), (7, 2)), "output": (1,)}, {6: -INF}),
        ({"bad_words": ((7, 7, 1),)}, {}),
        ({"allowed": {1, 7}}, dict.fromkeys((0, 2, 3, 4, 5, 6), -INF)),
    ],
)  # fmt: skip
def test_processors_before_temperature(case: dict, expected: dict[int, float]) -> None:
    """At temperature 0 the logits stay as the penalties and masks leave them."""
    got = run(RAMP, temperature=0, **case)
    assert got == [expected.get(token, value) for token, value in enumerate(RAMP)]


@pytest.mark.parametrize(
    ("case", "survivors"),
    [
        ({"top_k": 3}, {0, 1, 2}),
        ({"top_k": 3, "allowed": {4, 5, 6, 7}}, {4, 5, 6}),
        ({"top_k": 100}, set(range(8))),
        ({"top_p": 0.0}, {0}),
        ({"top_p": 0.7}, {0, 1}),
        ({"top_p": 0.7, "top_k": 2}, {0}),
        ({"top_p": 0.7, "temperature": 4.0}, {0, 1, 2, 3}),
        ({"min_p": 0.1}, {0, 1, 2}),
        ({"min_p": 0.1, "temperature": 2.0}, {0, 1, 2, 3, 4}),
        ({"min_p": 1.0}, {0}),
        ({"logit_bias": {7: 10.0}, "top_k": 1}, {7}),
        ({"temperature": 1e-30}, {0}),
    ],
)
def test_truncation(case: dict, survivors: set[int]) -> None:
    got = run(RAMP, **case)
    assert {token for token, value in enumerate(got) if value > -1e20} == survivors
    assert not any(math.isnan(value) for value in got)


def test_ties_with_the_last_survivor_stay() -> None:
    tied = [1.0, 0.0, 0.0, 0.0, -1.0, -1.0, -2.0, -2.0]
    for case in ({"top_k": 2}, {"top_p": 0.45}, {"min_p": 0.3}):
        got = run(tied, **case)
        assert [token for token, value in enumerate(got) if value > -INF] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "case",
    [
        {"allowed": set()},
        {"allowed": {3}, "bad_words": ((3,),)},
        {"allowed": {7}, "no_repeat_ngram": 1},
    ],
)
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_an_empty_support_is_an_error(case: dict, temperature: float) -> None:
    with pytest.raises(EmptySupportError):
        run(RAMP, temperature=temperature, top_p=0.5, **case)


@pytest.mark.parametrize("value", [math.nan, INF])
def test_logits_that_are_no_numbers_are_an_error(value: float) -> None:
    with pytest.raises(GenerationError, match="finite"):
        run([value, *RAMP[1:]])
    assert run([value, *RAMP[1:]], allowed={1, 2})[1] == 0.0, "a masked one does no harm"


def test_a_failing_row_leaves_its_neighbours_alone() -> None:
    params = SamplingParams(top_k=2, top_p=0.9, min_p=0.01)
    rows = [SampleRow(params, (7,), 1, 0) for _ in range(3)]
    mask = torch.tensor([words({0, 1, 2}), words(set()), words({5, 6})]).to(torch.int32)
    batch = ReferenceBatch(rows, mask)
    logits = torch.tensor([RAMP] * 3)
    run_chain(logits, batch)
    assert list(batch.failures) == [1]
    assert not logits.isnan().any()
    assert logits[0].tolist()[:2] == [0.0, -1.0]
    assert logits[2].tolist()[5:7] == [0.0, -1.0]


def left(logits: list[float]) -> set[int]:
    return {token for token, value in enumerate(logits) if value > -INF}


def test_only_allowed_tokens_are_left() -> None:
    assert left(run(FLAT, allowed_tokens=(1, 5))) == {1, 5}
    assert left(run(FLAT, allowed_tokens=(1, 5), allowed={5, 6})) == {5}
    with pytest.raises(EmptySupportError):
        run(FLAT, allowed_tokens=(1,), allowed={5})


@pytest.mark.parametrize(
    ("output", "options", "forbidden"),
    [
        ((), {"min_tokens": 2}, {6, 7}),
        ((0,), {"min_tokens": 2}, {6, 7}),
        ((0, 0), {"min_tokens": 2}, set()),
        ((0,) * 9, {"ignore_eos": True}, {7}),
        ((0,), {"ignore_eos": True, "min_tokens": 2}, {6, 7}),
    ],
)
def test_ends_that_come_too_early(
    output: tuple[int, ...], options: dict[str, object], forbidden: set[int]
) -> None:
    ends = {"eos": frozenset({7}), "stop_tokens": frozenset({6})}
    assert left(run(FLAT, output=output, **ends, **options)) == set(range(VOCAB)) - forbidden


def test_the_end_of_a_grammar_takes_precedence() -> None:
    """Where its mask allows nothing but an end, the answer ends."""
    ended = run(FLAT, allowed={7}, eos=frozenset({7}), min_tokens=5, ignore_eos=True)
    assert left(ended) == {7}
    assert left(run(FLAT, allowed={3, 7}, eos=frozenset({7}), min_tokens=5)) == {3}


def test_each_row_keeps_its_own_ends() -> None:
    params = SamplingParams(ignore_eos=True)
    ends = [{7}, {6, 7}, set[int](), {6, 7}]
    allowed = [{3, 7}, {6, 7}, {7}, {0, 6}]
    rows = [SampleRow(params, (7,), 1, 0, frozenset(each)) for each in ends]
    mask = torch.tensor([words(each) for each in allowed]).to(torch.int32)
    logits = torch.tensor([FLAT] * len(rows))
    run_chain(logits, ReferenceBatch(rows, mask))
    assert [left(row) for row in logits.tolist()] == [{3}, {6, 7}, {7}, {0}]


def test_banned_texts() -> None:
    texts = (b"a", b"b", b"ab", b"xab", b"ba", b"c", b"", b"")
    ban = TextBan([b"ab"], texts)
    assert left(run(FLAT, banned=ban)) == {0, 1, 4, 5, 6, 7}
    assert left(run(FLAT, output=(0,), banned=ban)) == {0, 5, 6, 7}
    assert left(run(FLAT, prompt=(0,), banned=ban)) == {0, 1, 4, 5, 6, 7}  # the answer alone counts
