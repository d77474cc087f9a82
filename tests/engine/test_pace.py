"""The budget of a step against a machine with known costs."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maskwright.engine.pace import LEAST, Pace


@settings(max_examples=100, deadline=None)
@given(st.floats(1e-4, 1.0), st.floats(1e-6, 1e-2), st.floats(1.1, 8.0), st.integers(1, 64))
def test_steps_keep_within_the_stall(decode: float, token: float, stall: float, n: int) -> None:
    pace = Pace(4096, stall)
    assert pace.budget(n) == 4096, "nothing is known yet"
    pace.observe(n, 0, decode)
    pace.observe(n, 512, decode + 512 * token)
    prompt = pace.budget(n) - n
    assert prompt == LEAST or decode + prompt * token <= stall * decode * 1.001
    assert prompt >= LEAST
    if prompt + n < 4096:
        assert decode + (prompt + 1) * token >= stall * decode * 0.999


def test_it_follows_a_machine_that_becomes_slower() -> None:
    pace = Pace(512, 2.0)
    for seconds in (0.01, 0.02):
        for _ in range(40):
            pace.observe(8, 0, 0.01)
            pace.observe(8, 100, 0.01 + seconds)
        assert pace.budget(8) == pytest.approx(8 + 1 / seconds, abs=1)


def test_swapping_pays_where_copies_are_faster_than_computing() -> None:
    pace = Pace(512, None)
    assert not pace.swap_pays(1, 10_000), "nobody knows what a token takes"
    pace.observe(0, 100, 1.0)
    assert pace.swap_pays(1, 1), "tried once, to know what a copy takes"
    pace.observe_copies(10, 0.5)  # 50 ms a block, out and back 100 ms; 10 ms a token
    assert pace.swap_pays(4, 41)
    assert not pace.swap_pays(4, 39)
    for _ in range(40):
        pace.observe_copies(10, 0.05)
    assert pace.swap_pays(4, 5)
    assert not pace.swap_pays(4, 3)


@pytest.mark.parametrize(("stall", "decoding"), [(None, 8), (2.0, 0)])
def test_all_there_is(stall: float | None, decoding: int) -> None:
    pace = Pace(512, stall)
    for _ in range(9):
        pace.observe(8, 0, 0.01)
        pace.observe(8, 100, 1.0)
    assert pace.budget(decoding) == 512
