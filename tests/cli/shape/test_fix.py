"""`maskwright check --fix`."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Run

SCHEMA = {
    "type": "object",
    "properties": {
        "a": {"type": "string", "maxLength": 3},
        "b": {
            "type": "object",
            "properties": {"c": {"enum": [1]}, "d": {"$ref": "#/$defs/used"}},
            "required": ["c"],
        },
    },
    "required": ["a"],
    "$defs": {"used": {"type": "null"}, "unused": {"type": "null"}},
}


def test_unused_definitions_are_removed(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "it.json"
    file.write_text(json.dumps(SCHEMA, indent=4) + "\n")
    before = run("sample", file, "-n", "20").stdout
    found = run("check", file, "--fix")
    assert found.returncode == 0
    assert "/$defs/unused: nothing referred to this definition" in found.stdout
    assert '-        "unused": {' in found.stdout
    assert "other values match" not in found.stdout
    fixed = json.loads(file.read_text())
    assert fixed == SCHEMA | {"$defs": {"used": {"type": "null"}}}
    assert file.read_text().startswith('{\n    "type"')
    assert run("sample", file, "-n", "20").stdout == before
    again = run("check", file, "--fix")
    assert "there is nothing that can be fixed" in again.stdout


def test_a_profile_is_kept_afterwards(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "it.json"
    file.write_text(json.dumps(SCHEMA))
    found = run("check", file, "--fix", "--profile", "openai-strict")
    assert "other values match than before" in found.stdout
    fixed = json.loads(file.read_text())
    assert fixed["required"] == ["a", "b"]
    assert fixed["additionalProperties"] is False
    inner = fixed["properties"]["b"]
    assert inner["type"] == ["object", "null"]
    assert inner["required"] == ["c", "d"]
    assert inner["properties"]["d"] == {"anyOf": [{"$ref": "#/$defs/used"}, {"type": "null"}]}
    assert run("check", file, "--profile", "openai-strict").returncode == 0
    assert run("match", file, "--text", '{"a": "x", "b": null}').returncode == 0


def test_unused_rules_are_removed(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "it.lark"
    text = 'start: "a" b\n// of b\nb: "x"\n | "y"\nc: d\n  | "z"\n\nd: "w"\n// the end\n'
    file.write_text(text)
    answer = json.loads(run("check", file, "--fix", "--json").stdout)
    assert answer["messages"] == ["the rule 'c' was not used", "the rule 'd' was not used"]
    assert answer["changes"] is False
    assert file.read_text() == 'start: "a" b\n// of b\nb: "x"\n | "y"\n\n// the end\n'


def test_only_a_file_can_be_written(run: Run) -> None:
    found = run("check", '{"type": "null"}', "--fix")
    assert found.returncode == 2
    assert "--fix writes a file" in found.stderr
    assert run("check", "invoice", "--fix").returncode == 2
    assert run("check", "invoice", "--fix", "-").returncode == 2


def test_the_layout_of_a_file_stays(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "it.json"
    text = '{\n  "$defs": {"a": {"type": "null"}},\n  "enum": [1, 2]\n}\n'
    file.write_text(text)
    run("check", file, "--fix")
    assert file.read_text() == '{\n  "enum": [1, 2]\n}\n'
