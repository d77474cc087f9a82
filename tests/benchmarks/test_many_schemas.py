"""Schemas that all differ, and the comparison of a server's requests with its first ones."""

from __future__ import annotations

import json
from argparse import Namespace
from typing import Any, cast

import jsonschema
import pytest

from benchmarks import many_schemas
from benchmarks.many_schemas import Answered, Rows, compare, figures, made, measure, slower
from benchmarks.report import Report
from tests.hostile.ordinary import ordinary_schema
from tests.hostile.process import ServerProcess
from tests.hostile.shape import HostileShape


def test_schemas_differ_and_are_schemas() -> None:
    texts = [json.dumps(ordinary_schema(number)) for number in range(300)]
    assert len(set(texts)) == 300
    assert texts == [json.dumps(ordinary_schema(number)) for number in range(300)]
    for text in texts[:30]:
        jsonschema.Draft202012Validator.check_schema(json.loads(text))


@pytest.mark.parametrize("number", [0, 7, 133])
def test_another_name_leaves_the_structure(number: int) -> None:
    one, other = (
        json.dumps(ordinary_schema(number, salt), separators=(",", ":")) for salt in ("", "x")
    )
    assert one != other
    renamed = one.replace(f"_{number}", f"_x{number}").replace(f" {number}", f" x{number}")
    assert other == renamed


@pytest.mark.parametrize(
    ("ms", "tokens", "expected"),
    [(100, 10, False), (149, 10, False), (151, 10, True), (151, 11, False), (290, 20, False),
     (310, 20, True), (149, 0, False), (151, 0, True)],
)  # fmt: skip
def test_slower(ms: float, tokens: int, expected: bool) -> None:
    """By the time of a token, of refusals as a whole; and by more than 20 ms."""
    assert slower(Answered(ms, tokens, True), Answered(100, 10, True)) == expected


def test_figures_compare_with_the_first_requests() -> None:
    fresh = [Answered(100, 10, True), Answered(200, 10, True), Answered(50, 5, False)]
    row = figures([Answered(100, 10, True), Answered(400, 10, True), Answered(50, 5, True)], fresh)
    assert (row["n"], row["valid"], row["ratio"]) == (3, 3, 1.0)
    assert "ratio" not in figures(fresh)


def test_what_is_slow_once_is_not_slower_each_time() -> None:
    """The second request of a try is slow once, the third each time."""
    shapes, times = made(range(3), None), iter([100, 300, 300, 100, 300, 300])
    asked: list[list[HostileShape]] = []
    rows: dict[str, Any] = {}

    class Printed:
        def ask(self, shapes: list[HostileShape]) -> list[Answered]:
            asked.append(shapes)
            return [Answered(next(times), 10, True) for _ in shapes]

        def add(self, case: str, **row: Any) -> None:
            rows[case] = row

    compare(cast("Rows", Printed()), "again", lambda _: shapes, [Answered(100, 10, True)] * 3)
    assert (rows["again"]["slower"], rows["again"]["each time"]) == (2, 1)
    assert asked == [shapes, shapes[1:], shapes[2:]]


class NoServer:
    """Has a memory, and nothing else of a server."""

    def resident_bytes(self) -> int:
        return 7_000_000


def test_rows_and_progress_are_reported_as_they_are_known(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    printed: list[str] = []

    def answer(server: Any, shape: Any) -> Answered:
        printed.append(capsys.readouterr().err)
        return Answered(100, 10, True)

    monkeypatch.setattr(many_schemas, "ask", answer)
    monkeypatch.setattr(many_schemas, "PROGRESS_SECONDS", 0.0)
    report = Report("made up")
    rows = Rows(cast("ServerProcess", NoServer()), report)
    measure(rows, made(range(4), None), Namespace(again=2, settle=0.0, maskbench=False))
    cases = ["at the start", "1 to 2", "3 to 3", "4 to 4", "the first again", "others like them"]
    assert [row["case"] for row in report.rows] == [*cases, "0 s later"]
    assert all(row["MB"] == 7 for row in report.rows)
    assert "at the start: MB 7" in printed[0]
    assert "1 requests" in printed[1]
    assert "1 to 2: n 2, valid 2" in printed[2]
    assert "2 requests" in printed[2]
    assert "others like them: " in capsys.readouterr().err
