from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run

SCHEMA = """\
{
  "type": "object",
  "properties": {
    "name": {"type": "string"},
    "age": {"$ref": "#/$defs/age"}
  },
  "required": ["name", "age"],
  "additionalProperties": false,
  "$defs": {"age": {"type": "integer", "minimum": 0}}
}
"""


@pytest.fixture
def schema(tmp_path: Path) -> Path:
    file = tmp_path / "person.json"
    file.write_text(SCHEMA)
    return file


def test_why_a_text_does_not_match(run: Run, schema: Path, tmp_path: Path) -> None:
    text = tmp_path / "text.json"
    text.write_text('{\n  "name": "Ä",\n  "age": "3"\n}\n')
    found = run("match", schema, text)
    assert found.returncode == 1
    assert found.stdout == (
        f"{text}:3:10: this doesn't match\n"
        '    "age": "3"\n'
        "           ^\n"
        '  accepted    27 bytes: \'{\\n  "name": "Ä",\\n  "age": \'\n'
        "  may end     no\n"
        "  allowed     tab, line break, carriage return, space, '-', 0-9\n"
        "  as texts    0-9   -0\n"
        "  waits for   a value\n"
        "  value       /age\n"
        "  schema      #/$defs/age\n"
        '  because of  #/$defs/age/type: "integer"\n'
    )
    near = run("match", schema, "--text", '{"nome": 3}').stdout
    assert "  nearest     'name' in place of 'nome'\n" in near
    shorter = run("match", schema, text, "--no-why").stdout
    assert shorter.splitlines()[-1] == "  schema     #/$defs/age"
    assert "because" not in shorter


def test_the_reasons_are_those_of_the_text_without_space_around_it(run: Run, schema: Path) -> None:
    found = run("match", schema, "--text", ' \n{"name": "A", "age": 1, "x": 2}', "--json")
    answer = json.loads(found.stdout)["texts"][0]
    assert [each["pointer"] for each in answer["reasons"]] == ["/additionalProperties"]
    assert answer["reasons_complete"]


def test_rules_and_continuations_of_a_grammar(run: Run) -> None:
    grammar = 'start: item ("," item)*\nitem: "red" | "green" | "(" start ")"'
    found = run("match", grammar, "--text", "red,(gold")
    assert found.returncode == 1
    assert found.stdout.startswith("--text:1:7: this doesn't match\n  red,(gold\n        ^\n")
    assert "  forced    reen\n" in found.stdout
    assert "  rules     start > item > start > item\n" in found.stdout


@pytest.mark.parametrize(
    ("texts", "code"),
    [
        (["12"], 0),
        (["12", "-"], 3),
        (["-", "x", "1"], 1),
    ],
)
def test_exit_codes(run: Run, texts: list[str], code: int) -> None:
    given = [part for text in texts for part in ("--text", text)]
    assert run("match", '{"type": "integer"}', *given).returncode == code


def test_json_says_it_all(run: Run, schema: Path) -> None:
    found = run("match", schema, "--json", "-", "--text", "{}", stdin='{"name": "A", "age": 1}')
    texts = json.loads(found.stdout)["texts"]
    assert texts[0] == {"name": "-", "verdict": "match", "accepted": 23}
    assert texts[1] == {
        "name": "--text",
        "verdict": "mismatch",
        "accepted": 1,
        "offset": 1,
        "line": 1,
        "column": 2,
        "may_end": False,
        "forced": "",
        "allowed": "tab, line break, carriage return, space, '\"'",
        "count": 5,
        "ranges": [[9, 10], [13, 13], [32, 32], [34, 34]],
        "exact": True,
        "continuations": {"forced": '"', "options": ['age":', 'name":"']},
        "place": {
            "waits_for": "the first item or name, or the closing bracket",
            "instance": "",
            "schemas": [""],
            "rules": [],
        },
        "reasons": [
            {"pointer": "/required", "name": "required", "value": '["name", "age"]', "note": ""}
        ],
        "reasons_complete": True,
        "nearest": texts[1]["nearest"],
    }


def test_what_the_format_leaves_out_is_said_with_the_reason(run: Run) -> None:
    note = "labels that begin with xn-- are left out: no small automaton decodes Punycode"
    schema = '{"properties": {"h": {"type": "string", "format": "%s"}}}'
    asked = ("--text", '{"h": "xn--bcher-kva.example"}')
    found = run("match", schema % "hostname", *asked)
    assert found.returncode == 1
    rows = [line.split(maxsplit=2) for line in found.stdout.splitlines()]
    assert ["because", "of", '#/properties/h/format: "hostname"'] in rows
    assert f"  note        {note}\n" in found.stdout
    [reason] = json.loads(run("match", schema % "hostname", *asked, "--json").stdout)["texts"][0][
        "reasons"
    ]
    assert (reason["pointer"], reason["note"]) == ("/properties/h/format", note)
    assert "note" not in run("match", schema % "ipv4", *asked).stdout


def test_a_text_is_needed(run: Run) -> None:
    found = run("match", "true")
    assert (found.returncode, found.stdout) == (2, "")
    assert "give a file, '-' for standard input, or --text" in found.stderr


def test_shape_and_text_cannot_both_be_standard_input(run: Run) -> None:
    found = run("match", "-", "-", stdin="{}")
    assert found.returncode == 2
    assert "'-' is given more than once" in found.stderr


def test_a_shape_from_standard_input(run: Run) -> None:
    assert run("match", "-", "--text", "aab", stdin='root ::= "a"+ "b"').returncode == 0
    assert run("match", "-", "--text", "[1]", stdin='{"type": "array"}').returncode == 0


def test_one_byte_is_no_bytes(run: Run) -> None:
    found = run("match", "/ab+/", "--text", "ac")
    assert "  accepted  1 byte: 'a'\n" in found.stdout
