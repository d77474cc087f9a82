"""What is kept of the last hour, of one server and of several."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest

from maskwright.engine import Engine
from maskwright.server.observe.figures import (
    FIGURES,
    KEPT_SECONDS,
    SECONDS,
    PastFigures,
    joined_history,
)
from tests.pages.demo_server import Served, demo_server


class Counting:
    """An engine that has drawn a token more each time it is asked."""

    tokens = 0

    def stats(self) -> Any:
        self.tokens += 1
        states = dict.fromkeys(("waiting", "compiling", "paused"), 0)
        drawn = {"sampled_tokens": self.tokens, "forced_tokens": 2, "prompt_tokens": 9}
        return SimpleNamespace(**states, **drawn, running=self.tokens % 2)


def test_samples_are_reported_by_figure() -> None:
    history = PastFigures(cast(Engine, Counting()))
    assert history.document() == {"times": [], **{name: [] for name in FIGURES}}
    history.sample(100.04)
    history.sample(105.0)
    samples = history.document()
    assert samples["times"] == [100.0, 105.0]
    assert samples["output_tokens"] == [3, 4]
    assert samples["prompt_tokens"] == [9, 9]
    assert samples["running"] == [1, 0]
    assert samples["waiting"] == samples["compiling"] == samples["paused"] == [0, 0]


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_an_hour_is_kept(more: int) -> None:
    history = PastFigures(cast(Engine, Counting()))
    count = KEPT_SECONDS // SECONDS + more
    for number in range(count):
        history.sample(float(number * SECONDS))
    times = cast(list[float], history.document()["times"])
    assert len(times) == min(count, KEPT_SECONDS // SECONDS)
    assert times[0] == max(0, more) * SECONDS
    assert times[-1] == (count - 1) * SECONDS


def history_of(times: list[float], tokens: list[int]) -> dict[str, Any]:
    return {"times": times, **{name: list(tokens) for name in FIGURES}}


def test_histories_are_added_at_the_times_of_all() -> None:
    one = history_of([0.0, 5.0, 10.0], [1, 2, 3])
    other = history_of([4.0, 5.0, 12.0], [10, 20, 30])
    joined = joined_history([one, other])
    assert joined["times"] == [0.0, 4.0, 5.0, 10.0, 12.0]
    for name in FIGURES:
        assert joined[name] == [1, 11, 22, 23, 33]
    assert joined_history([one]) == one
    assert joined_history([history_of([], []), one]) == one


@pytest.fixture(scope="module")
def served() -> Any:
    with demo_server() as served:
        yield served


def test_the_endpoint_tells_the_history_where_that_is_asked_for(served: Served) -> None:
    for past in ("", "?history=0", "?since=0"):
        assert "history" not in httpx.get(f"{served.url}/v1/state{past}").json()
    state = httpx.get(f"{served.url}/v1/state?history=1").json()
    assert set(state["history"]) == {"times", *FIGURES}
    times = state["history"]["times"]
    assert times
    assert all(state["time"] - KEPT_SECONDS <= at <= state["time"] + 0.1 for at in times)
    for wrong in ("2", "yes", ""):
        refused = httpx.get(f"{served.url}/v1/state", params={"history": wrong})
        assert refused.status_code == 400
        assert refused.json()["error"]["param"] == "history"
