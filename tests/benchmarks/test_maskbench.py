"""What maskbench.py counts, and how it points at the place of a wrong answer."""

from __future__ import annotations

import json
from argparse import Namespace
from itertools import pairwise

import pytest

from benchmarks import maskbench
from benchmarks.maskbench import measure, pointer, sample
from benchmarks.peers.worker import Case, Outcome, Wrong


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("", ""),
        ('{"a": ', "/a"),
        ('{"a": [1, 2, {"b', "/a/2"),
        ('{"a": [1, 2, {"b": ', "/a/2/b"),
        ('{"a": {"b": "c"}, "d": "e', "/d"),
        ('{"a": "]}, \\"x\\": ", "d": fal', "/d"),
        ('[[], [{}, "', "/1/1"),
        ('{"a/b": {"~": 1', "/a~1b/~0"),
    ],
)
def test_pointer(before: str, expected: str) -> None:
    assert pointer(before) == expected


@pytest.mark.parametrize("count", [1, 2, 7, 10, 0])
@pytest.mark.parametrize("seed", [0, 3])
def test_sample_takes_equal_strides(count: int, seed: int) -> None:
    lines = [json.dumps({"id": str(number)}) for number in range(10)]
    found = [
        lines.index(line) for line in sample(lines, Namespace(cases=count, seed=seed, match=""))
    ]
    assert len(found) == (count or 10)
    assert {later - earlier for earlier, later in pairwise(found)} <= {1, 2, 5}


def test_a_wrong_answer_does_not_pass() -> None:
    assert Outcome("compiled").passes
    assert not Outcome("refused").passes
    accepted = Outcome("compiled", wrong=(Wrong(0, 3, False),))
    assert not accepted.passes
    assert accepted.has_wrong(valid=False)
    assert not accepted.has_wrong(valid=True)


@pytest.mark.parametrize(("turn", "expected"), [(1, "aA bB cC aA bB cC"), (2, "abAB cC abAB cC")])
def test_engines_take_turns(monkeypatch: pytest.MonkeyPatch, turn: int, expected: str) -> None:
    """Each runs as many cases in a row as a turn has, and every case once in each pass."""
    asked: list[str] = []

    class Recorded:
        restarts, megabytes = 0, 0.0

        def __init__(self, engine: str, *_: object) -> None:
            self.engine = engine

        def run(self, case: Case, *, kept: bool) -> Outcome:
            assert not kept
            asked.append(case.id.upper() if self.engine == "maskwright-any" else case.id)
            return Outcome("compiled")

        def close(self) -> None:
            pass

    monkeypatch.setattr(maskbench, "Worker", Recorded)
    options = Namespace(
        engines=["maskwright", "maskwright-any"],
        limit=1.0,
        collector="server",
        cold=False,
        turn=turn,
    )
    runs = [*measure([Case(name, {}, ()) for name in "abc"], options)]
    assert "".join(asked) == expected.replace(" ", "")
    assert [[*run.outcomes] for run in runs] == [["a", "b", "c"]] * 4
