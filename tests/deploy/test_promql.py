"""The evaluator against values that can be computed by hand from the rules of PromQL."""

from __future__ import annotations

import math

import pytest

from tests.deploy.promql import (
    Vector,
    evaluate,
    firing,
    histogram_quantile,
    increase,
    parse_series,
    parse_values,
)


def series(**values: str) -> dict[frozenset[tuple[str, str]], list[tuple[float, float]]]:
    return {
        frozenset([("__name__", name), ("instance", "a")]): [
            (60.0 * number, value)
            for number, value in enumerate(parse_values(text))
            if value is not None
        ]
        for name, text in values.items()
    }


def value(expression: str, at: float, **values: str) -> float | None:
    found = evaluate(expression, series(**values), at)
    assert len(found) <= 1
    return next(iter(found.values()), None)


def test_rates_are_extrapolated_as_prometheus_does() -> None:
    """`increase(testcounter[50m])` of 0+10x10 in five-minute steps is 100 there. Towards an end of
    the range that is far from the samples, half the distance between two of them is added."""
    steps = [(300.0 * number, 10.0 * number) for number in range(11)]
    assert increase(steps, 0.0, 3000.0) == pytest.approx(100)
    assert increase([(0.0, 0.0), (300.0, 10.0)], 0.0, 600.0) == pytest.approx(20)
    assert increase([(0.0, 0.0), (300.0, 10.0)], 0.0, 900.0) == pytest.approx(15)
    assert increase(steps[:1], 0.0, 3000.0) is None


def test_a_reset_of_a_counter_counts_on() -> None:
    reset = [(0.0, 50.0), (300.0, 60.0), (600.0, 5.0), (900.0, 15.0)]
    assert increase(reset, 0.0, 900.0) == pytest.approx(25)


def test_an_extrapolation_does_not_go_below_zero() -> None:
    late = [(100.0, 1.0), (200.0, 11.0), (300.0, 21.0)]
    assert increase(late, 0.0, 300.0) == pytest.approx(21)


def test_quantiles_are_linear_within_a_bucket() -> None:
    def buckets(**counts: float) -> Vector:
        return {
            frozenset([("le", bound.replace("_", ".").removeprefix("b"))]): count
            for bound, count in counts.items()
        }

    found = histogram_quantile(0.5, buckets(b0_1=10, b0_2=30, **{"b+Inf": 40}))
    assert found == {frozenset(): pytest.approx(0.15)}
    highest = histogram_quantile(0.99, buckets(b0_1=10, b0_2=30, **{"b+Inf": 40}))
    assert highest == {frozenset(): 0.2}
    empty = histogram_quantile(0.5, buckets(b0_1=0, b0_2=0, **{"b+Inf": 0}))
    assert math.isnan(empty[frozenset()])


def test_expressions() -> None:
    assert value("a == 0", 0, a="0") == 0
    assert value("a == 0", 0, a="1") is None
    assert value("a / b > 0.5", 0, a="3", b="4") == 0.75
    assert value("a / (a + b) > 0.4", 0, a="3", b="4") == pytest.approx(3 / 7)
    assert value("a / b > 0.5", 0, a="0", b="0") is None
    assert value("a / b > 0.5", 0, a="1", b="0") == math.inf
    assert value("a > 1 and on (instance) b > 1", 0, a="2", b="2") == 2
    assert value("a > 1 and on (instance) b > 1", 0, a="2", b="1") is None
    assert value("2 * a - 1 > 0", 0, a="2") == 3
    assert value("a", 299, a="7") == 7
    assert value("a", 301, a="7") is None
    assert value('a{instance="a"}', 0, a="7") == 7
    assert value('a{instance!="a"}', 0, a="7") is None
    assert value("sum by (job) (a)", 0, a="7") == 7
    assert value("sum(a)", 0, a="7") == 7
    assert value("rate(a[5m])", 300, a="0+60x5") == pytest.approx(1)
    for wrong in ("avg(a)", "a > b", "a[5m]", 'a{b=~"c"}', "a b", "1", "a ^ 2"):
        with pytest.raises((ValueError, IndexError)):
            evaluate(wrong, series(a="1", b="2"), 0)


def test_an_alert_has_to_last() -> None:
    rule = {"expr": "a > 0", "for": "2m"}
    assert not firing(rule, series(a="0 1 1"), 120, 60)
    assert firing(rule, series(a="0 1 1 1"), 180, 60) == [frozenset([("instance", "a")])]
    assert not firing(rule, series(a="0 1 1 0 1 1"), 300, 60)


def test_samples_in_the_notation_of_promtool() -> None:
    assert parse_values("1+2x3 _ 4x2 5-1x1 0.5") == [1, 3, 5, 7, None, 4, 4, 4, 5, 4, 0.5]
    with pytest.raises(ValueError, match="not understood"):
        parse_values("stale")
    assert parse_series('a{b="c"}') == frozenset([("__name__", "a"), ("b", "c")])
