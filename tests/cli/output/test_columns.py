from __future__ import annotations

import pytest

from maskwright.cli.output.columns import described


def test_descriptions_stand_beside_the_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    rows = {"a": "Short.", "longer": "Words that take more than one line here."}
    assert described(rows) == (
        "  a       Short.\n  longer  Words that take more than one\n          line here."
    )


def test_nothing_is_nothing() -> None:
    assert described({}) == ""
