"""The ratios to the baseline that maskbench.py prints, and its lists of dearest cases."""

from __future__ import annotations

import gc

import pytest

from benchmarks.peers.comparison import DEAREST, Pair, Run, collections, dearest, pairs
from benchmarks.peers.worker import Collecting, Collections, Outcome, Wrong


def compiled(first: float, *steps: float, wrong: bool = False) -> Outcome:
    wrongs = (Wrong(0, 0, False),) if wrong else ()
    return Outcome("compiled", "", (first,), steps, wrongs)


OURS = Run(
    "maskwright-any",
    "cold",
    {
        "one": compiled(100, 1, 3),
        "two": compiled(300, 2, 2),
        "three": compiled(900, 50),
        "ours alone": compiled(5_000, 70, 80),
    },
    0,
    0.0,
)
THEIRS = Run(
    "llguidance",
    "cold",
    {
        "one": compiled(200, 2, 6),
        "two": compiled(200, 4, 4),
        "three": compiled(300, 10, wrong=True),
        "ours alone": Outcome("refused"),
    },
    0,
    0.0,
)
WARM = Run("maskwright-any", "warm", {"one": compiled(50, 4, 4)}, 0, 0.0)
KEPT = Run("llguidance", "kept", {"one": compiled(1, 2, 2)}, 0, 0.0)
OTHER = Run("xgrammar", "kept", {"one": compiled(1, 1, 1)}, 0, 0.0)


def test_ratios_over_what_both_pass_leave_out_wrong_and_refused_cases() -> None:
    row = Pair(OURS, THEIRS, THEIRS).row(all_cases=False)
    assert row["schemas"] == 2
    assert row["compile p50"] == 100 / 200
    assert row["compile p99.9"] == 300 / 200
    assert row["compile mean"] == 1
    assert row["mask p50"] == 2 / 4
    assert row["mask mean"] == 0.5
    assert row["mask longest"] == 3 / 6
    assert row["compile slower_%"] == 50
    assert row["mask slower_%"] == 0
    assert row["mask slower_by_token_%"] == 0


def test_ratios_over_all_take_whatever_each_engine_compiles() -> None:
    row = Pair(OURS, THEIRS, THEIRS).row(all_cases=True)
    assert row["schemas"] == 3, "the schemas that both compile, of which a part may be slower"
    assert row["compile mean"] == round((6_300 / 4) / (700 / 3), 3)
    assert row["mask longest"] == 80 / 10
    assert row["compile slower_%"] == 66.7
    assert row["mask slower_%"] == 33.3
    assert row["mask slower_by_token_%"] == 33.3


@pytest.mark.parametrize(
    ("steps", "together", "by_token"),
    [((3, 3, 3), 100, 0), ((3, 6, 3), 100, 0), ((9, 1, 3), 100, 100), ((4,), 0, 0), ((5,), 0, 100)],
)
def test_a_text_that_is_refused_earlier_compares_by_token(
    steps: tuple[float, ...], together: float, by_token: float
) -> None:
    """The baseline reads two tokens, in 4 each."""
    ours = Run("maskwright-any", "cold", {"one": compiled(1, *steps)}, 0, 0.0)
    theirs = Run("llguidance", "cold", {"one": compiled(1, 4, 4)}, 0, 0.0)
    row = Pair(ours, theirs, theirs).row(all_cases=False)
    assert row["mask slower_%"] == together
    assert row["mask slower_by_token_%"] == by_token


def test_a_case_without_tokens_is_not_slower() -> None:
    ours = Run("maskwright-any", "cold", {"one": compiled(1)}, 0, 0.0)
    theirs = Run("llguidance", "cold", {"one": compiled(1)}, 0, 0.0)
    assert Pair(ours, theirs, theirs).row(all_cases=False)["mask slower_by_token_%"] == 0


def test_masks_are_compared_within_a_pass_and_compiling_with_the_first() -> None:
    found = {pair.label: pair for pair in pairs([OURS, THEIRS, WARM, KEPT, OTHER])}
    assert list(found) == [
        "maskwright-any cold / llguidance cold",
        "maskwright-any warm / llguidance kept",
        "xgrammar kept / llguidance kept",
    ]
    warm = found["maskwright-any warm / llguidance kept"].row(all_cases=False)
    assert warm["compile p50"] == 50 / 200
    assert warm["mask p50"] == 4 / 2
    other = found["xgrammar kept / llguidance kept"].row(all_cases=False)
    assert not [name for name in other if name.startswith("compile")]
    assert not list(pairs([OURS, WARM])), "there is no baseline"


def test_a_comparison_without_common_cases_has_no_ratios() -> None:
    refused = Run("llguidance", "cold", {"one": Outcome("refused")}, 0, 0.0)
    run = Run("maskwright", "cold", {"one": compiled(1, 1)}, 0, 0.0)
    row = Pair(run, refused, refused).row(all_cases=False)
    assert row == {
        "schemas": 0,
        "compile slower_%": None,
        "mask slower_%": None,
        "mask slower_by_token_%": None,
    }


def test_the_dearest_come_first_in_each_order() -> None:
    lists: dict[str, list[object]] = {}
    for name, row in dearest(Pair(OURS, THEIRS, THEIRS)):
        lists.setdefault(name.partition(", ")[2], []).append(row["schema"])
    assert lists == {
        "compile": ["ours alone", "three", "two", "one"],
        "masks": ["ours alone", "three", "one", "two"],
        "beside llguidance": ["three", "two"],
    }


def test_the_dearest_are_at_most_twenty_with_the_times_of_both() -> None:
    ours = Run("maskwright", "cold", {str(n): compiled(n, n, 2 * n) for n in range(30)}, 0, 0.0)
    theirs = Run("llguidance", "cold", {str(n): compiled(1, 1, 1) for n in range(30)}, 0, 0.0)
    rows = list(dearest(Pair(ours, theirs, theirs)))
    assert len(rows) == 3 * DEAREST
    assert rows[0][1] == {
        "schema": "29",
        "compile_ms": 0.029,
        "masks_ms": 0.087,
        "longest_ms": 0.058,
        "base_compile_ms": 0.001,
        "base_masks_ms": 0.002,
    }


def test_collections_are_added_up_over_a_run() -> None:
    outcomes = {
        "one": Outcome("compiled", collections=Collections(2, 30.0, 40.0, 100.0)),
        "two": Outcome("refused", collections=Collections(1, 10_000.0, 60.0, 300.0)),
    }
    assert collections(Run("maskwright", "cold", outcomes, 0, 0.0)) == {
        "collections": 3,
        "longest_collection_ms": 10.0,
        "collecting_%": 25.0,
    }
    assert collections(Run("maskwright", "cold", {}, 0, 0.0))["collecting_%"] is None


@pytest.mark.parametrize("number", [0, 1, 3])
def test_every_collection_within_is_counted(number: int) -> None:
    with Collecting() as collecting:
        for _ in range(number):
            gc.collect()
    gc.collect()
    found = collecting.found()
    assert found.number >= number
    assert found.longest_us <= found.total_us <= found.whole_us
    assert (found.total_us > 0) == (found.number > 0)
    assert not [note for note in gc.callbacks if getattr(note, "__self__", None) is collecting]
