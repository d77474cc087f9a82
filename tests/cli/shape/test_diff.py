from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run


@pytest.mark.parametrize(
    ("first", "second", "code"),
    [
        ("invoice", "invoice", 0),
        ("invoice", "receipt", 1),
        ("/a+/", "/aa*/", 0),
        ("/a+/", "/a*/", 1),
        ("true", "{", 2),
    ],
)
def test_exit_codes(run: Run, first: str, second: str, code: int) -> None:
    assert run("diff", first, second).returncode == code


def test_each_direction_is_reported(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "a.regex"
    file.write_text("a+\n")
    found = run("diff", file, "-", stdin='start: "a"*')
    assert (found.returncode, found.stdout) == (
        1,
        "only the first: no text\nonly the second: the empty text\n",
    )


def test_json_says_it_all(run: Run) -> None:
    found = run("diff", '{"enum": [1, 2]}', '{"enum": [1, 2, true]}', "--json")
    assert found.returncode == 1
    answer = json.loads(found.stdout)
    assert answer.pop("pairs") == 0  # schemas are compared without a walk
    assert answer == {
        "equal": False,
        "only_first": {"decided": True, "text": None},
        "only_second": {"decided": True, "text": "true"},
    }


def test_a_bound_leaves_it_open(run: Run) -> None:
    found = run("diff", "/(ab)*a/", "/a(ba)*/", "--pairs", "1")
    assert found.returncode == 3
    assert found.stdout == (
        "only the first: no text was found within the bounds\n"
        "only the second: no text was found within the bounds\n"
    )


def test_standard_input_is_read_once(run: Run) -> None:
    found = run("diff", "-", "-", stdin="{}")
    assert found.returncode == 2
    assert "'-' is given more than once" in found.stderr
