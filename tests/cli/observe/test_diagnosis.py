"""Each culprit is named, and only it."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import pytest

from maskwright.cli.observe.diagnose import (
    ADVICE,
    FEWEST_ARRIVALS,
    STAGES,
    diagnose_requests,
    diagnosis_charts,
    diagnosis_text,
    timed_requests,
)
from maskwright.cli.output.chart import draw_charts
from maskwright.errors import InputError
from tests.cli.observe.synthetic import SLOW, steady


def test_every_stage_has_a_synthetic_culprit_and_advice() -> None:
    assert set(SLOW) == set(STAGES) == set(ADVICE)


@pytest.mark.parametrize(("culprit", "slow"), SLOW.items())
@pytest.mark.parametrize("share", [1.0, 2.0])
def test_the_culprit_is_named(culprit: str, slow: dict[str, Any], share: float) -> None:
    found = diagnose_requests(timed_requests(steady(400, 5.0, **slow)), share)
    assert found.culprit == culprit
    assert found.slowest.requests == 4 * share
    others = [excess for name, excess in found.excess.items() if name != culprit]
    assert found.excess[culprit] > 5 * max(others)
    assert found.excess[culprit] == pytest.approx(found.slowest.whole - found.middle.whole, rel=0.2)


def test_long_decoding_that_all_have_is_no_culprit() -> None:
    """Everyone decodes for 2 s; the tail waits 0.5 s longer in the queue."""
    traces = steady(400, 2.0, queue_ms=500.0, decode_ms=2000.0)
    for each in traces:
        each["request_ms"] += 2000.0 - each["decode_ms"]
        each["decode_ms"] = 2000.0
    found = diagnose_requests(timed_requests(traces), 2.0)
    assert found.culprit == "queue"


@pytest.mark.parametrize(
    ("late", "culprit", "said"),
    [(760.0, "masks", False), (740.0, "decode", True), (100.0, "decode", False)],
)
def test_masks_are_named_where_they_take_as_long_as_decoding(
    late: float, culprit: str, said: bool
) -> None:
    """Others wait for masks nearly as long, so that their excess is not the largest one."""
    traces = steady(400, 5.0, decode_ms=1500.0, late_ms=late)
    for number, each in enumerate(traces):
        if number % 50 != 49:
            each["late_ms"] = 150.0 if late > 100 else 0.0
    found = diagnose_requests(timed_requests(traces), 1.0)
    assert found.culprit == culprit
    assert ("waited for masks too" in diagnosis_text(found, 100)) == said


@pytest.mark.parametrize(
    ("count", "checked"), [(FEWEST_ARRIVALS - 1, False), (FEWEST_ARRIVALS, True)]
)
def test_few_requests_have_no_law(count: int, checked: bool) -> None:
    found = diagnose_requests(timed_requests(steady(count, 5.0)), 1.0)
    assert (found.littles_law is not None) == checked
    assert ("Little's law" in diagnosis_text(found, 100)) == checked


def test_too_few_requests_are_refused() -> None:
    with pytest.raises(InputError, match="3 requests are too few"):
        diagnose_requests(timed_requests(steady(3, 5.0)), 1.0)


def test_the_picture_shows_the_groups_and_the_slowest() -> None:
    found = diagnose_requests(timed_requests(steady(400, 5.0, **SLOW["queue"])), 1.0)
    drawn = ElementTree.fromstring(draw_charts(diagnosis_charts(found), "t"))
    texts = [each.text for each in drawn.iter() if each.text]
    assert {"middle half (200)", "slowest 1 % (4)", "queue", found.longest[0].request_id} <= set(
        texts
    )
