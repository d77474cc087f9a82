"""The stages of a request add up to its time, whatever overlaps."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maskwright.cli.observe.stages import STAGES, timed_requests
from tests.cli.observe.synthetic import trace

TIMES = st.floats(0, 1000)


@given(
    st.dictionaries(
        st.sampled_from(
            ["compile_ms", "queue_ms", "prefill_ms", "decode_ms", "paused_ms", "client_ttft_ms"]
        ),
        TIMES,
    ),
    st.floats(0, 1), st.floats(0, 1), st.booleans(),
)  # fmt: skip
def test_stages_add_up(times: dict[str, float], late: float, lost: float, stream: bool) -> None:
    fields = trace(1, 0.0, **times)
    work = fields["prefill_ms"] + fields["decode_ms"]
    fields |= {
        "late_ms": late * work,
        "preempted_ms": (1 - late) * lost * work,
        "stream": stream,
    }
    (found,) = timed_requests([fields])
    assert set(found.stages) == set(STAGES)
    assert all(value >= -1e-6 for value in found.stages.values())
    assert sum(found.stages.values()) == pytest.approx(found.whole)


def test_the_slowest_choice_stands_for_a_request() -> None:
    one, other = trace(1, 5.0, decode_ms=10.0), trace(1, 5.0, decode_ms=900.0)
    (found,) = timed_requests([one, other])
    assert found.stages["decode"] == 900.0
    assert [r.received for r in timed_requests([trace(2, 7.0), trace(1, 5.0)])] == [5.0, 7.0]


def test_what_a_stream_takes_after_its_first_text_is_its_readers() -> None:
    """500 ms in the server before the engine, and 300 ms after it until everything was sent."""
    fields = trace(1, 0.0, stream=True, client_ttft_ms=522.2, request_ms=1022.2)
    (found,) = timed_requests([fields])
    assert found.stages["server"] == pytest.approx(500.0)
    assert found.stages["reader"] == pytest.approx(300.0)
    (whole,) = timed_requests([{**fields, "stream": False}])
    assert (whole.stages["server"], whole.stages["reader"]) == (pytest.approx(800.0), 0.0)


def test_a_request_that_ended_in_the_queue_has_no_other_times() -> None:
    fields = trace(1, 0.0, prefill_ms=0.0, decode_ms=0.0)
    fields |= {"prefill_ms": None, "decode_ms": None, "compile_ms": None}
    (found,) = timed_requests([fields])
    assert found.stages["prefill"] == found.stages["decode"] == 0.0
