"""Figures as text: they fit the width, nothing is cut, and each stands where it belongs."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maskwright.cli.bench.client import Objective, Point
from maskwright.cli.bench.serve import envelope
from maskwright.cli.output.tables import Figure, Row, lay_out, paragraph, shown

ONE_TABLE = """\
case      engine  us p50  n
list      ours     1.235  3
any JSON  a peer  12,346  4"""

IN_PARTS = """\
list
engine  p50     p90     p99
ours     11  12,000  13,000
a peer   21  22,000  23,000

engine  p99.9  max
ours      0.5    9
a peer

any JSON
engine  p50  p90  p99
ours     31   32   33
a peer
a peer, refused: a reason
  that needs some more words"""

ROW_BY_ROW = """\
a case whose name is quite long, ours
    mean     p50     p90     p99   p99.9
  10,000  20,000  30,000  40,000  50,000

     max
  60,000

another case whose name is long, ours
  mean
     5"""


def test_what_fits_is_one_table() -> None:
    rows = [
        {"case": "list", "engine": "ours", "us p50": 1.23456, "n": 3, "empty": None},
        {"case": "any JSON", "engine": "a peer", "us p50": 12345.6, "n": 4},
    ]
    assert lay_out(rows, 80) == ONE_TABLE


def test_a_case_is_a_block_that_goes_on_below_itself() -> None:
    rows = [
        {"case": "list", "engine": "ours", "p50": 11, "p90": 12000, "p99": 13000, "p99.9": 0.5},
        {"case": "list", "engine": "a peer", "p50": 21, "p90": 22000, "p99": 23000},
        {"case": "any JSON", "engine": "ours", "p50": 31, "p90": 32, "p99": 33},
        {"case": "any JSON", "engine": "a peer", "refused": "a reason that needs some more words"},
    ]
    rows[0]["max"] = 9
    assert lay_out(rows, 28) == IN_PARTS


def test_names_that_take_the_width_stand_above_their_row() -> None:
    names = ("mean", "p50", "p90", "p99", "p99.9", "max")
    figures = {name: 10_000 * n for n, name in enumerate(names, start=1)}
    rows = [
        {"case": "a case whose name is quite long", "engine": "ours", **figures},
        {"case": "another case whose name is long", "engine": "ours", "mean": 5},
    ]
    assert lay_out([rows[0]], 40) + "\n\n" + lay_out([rows[1]], 40) == ROW_BY_ROW


@pytest.mark.parametrize(("rows", "text"), [([], ""), ([{"case": "x"}], "case\nx")])
def test_few_figures(rows: list[Row], text: str) -> None:
    assert lay_out(rows, 80) == text


NAMES = st.text("abcde ", min_size=1, max_size=40).map(lambda text: f"{text.strip()}.")
FIGURES = st.one_of(st.none(), st.integers(-(10**9), 10**9), st.floats(-1e9, 1e9, width=32), NAMES)


@given(
    st.lists(
        st.dictionaries(st.sampled_from([f"column {n}" for n in range(20)]), FIGURES), max_size=6
    ),
    st.lists(NAMES, min_size=6, max_size=6),
)
def test_nothing_is_cut_at_80_columns(figures: list[dict[str, Figure]], names: list[str]) -> None:
    rows = [{"case": case, **own} for case, own in zip(names, figures, strict=False)]
    text = lay_out(rows, 80)
    assert all(len(line) <= 80 for line in text.splitlines())
    words = " ".join(text.split())
    for row in rows:
        for figure in row.values():
            assert " ".join(shown(figure).split()) in words
    assert "…" not in text


def test_a_long_word_is_not_broken() -> None:
    assert paragraph(f"one {'x' * 30} two", 20) == f"one\n  {'x' * 30}\n  two"


POINTS = [
    Point(
        pattern, rate, 10, 0.9 * rate, {"answered": 7, "refused": 3},
        *((0.012, 0.5, 12.25), (0.0123, 0.02, 0.03), (0.5, 1.5, 2.5)), 1234.5, 20, 19,
    )
    for pattern, rate in product(("steady", "burst", "adversarial"), (1.0, 2.5))
]  # fmt: skip


def test_the_envelope_of_a_server_fits_80_columns() -> None:
    text = envelope(POINTS, Objective(2.0, 0.2), 80)
    assert "first token came within 2 s\nand each further one within 0.2 s" in text
    assert all(len(line) <= 80 for line in text.splitlines())
    assert "…" not in text
    lines = [line.split() for line in text.splitlines()]
    assert lines.count(["2.5", "2.25", "7", "3", "0", "0", "1,234", "19", "20"]) == 3
    assert lines.count(["1", "first", "token", "12", "500", "12,250"]) == 3
    assert lines.count(["2.5", "each", "further", "token", "12", "20", "30"]) == 3
    assert lines.count(["1", "gap", "500", "1,500", "2,500"]) == 3
    names = ["steady", "burst", "adversarial"]
    assert [line for line in text.splitlines() if line in names] == names


PRINTS = """
from benchmarks.report import Report
report = Report("masks", packages=("numpy",))
for case in ("list", "any JSON"):
    for engine in ("ours", "a peer"):
        report.add(case, engine=engine, **{f"figure {n}": 1000 + n for n in range(12)})
report.finish(save=False)
"""
ROOT = Path(__file__).resolve().parents[3]


def printed(columns: int | None) -> str:
    """What a benchmark prints into a terminal of so many columns, or into a pipe."""
    environment = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
    environment["PYTHONPATH"] = f"{ROOT / 'src'}{os.pathsep}{ROOT}"
    command = [sys.executable, "-c", PRINTS]
    if columns is None:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return done.stdout
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "rb", buffering=0) as reader:
        subprocess.run(["stty", "cols", str(columns)], stdin=theirs, check=True)
        process = subprocess.Popen(command, env=environment, stdout=theirs, stderr=theirs)
        os.close(theirs)
        text = b""
        try:
            while data := reader.read(65536):
                text += data
        except OSError:  # how Linux says that the other end is closed
            pass
        assert process.wait() == 0, text
    return text.decode().replace("\r\n", "\n")


def test_a_pipe_gets_80_columns_and_a_terminal_its_own_width() -> None:
    piped = printed(None)
    assert max(map(len, piped.splitlines())) <= 80
    assert [piped.count(f" {1000 + n:,}") for n in range(12)] == [4] * 12
    assert printed(80) == piped
    wide = printed(200)
    assert 80 < max(map(len, wide.splitlines())) <= 200
    assert len(wide.splitlines()) < len(piped.splitlines())
