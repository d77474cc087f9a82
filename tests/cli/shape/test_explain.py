from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Run


def test_keywords_with_their_lines(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "schema.json"
    file.write_text('{\n  "title": "T",\n  "type": "object",\n  "requierd": ["a"]\n}\n')
    found = run("explain", file)
    assert found.returncode == 0
    assert found.stdout == (
        "    2  annotation  /title\n"
        "    3  enforced    /type\n"
        "    4  annotation  /requierd  not a keyword of draft2020-12, which has it ignored; "
        "did you mean 'required'?\n"
        "1 enforced, 2 annotation\n"
    )


def test_refused_keywords_are_exit_code_1(run: Run) -> None:
    schema = '{"type": "str", "properties": {"a": {"$ref": "https://example.org/a"}}}'
    found = run("explain", schema, "--json")
    assert found.returncode == 1
    answer = json.loads(found.stdout)
    assert answer["counts"] == {"enforced": 1, "annotation": 0, "refused": 1, "invalid": 1}
    assert [(row["pointer"], row["line"]) for row in answer["keywords"]] == [
        ("/type", 1),
        ("/properties", 1),
        ("/properties/a/$ref", 1),
    ]
    assert run("explain", schema).stdout.count("\n") == 4


def test_a_grammar_has_no_keywords(run: Run) -> None:
    found = run("explain", "json")
    assert found.returncode == 2
    assert "only a JSON Schema has keywords" in found.stderr
    assert run("explain", "true").stdout == "no keywords: every JSON value matches\n"
