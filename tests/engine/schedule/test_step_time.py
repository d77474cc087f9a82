"""The budget of a step against a machine with known costs."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maskwright.engine.schedule.step_time import AIM, FIRST, LEAST, LinearFit, StepTimeModel
from maskwright_sim.costs.linear import LinearCosts
from maskwright_sim.engine.step_times import measured_step_times

COSTS = LinearCosts()


@settings(max_examples=100, deadline=None)
@given(st.floats(1e-4, 1.0), st.floats(1e-6, 1e-2), st.floats(1.1, 8.0), st.integers(1, 64))
def test_steps_keep_within_the_stall(decode: float, token: float, stall: float, n: int) -> None:
    step_times = StepTimeModel(4096, stall)
    assert step_times.budget(n) == 4096, "nothing is known yet"
    step_times.observe(n, 0, decode)
    assert step_times.budget(n) == n + FIRST, "what tokens of prompts take is not"
    for start in (0, 512):
        step_times.observe(n, 512, decode + 512 * token, start + 255.5)
    prompt = step_times.budget(n) - n
    assert prompt == LEAST or decode + prompt * token <= stall * decode * 1.001
    assert prompt >= LEAST
    if prompt < 1024 and prompt + n < 4096:
        assert (prompt + 1) * token >= AIM * (stall - 1) * decode * 0.999


def test_it_follows_a_machine_that_becomes_slower() -> None:
    step_times = StepTimeModel(512, 2.0)
    for seconds in (0.01, 0.02):
        for _ in range(40):
            step_times.observe(8, 0, 0.01)
            step_times.observe(8, 100, 0.01 + seconds, 49.5)
        assert step_times.budget(8) == pytest.approx(8 + AIM / seconds, abs=3)


def test_swapping_pays_where_copies_are_faster_than_computing() -> None:
    step_times = StepTimeModel(512, None)
    assert not step_times.swap_pays(1, 10_000), "nobody knows what a token takes"
    step_times.observe(0, 100, 1.0)
    assert step_times.swap_pays(1, 1), "tried once, to know what a copy takes"
    step_times.observe_copies(10, 0.5)  # 50 ms a block, out and back 100 ms; 10 ms a token
    assert step_times.swap_pays(4, 41)
    assert not step_times.swap_pays(4, 39)
    for _ in range(40):
        step_times.observe_copies(10, 0.05)
    assert step_times.swap_pays(4, 5)
    assert not step_times.swap_pays(4, 3)


@pytest.mark.parametrize(("stall", "decoding"), [(None, 8), (2.0, 0)])
def test_all_there_is(stall: float | None, decoding: int) -> None:
    step_times = StepTimeModel(512, stall)
    for _ in range(9):
        step_times.observe(8, 0, 0.01)
        step_times.observe(8, 100, 1.0)
    assert step_times.budget(decoding) == 512


@settings(max_examples=50, deadline=None)
@given(st.floats(1e-5, 1e-3), st.floats(1e-8, 1e-6), st.floats(1.5, 4.0), st.integers())
def test_tokens_that_look_further_back_take_longer(
    token: float, look: float, stall: float, seed: int
) -> None:
    """A long prompt beside decodes, then one that begins anew, on a machine whose times vary: steps
    keep within the stall, and use most of it where several tokens fit. The second one goes by a
    single measurement, which may be five percent too low."""
    step_times, decode, random = StepTimeModel(512, stall), 0.005, Random(seed)
    for _ in range(20):
        step_times.observe(8, 0, decode)
    used = []
    for _ in range(2):
        position = 0
        while position < 4000:
            count = step_times.budget(8, position) - 8
            added = sum(token + look * (position + n) for n in range(count))
            added *= random.uniform(0.95, 1.05)
            step_times.observe(8, count, decode + added, position + (count - 1) / 2)
            if count > 4:
                used.append(added / ((stall - 1) * decode))
            position += count
    assert max(used[1:2], default=0) < 1.05
    assert max(used[2:], default=0) < 1
    assert not used or sorted(used)[len(used) // 2] > 0.5


def test_the_line_finds_what_a_row_costs() -> None:
    step_times = measured_step_times(COSTS)
    for rows in (1, 5, 16):
        assert step_times.step(rows) == pytest.approx(COSTS.of(rows, 0), rel=0.02)
    assert step_times.prompt(100) == pytest.approx(100 * COSTS.token, rel=0.1)
    line = LinearFit()
    assert line.at(1) is None
    line.note(8, 0.008)
    assert line.at(8) == pytest.approx(0.008)
    assert 0 < line.at(1) < 0.008 < line.at(16) <= 0.016
    line.note(8, 100.0)
    assert line.at(8) < 0.02, "one step that took for ever says little"
