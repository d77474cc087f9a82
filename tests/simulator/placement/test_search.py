"""The search finds what trying every placement finds, on every small cluster."""

from __future__ import annotations

import math
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maskwright_sim.placement.search import (
    Parallelism,
    Rates,
    best_of,
    best_within_nodes,
    fewest_for,
)

SHAPES = [Parallelism(intra, inter) for intra in (1, 2, 4) for inter in (1, 2)]
RATES = st.dictionaries(
    st.sampled_from(SHAPES), st.sampled_from([0.0, 0.4, 1.0, 1.7, 2.5, 5.6, 10.0]), max_size=6
)


def every(prefill: Rates, decode: Rates, devices: int) -> list[tuple[float, int]]:
    """Rate and devices of every placement on at most `devices`."""
    found: list[tuple[float, int]] = []
    for (p, rate), (d, reached) in product(prefill.items(), decode.items()):
        for n, m in product(range(1, devices + 1), repeat=2):
            used = n * p.devices + m * d.devices
            if used <= devices and min(rate, reached) > 0:
                found.append((min(n * rate, m * reached), used))
    return found


@settings(max_examples=150, deadline=None)
@given(RATES, RATES, st.integers(1, 10))
def test_best_of_equals_brute_force(prefill: Rates, decode: Rates, devices: int) -> None:
    best = best_of(prefill, decode, devices)
    options = every(prefill, decode, devices)
    if best is None:
        assert not options
    else:
        assert (best.rate, -best.devices) == max((rate, -used) for rate, used in options)
        mine = best.prefills * prefill[best.prefill], best.decodes * decode[best.decode]
        assert best.rate == min(mine)
        assert best.limit == ("prefill" if mine[0] <= mine[1] else "decode")


@settings(max_examples=150, deadline=None)
@given(RATES, RATES, st.sampled_from([0.3, 1.0, 3.0, 5.6]))
def test_fewest_for_equals_brute_force(prefill: Rates, decode: Rates, rate: float) -> None:
    found = fewest_for(prefill, decode, rate)
    options = [used for reached, used in every(prefill, decode, 24) if reached >= rate - 1e-9]
    if found is None:
        assert not options
    elif found.devices <= 24:
        assert found.devices == min(options)
        assert found.rate >= rate - 1e-9
    else:
        assert not options


@settings(max_examples=100, deadline=None)
@given(RATES, RATES, st.sampled_from([2, 4, 8]), st.sampled_from([0.3, 1.0, 5.6]))
def test_best_within_nodes_equals_brute_force(
    prefill: Rates, decode: Rates, node: int, rate: float
) -> None:
    found = best_within_nodes(prefill, decode, node, rate)
    fewest = math.inf
    for (p, each), (d, reached) in product(prefill.items(), decode.items()):
        for n, m, copies in product(range(1, node + 1), range(1, node + 1), range(1, 16)):
            fits = n * p.intra + m * d.intra <= node and p.inter == d.inter
            if fits and min(n * each, m * reached) * copies >= rate - 1e-9:
                fewest = min(fewest, copies * (n * p.devices + m * d.devices))
    assert (math.inf if found is None else found.devices) == fewest


def test_the_text_s_machines() -> None:
    """Two machines for prefill and one for decode serve 10 requests a second."""
    found = best_of({Parallelism(): 5.6}, {Parallelism(): 10.0}, 3)
    assert found is not None
    assert (found.prefills, found.decodes, found.rate, found.limit) == (2, 1, 10.0, "decode")
    assert found.rate / 3 / 1.6 == pytest.approx(2.1, abs=0.02)
    assert best_of({}, {Parallelism(): 1.0}, 8) is None
