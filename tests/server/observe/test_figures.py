"""Figures in numbers known beforehand."""

from __future__ import annotations

import pytest

from maskwright.server.observe.figures import histogram_median, percentile, total


def test_percentiles_are_of_the_nearest_rank() -> None:
    values = [5.0, 1.0, 4.0, 2.0, 3.0]
    assert [percentile(values, share) for share in (1, 50, 95, 100)] == [1.0, 3.0, 5.0, 5.0]
    assert percentile([], 50) is None


def test_a_metric_is_summed_over_its_labels_only() -> None:
    samples = {'a_total{x="1"}': 2.0, 'a_total{x="2"}': 3.0, "a_total_more": 9.0, "b": 1.0}
    assert total(samples, "a_total") == 5.0


@pytest.mark.parametrize(
    ("counts", "expected"),
    [((0, 0, 0), None), ((4, 4, 4), 0.5), ((1, 3, 3), 1.25), ((0, 0, 2), 2.0)],
)
def test_the_median_lies_within_its_bucket(counts: tuple[int, ...], expected: float | None) -> None:
    bounds = ("1.0", "2.0", "+Inf")
    samples: dict[str, float] = {
        f'm_bucket{{le="{bound}"}}': count for bound, count in zip(bounds, counts, strict=True)
    }
    found = histogram_median({**samples, "m_count": counts[-1]}, "m")
    assert found == (None if expected is None else pytest.approx(expected))
