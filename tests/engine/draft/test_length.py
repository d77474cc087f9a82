"""How many tokens a draft model should guess."""

from __future__ import annotations

import pytest

from maskwright.engine.draft.length import FIRST_ACCEPTANCE, DraftLengthModel


def speed(acceptance: float, count: int, decoding: int, ratio: float) -> float:
    """Tokens for the time of a step of one token each, summed over how many guesses come true."""
    tokens = sum(
        (1 + true) * acceptance**true * ((1 - acceptance) if true < count else 1)
        for true in range(count + 1)
    )
    rows = (8 + decoding * (1 + count)) / (8 + decoding)
    return tokens / (rows + count * ratio)


@pytest.mark.parametrize("decoding", [1, 4, 64])
@pytest.mark.parametrize("ratio", [0.02, 0.2, 0.6, 1.0])
def test_the_length_brings_the_most_tokens_a_second(decoding: int, ratio: float) -> None:
    length_model = DraftLengthModel(8, fixed_rows=8, ratio=ratio)
    for acceptance in (0.0, 0.1, 0.5, 0.7, 0.9, 0.99):
        speeds = [speed(acceptance, count, decoding, ratio) for count in range(9)]
        assert length_model.length(acceptance, decoding) == speeds.index(max(speeds))


def test_the_cost_is_what_was_measured() -> None:
    length_model = DraftLengthModel(4, fixed_rows=8, ratio=0.1)
    length_model.observe_step(2, 10.0)
    assert length_model.ratio == 0.1
    length_model.observe_pass(12, 10.0)
    assert length_model.ratio == pytest.approx(0.5)
    assert length_model.length(1.0, 1) > 0
    length_model.observe_pass(2, 1000.0)
    assert length_model.length(1.0, 1) == 0, "dearer than the large model"
    for _ in range(5000):
        length_model.fade()
    assert length_model.length(1.0, 1) > 0, "it is tried again"


def test_what_is_wrong_rests_and_is_tried_again() -> None:
    length_model = DraftLengthModel(6, fixed_rows=8, ratio=0.2)
    acceptance, tried = 1.0, []
    for step in range(400):
        if count := length_model.length(acceptance, 1):
            tried.append(step)
            acceptance = length_model.judged(acceptance, count, 0)
        else:
            acceptance = length_model.rested(acceptance)
    assert tried[:2] == [0, 1]
    assert 3 <= len(tried) <= 20
    assert tried[-1] > 350
    assert length_model.acceptance < 0.8
    for _ in range(20):
        acceptance = length_model.judged(acceptance, 6, 6)
    assert length_model.length(acceptance, 1) == 6


@pytest.mark.parametrize(
    ("proposed", "accepted", "acceptance"),
    [
        (0, 0, 0.5),  # nothing was guessed
        (1, 1, 0.65),
        (1, 0, 0.35),
        (2, 2, 0.755),
        (2, 1, 0.455),
        (3, 1, 0.455),  # what comes after the first wrong one says nothing
        (9, 0, 0.35),
    ],
)
def test_an_acceptance_rate_is_what_guesses_were_worth(
    proposed: int, accepted: int, acceptance: float
) -> None:
    length_model = DraftLengthModel(9, fixed_rows=8, ratio=0.2)
    assert length_model.judged(0.5, proposed, accepted) == pytest.approx(acceptance)
    others = DraftLengthModel(9, fixed_rows=8, ratio=0.2)
    for number in range(min(accepted + 1, proposed)):
        others.judged(0.0, 1, int(number < accepted))
    assert length_model.acceptance == pytest.approx(others.acceptance)


def test_new_sequences_begin_with_what_others_were_worth() -> None:
    length_model = DraftLengthModel(9, fixed_rows=8, ratio=0.2)
    assert length_model.acceptance == FIRST_ACCEPTANCE
    length_model.judged(0.0, 1, 0)
    assert length_model.acceptance == pytest.approx(0.97 * FIRST_ACCEPTANCE)
    length_model.judged(0.0, 1, 1)
    assert length_model.acceptance == pytest.approx(0.97 * 0.97 * FIRST_ACCEPTANCE + 0.03)


def test_acceptance_recovers_slowly_and_to_the_full() -> None:
    length_model = DraftLengthModel(9, fixed_rows=8, ratio=0.2)
    assert length_model.rested(0.5) == pytest.approx(0.503)
    assert length_model.rested(0.999) == 1.0


def test_costs_are_averages_by_row() -> None:
    length_model = DraftLengthModel(9, fixed_rows=8, ratio=0.2)
    length_model.observe_pass(2, 1.0)  # a tenth a row
    assert length_model.ratio == 0.2, "the other model was not measured"
    length_model.observe_step(12, 10.0)  # a half a row
    assert length_model.ratio == pytest.approx(0.2)
    length_model.observe_step(2, 15.0)  # one and a half: the mean is 0.6
    assert length_model.ratio == pytest.approx(1 / 6)
    length_model.observe_pass(2, 3.0)  # 0.3: the mean is 0.12
    assert length_model.ratio == pytest.approx(0.2)
    length_model.fade()
    assert length_model.ratio == pytest.approx(0.1998)
