"""Histograms: which bucket a value falls into."""

from __future__ import annotations

import pytest

from maskwright.engine.distribution import Distribution
from maskwright.engine.histogram import Histogram
from maskwright.engine.stats import Observations


@pytest.mark.parametrize(
    ("values", "counts"),
    [
        ([], (0, 0, 0)),
        ([0.5], (1, 0, 0)),
        ([1.0], (1, 0, 0)),  # at most the bound
        ([1.01, 2.0], (0, 2, 0)),
        ([2.5, 99.0], (0, 0, 2)),
        ([-1.0], (1, 0, 0)),
    ],
)
def test_a_value_is_in_the_first_bucket_whose_bound_it_keeps(
    values: list[float], counts: tuple[int, ...]
) -> None:
    histogram = Histogram((1.0, 2.0))
    for value in values:
        histogram.note(value)
    assert histogram.read() == Distribution((1.0, 2.0), counts, sum(values))
    assert histogram.read().count == len(values)


def test_a_value_that_comes_several_times() -> None:
    histogram = Histogram((1.0,))
    histogram.note(0.5, times=3)
    histogram.note(4.0, times=0)
    assert (histogram.read().counts, histogram.read().total) == ((3, 0), 1.5)


def test_a_snapshot_stays_as_it_is() -> None:
    histogram = Histogram((1.0,))
    before = histogram.read()
    histogram.note(0.5)
    assert before.count == 0


def test_each_engine_has_its_own_and_all_are_read_by_name() -> None:
    one, other = Observations(), Observations()
    one.ttft.note(0.1)
    one.mask.note(3e-6)
    found = one.read()
    assert set(found) == set(Observations.__dataclass_fields__)
    assert [name for name, each in found.items() if each.count] == ["ttft", "mask"]
    assert not any(each.count for each in other.read().values())
    for each in found.values():
        assert list(each.bounds) == sorted(set(each.bounds))
