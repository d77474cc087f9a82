from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from maskwright.cli.input import opened
from maskwright.errors import InputError
from tests.cli.conftest import Run

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "age": {"type": "integer", "minimum": 0},
        "tags": {"type": "array", "items": {"enum": ["a", "b"]}},
    },
    "required": ["name", "age"],
    "additionalProperties": False,
}


@pytest.fixture
def schema(tmp_path: Path) -> Path:
    file = tmp_path / "schema.json"
    file.write_text(json.dumps(SCHEMA))
    return file


MATCH, MISMATCH, USAGE, INCOMPLETE = 0, 1, 2, 3

TEXTS = [
    # text, exit code, place, what is said to be expected
    ('{"name": "Ann", "age": 3}', MATCH, "", ""),
    ('\n {"name":"Ann","age":3,"tags":["a","b"]}\n\n', MATCH, "", ""),
    ('{"name": "Ann",\n "age": "3"}', MISMATCH, ":2:9:", "0-9"),
    ('{"name": "Ann", "age": 3} x', MISMATCH, ":1:27:", "end of text"),
    ('{"name": "Ann", "age": -3}', MISMATCH, ":1:25:", "0"),
    ('{"name": "Ann", "age": true}', MISMATCH, ":1:24:", "0-9"),
    ('{"name": "Ann", "age": 3, "tags": ["c"]}', MISMATCH, ":1:37:", "a, b"),
    ('{"name": "Ä", "age": x}', MISMATCH, ":1:22:", "0-9"),
    ('{"name": "An', INCOMPLETE, ":1:13:", "any character"),
    ('{"name": "Ann"', INCOMPLETE, ":1:15:", "','"),
    ("", INCOMPLETE, ":1:1:", "'{'"),
]


@pytest.mark.parametrize(("text", "code", "where", "expected"), TEXTS)
def test_verdicts(run: Run, schema: Path, text: str, code: int, where: str, expected: str) -> None:
    found = run("match", schema, "--brief", "-", stdin=text)
    assert found.returncode == code, found
    assert found.stderr == ""
    if code == MATCH:
        assert found.stdout == "-: matches\n"
    else:
        assert f"-{where} " in found.stdout
        assert expected in found.stdout.splitlines()[-1]


def test_the_caret_stands_under_the_fault(run: Run, schema: Path) -> None:
    found = run("match", schema, "--brief", "-", stdin='{\n  "name": "Ann",\n  "age": old\n}\n')
    _, excerpt, caret, _ = found.stdout.splitlines()
    assert excerpt[caret.index("^")] == "o"


def test_several_files_and_the_worst_verdict(run: Run, schema: Path, tmp_path: Path) -> None:
    good, short, bad = (tmp_path / f"{name}.json" for name in ("good", "short", "bad"))
    good.write_text('{"name": "Ann", "age": 3}')
    short.write_text('{"name": "Ann"')
    bad.write_text("[]")
    assert run("match", schema, "--brief", good).returncode == MATCH
    assert run("match", schema, "--brief", good, short).returncode == INCOMPLETE
    found = run("match", schema, "--brief", bad, short, good)
    assert found.returncode == MISMATCH
    assert all(f"{file}:" in found.stdout for file in (good, short, bad))


def test_any_order_of_properties_matches_unless_asked(run: Run, schema: Path) -> None:
    text = '{"age": 3, "name": "Ann"}'
    assert run("match", schema, "--brief", "-", stdin=text).returncode == MATCH
    found = run("match", schema, "--brief", "-", "--property-order", "schema", stdin=text)
    assert found.returncode == MISMATCH
    assert ":1:3: " in found.stdout


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ('{"type": "str"}', "/type"),
        ('{"properties": {"a": {"$ref": "https://example.org/b.json"}}}', "/properties/a/$ref"),
        ('{"type": ', "not valid JSON"),
        ("nowhere.json", "No such file"),
    ],
)
def test_a_schema_that_cannot_be_used(run: Run, argument: str, message: str) -> None:
    found = run("match", argument, "--brief", "-", stdin="{}")
    assert found.returncode == USAGE
    assert message in found.stderr
    assert "Traceback" not in found.stderr


def test_a_byte_order_mark_is_passed_over(run: Run, schema: Path, tmp_path: Path) -> None:
    marked = tmp_path / "marked.json"
    marked.write_bytes(b"\xef\xbb\xbf" + schema.read_bytes())
    text = tmp_path / "text.json"
    text.write_bytes(b'\xef\xbb\xbf{"name": "Ann", "age": 3}')
    found = run("match", marked, "--brief", text)
    assert (found.returncode, found.stderr) == (MATCH, "")


def test_standard_input_is_read_once(run: Run, schema: Path) -> None:
    found = run("match", schema, "--brief", "-", "-", stdin='{"name": "Ann", "age": 3}')
    assert found.returncode == USAGE
    assert "'-' is given more than once" in found.stderr


def test_a_misspelt_keyword_is_reported(run: Run) -> None:
    found = run("match", '{"type": "object", "requred": ["a"]}', "--brief", "-", stdin="{}")
    assert found.returncode == MATCH
    assert "warning: /requred: " in found.stderr
    assert "did you mean 'required'?" in found.stderr


def test_a_schema_is_checked_without_texts(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "s.json"
    file.write_text('{\n  "type": "string",\n  "maxLenght": 3\n}\n')
    found = run("check", file)
    assert (found.returncode, found.stderr) == (0, "")
    warning, excerpt, caret, note, *_, usable = found.stdout.splitlines()
    assert warning.startswith(f"{file}:3:3: warning: ")
    assert warning.endswith("did you mean 'maxLength'? [unknown-keyword]")
    assert excerpt[caret.index("^") :] == '"maxLenght": 3'
    assert note.startswith(f"{file}:1:1: note: a model may fill this string without end")
    assert usable.startswith(
        f"{file}: can be used: 1 keyword enforced; the shortest text has 2 bytes; "
    )


def test_what_is_found_as_json(run: Run) -> None:
    found = run("check", '{"type": "array", "maxItems": 2}', "--profile", "openai-strict", "--json")
    assert found.returncode == 1
    answer = json.loads(found.stdout)
    assert (answer["usable"], answer["enforced"], answer["annotations"]) == (True, 2, 0)
    assert answer["shortest_bytes"] == 2
    assert answer["milliseconds"] > 0
    assert answer["findings"] == [
        {
            "pointer": "",
            "severity": "error",
            "rule": "openai-strict-root",
            "message": "the root has to be of type object, and no anyOf",
            "line": 1,
            "column": 1,
        }
    ]


def test_a_grammar_is_checked_without_texts(run: Run) -> None:
    found = run("check", 'start: "a"\nlost: "b"')
    assert found.returncode == 0
    first, excerpt, caret, last = found.stdout.splitlines()
    assert first == "the grammar:2:1: warning: the rule 'lost' is not used [unused-rule]"
    assert excerpt[caret.index("^") :] == 'lost: "b"'
    assert last.startswith("the grammar: can be used: lark, 1 rule; the shortest text has 1 byte; ")
    assert run("check", "semver", "--profile", "openai-strict").returncode == 2


@pytest.mark.parametrize("shape", ['start: "a"\nlost: "b"', "/a+/"])
def test_what_has_no_keywords_has_no_count_of_them(run: Run, shape: str) -> None:
    answer = json.loads(run("check", shape, "--json").stdout)
    assert (answer["usable"], answer["enforced"], answer["annotations"]) == (True, None, None)
    assert answer["shortest_bytes"] == 1


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        (
            '{"properties": {"a": {"type": "strin"}}}',
            "the schema:1:23: unknown type 'strin'; known are array, boolean, integer, null, "
            "number, object, string (at /properties/a/type)\n"
            '  {"properties": {"a": {"type": "strin"}}}\n'
            "                        ^\n",
        ),
        ('start: "a', "the grammar:1:8: "),
    ],
)
def test_errors_have_their_place(run: Run, shape: str, message: str) -> None:
    found = run("check", shape)
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr.startswith(f"maskwright: {message}")


def test_texts_as_json(run: Run, schema: Path) -> None:
    found = run("match", schema, "--brief", "-", "--json", stdin="{")
    assert found.returncode == INCOMPLETE
    assert json.loads(found.stdout)["texts"][0]["verdict"] == "incomplete"


LOOSE = [
    # a shape, and for each warning its place and its rule
    ('{"name": "n", "schema": {"type": "null"}}', ["1:1 demands-nothing"]),
    ('{"a": {"type": "null"}}', ["1:1 demands-nothing"]),
    ('{"openapi": "3.1.0", "paths": {}}', ["1:1 demands-nothing"]),
    ('{"type": "null", "format": "emial"}', ["1:18 unknown-format"]),
    ('{"type": "boolean", "nullable": true}', ["1:21 nullable"]),
    ('{"type": "null",\n "required": null}', ["2:2 null-keyword"]),
    ('{"type": "integer",\n "type": "null"}', ["2:2 repeated-name"]),
    ('{"enum": ["a]"], "pattern": "^[[:alpha:]]"}', ["1:18 posix-class"]),
    ('{"type": "object", "a": {"type": "null"}, "maxProperties": 1}', ["1:20 misplaced-schema"]),
    ("type: 'null'\nformat: url\n", ["2:1 unknown-format"]),
    ("type: 'null'\nenum:\n", ["2:1 null-keyword"]),
    ("type: integer\ntype: 'null'\n", ["2:1 repeated-name"]),
    ("/[[:alpha:]]{2}/", ["1:1 posix-class"]),
    ('start: A\nA: /[[:digit:]]/ "x"', ["2:1 posix-class"]),
    ('start: "x" b\nb: %json {"type": "null", "type": "boolean"}', ["2:1 repeated-name"]),
]


@pytest.mark.parametrize(("shape", "expected"), LOOSE, ids=str)
def test_what_demands_less_than_it_seems_is_found(
    run: Run, shape: str, expected: list[str]
) -> None:
    result = run("check", shape, "--json")
    assert result.returncode == 0
    findings = json.loads(result.stdout)["findings"]
    listed = [
        f"{each['line']}:{each['column']} {each['rule']}"
        for each in findings
        if each["severity"] == "warning" and each["rule"] not in ("token-trap", "no-effect")
    ]
    assert listed == expected
    for each in expected:
        assert f"[{each.partition(' ')[2]}]" in run("check", shape).stdout


def test_fix_leaves_yaml_alone(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "schema.yaml"
    file.write_text("type: object\n$defs: {a: {}}\n")
    result = run("check", str(file), "--fix")
    assert result.returncode == USAGE
    assert "is YAML" in result.stderr
    assert file.read_text() == "type: object\n$defs: {a: {}}\n"


SIZES = [
    # a shape, and what is said of its size
    ("/a/", "a pattern; the shortest text has 1 byte;"),
    ("/a{4500}/", "a pattern; the shortest text has 4,500 bytes;"),
    ("/a*/", "a pattern; the shortest text has 0 bytes;"),
    ('start: "ä" b\nb: "c"', "lark, 2 rules; the shortest text has 3 bytes;"),
    ('{"type": "null"}', "1 keyword enforced; the shortest text has 4 bytes;"),
    ('{"const": "a", "type": "string"}', "2 keywords enforced; the shortest text has 3 bytes;"),
    ('{"type": "string", "minLength": 400000}', "2 keywords enforced; read"),  # too long to write
]


@pytest.mark.parametrize(("shape", "size"), SIZES, ids=str)
def test_the_size_of_a_shape_is_that_of_its_shortest_text(run: Run, shape: str, size: str) -> None:
    assert f": can be used: {size}" in run("check", shape).stdout.splitlines()[-1]
    shortest = re.search(r"has ([\d,]+) byte", size)
    expected = int(shortest[1].replace(",", "")) if shortest else None
    assert json.loads(run("check", shape, "--json").stdout)["shortest_bytes"] == expected


def strings(count: int) -> str:
    """A schema in lines, with this many strings that nothing bounds and one that something does."""
    properties = {f"p{number}": {"type": "string"} for number in range(count)}
    properties["q"] = {"type": "string", "maxLength": 1}  # type: ignore[dict-item]
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return json.dumps(schema, indent=1)


@pytest.mark.parametrize(
    ("count", "places"),
    [
        (0, None),
        (1, []),
        (2, ["  likewise at 7:3"]),
        (3, ["  likewise at 7:3, 10:3"]),
        (13, [f"  likewise at {', '.join(f'{4 + 3 * number}:3' for number in range(1, 13))}"]),
        (
            15,
            [
                f"  likewise at {', '.join(f'{4 + 3 * number}:3' for number in range(1, 13))}"
                " and 2 more"
            ],
        ),
    ],
)
def test_notes_that_say_the_same_are_one(run: Run, count: int, places: list[str] | None) -> None:
    *lines, usable = run("check", strings(count)).stdout.splitlines()
    assert "can be used" in usable
    if places is None:
        assert lines == []
        return
    note, excerpt, caret, *also = lines
    assert note.startswith("the schema:4:3: note: a model may fill this string without end")
    assert excerpt[caret.index("^") :].startswith('"p0"')
    assert also == places
    found = json.loads(run("check", strings(count), "--json").stdout)["findings"]
    assert [each["pointer"] for each in found] == [f"/properties/p{n}" for n in range(count)]


def test_warnings_stand_one_by_one(run: Run) -> None:
    schema = '{"type": "null",\n "anyOf": [{"format": "url"}, {"format": "url"}]}'
    lines = run("check", schema, "--ignore", "ambiguous").stdout.splitlines()
    heads = [line.partition(": warning: ")[0] for line in lines if "[unknown-format]" in line]
    assert heads == ["the schema:2:13", "the schema:2:32"]


IGNORED = [
    # options, and the rules that are left
    ([], {"unknown-keyword", "unbounded-array", "unbounded-string"}),
    (["--ignore", "unbounded-array"], {"unknown-keyword", "unbounded-string"}),
    (["--ignore", "unbounded-*"], {"unknown-keyword"}),
    (["--ignore", "unbounded-array", "--ignore", "unknown-keyword"], {"unbounded-string"}),
    (["--ignore", "*"], set()),
    (["--ignore", "unused-rule"], {"unknown-keyword", "unbounded-array", "unbounded-string"}),
]


# A set is written in another order by each process that runs tests.
@pytest.mark.parametrize(("options", "left"), IGNORED, ids=lambda each: " ".join(sorted(each)))
def test_rules_are_ignored(run: Run, options: list[str], left: set[str]) -> None:
    schema = '{"type": "array", "items": {"type": "string", "maxLenght": 3}}'
    found = run("check", schema, *options)
    assert found.returncode == 0
    assert set(re.findall(r"\[([a-z-]+)\]$", found.stdout, re.MULTILINE)) == left
    answer = json.loads(run("check", schema, *options, "--json").stdout)["findings"]
    assert {each["rule"] for each in answer} == left


def test_an_ignored_error_is_none(run: Run) -> None:
    asked = ("check", '{"type": "array", "maxItems": 2}', "--profile", "openai-strict")
    assert run(*asked).returncode == 1
    assert run(*asked, "--ignore", "openai-strict-root").returncode == 0
    assert run(*asked, "--ignore", "openai-strict-size").returncode == 1


def test_rules_of_grammars_and_patterns_are_ignored(run: Run) -> None:
    for shape, rule in (('start: "a"\nlost: "b"', "unused-rule"), ("/a+/", "unbounded-pattern")):
        assert f"[{rule}]" in run("check", shape).stdout
        assert run("check", shape, "--ignore", rule).stdout.count("\n") == 1


def test_what_is_ignored_is_not_fixed(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "it.json"
    file.write_text('{"type": "null", "$defs": {"a": {"type": "null"}}}')
    before = file.read_text()
    assert run("check", file, "--fix", "--ignore", "unused-definition").returncode == 0
    assert file.read_text() == before
    run("check", file, "--fix")
    assert json.loads(file.read_text()) == {"type": "null"}


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("unbounded-strings", "did you mean unbounded-string?"),
        ("xyzzy", "there are unknown-keyword, demands-nothing, "),
        ("zz*", "there are unknown-keyword, demands-nothing, "),
        ("", "there are unknown-keyword, demands-nothing, "),
    ],
)
def test_a_rule_that_is_none_is_refused(run: Run, name: str, hint: str) -> None:
    found = run("check", '{"type": "null"}', "--ignore", name)
    assert (found.returncode, found.stdout) == (USAGE, "")
    assert f"--ignore {name}: no rule has this name; {hint}" in found.stderr


def test_what_a_format_leaves_out_is_found(run: Run) -> None:
    schema = '{"type": "string",\n "format": "hostname", "maxLength": 9}'
    found = run("check", schema)
    assert found.returncode == 0
    note, excerpt, caret, _ = found.stdout.splitlines()
    assert note.startswith("the schema:2:2: note: labels that begin with xn-- are left out: ")
    assert note.endswith("[narrowed]")
    assert excerpt[caret.index("^") :].startswith('"format"')
    assert run("check", schema, "--ignore", "narrowed").stdout.count("\n") == 1
    assert "[narrowed]" not in run("check", schema.replace("hostname", "ipv4")).stdout


TYPO = '{"type": "object", "requierd": ["a"]}'
INTEGER = '{"type": "integer"}'
WRONG = '{\n "type": "strin"}'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the program runs, with shapes; there are findings for two of them."""
    monkeypatch.chdir(tmp_path)
    found = tmp_path / "shapes"
    (found / "inner").mkdir(parents=True)
    (found / ".hidden").mkdir()
    for name, text in (
        ("a.json", INTEGER),
        ("b.lark", 'start: "a"'),
        ("inner/typo.yaml", "type: object\nrequierd: [a]\nmaxProperties: 1\n"),
        ("notes.txt", "no shape"),
        (".hidden/x.json", "{"),
        (".y.json", "{"),
    ):
        (found / name).write_text(text)
    return found


def test_a_folder_stands_for_the_shapes_in_it(run: Run, folder: Path) -> None:
    found = run("check", "shapes")
    assert (found.returncode, found.stderr) == (0, "")
    heads = [line for line in found.stdout.splitlines() if "can be used" in line]
    assert [head.partition(":")[0] for head in heads[:-1]] == [
        "shapes/a.json",
        "shapes/b.lark",
        "shapes/inner/typo.yaml",
    ]
    assert "shapes/inner/typo.yaml:2:1: warning:" in found.stdout
    assert found.stdout.endswith("3 of 3 shapes can be used; 1 warning\n")


def test_a_shape_that_can_not_be_used_does_not_hide_the_others(run: Run, folder: Path) -> None:
    (folder / "c.json").write_text(WRONG)
    found = run("check", "shapes", INTEGER)
    assert found.returncode == 2
    assert "error: shapes/c.json:2:2: unknown type 'strin'" in found.stdout
    assert "the schema: can be used" in found.stdout
    assert found.stdout.endswith("4 of 5 shapes can be used; 1 warning\n")


def test_a_rule_of_a_profile_in_one_of_several(run: Run) -> None:
    found = run("check", INTEGER, '{"type": "array"}', "--profile", "openai-strict")
    assert found.returncode == 1
    assert found.stdout.count("openai-strict-root") == 2


def test_a_folder_of_too_many_files_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opened, "MOST_ENTRIES", 3)
    (tmp_path / "inner").mkdir()
    for name in ("a.json", "b.txt"):
        (tmp_path / "inner" / name).write_text("{}")
    assert opened.shapes_named([str(tmp_path)]) == [str(tmp_path / "inner" / "a.json")]
    (tmp_path / "inner" / "c.txt").touch()
    with pytest.raises(InputError, match="has more than 3 files and folders: name the folders"):
        opened.shapes_named([str(tmp_path)])


def test_a_folder_without_shapes_is_refused(run: Run, tmp_path: Path) -> None:
    found = run("check", tmp_path)
    assert found.returncode == 2
    assert "has no files .ebnf, .gbnf, .json, .lark, .regex, .yaml, .yml" in found.stderr


def test_an_empty_argument_is_no_folder(run: Run) -> None:
    found = run("check", "")
    assert found.returncode == 2
    assert "the shape is empty: give a file" in found.stderr
    assert run("check", "--kind", "regex", "").returncode == 0


def test_standard_input_is_one_shape(run: Run) -> None:
    assert run("check", "-", INTEGER, stdin='{"type": "null"}').returncode == 0
    assert "more than once" in run("check", "-", "-").stderr


def test_several_shapes_as_json(run: Run, folder: Path) -> None:
    (folder / "c.json").write_text(WRONG)
    for options in (("--json",), ("--output-format", "json")):
        rows = json.loads(run("check", "shapes", *options).stdout)["shapes"]
        assert [row["usable"] for row in rows] == [True, True, False, True]
        assert [row["name"] for row in rows][2] == "shapes/c.json"
        assert (rows[2]["error"]["line"], rows[2]["error"]["column"]) == (2, 2)
        assert [each["rule"] for each in rows[3]["findings"]] == ["unknown-keyword"]


def test_findings_for_github(run: Run, folder: Path) -> None:
    (folder / "c.json").write_text(WRONG)
    (folder / "d,e.json").write_text('{"type": "string"}')
    found = run("check", "shapes", "--output-format", "github")
    assert found.returncode == 2
    error, note, warning = found.stdout.splitlines()
    assert error.startswith(
        "::error file=shapes/c.json,line=2,col=2,title=unusable::unknown type 'strin'; known are"
    )
    assert "%0A" not in error
    assert note.startswith("::notice file=shapes/d%2Ce.json,line=1,col=1,title=unbounded-string::")
    assert warning.startswith("::warning file=shapes/inner/typo.yaml,line=2,col=1,title=unknown-")
    assert run("check", INTEGER, "--output-format", "github").stdout == ""
    loose = run("check", '{"type": "string"}', "--output-format", "github").stdout
    assert loose.startswith("::notice title=unbounded-string::")  # it stands in no file


API = """openapi: 3.1.0
components:
  schemas:
    Order:
      type: string
"""
MODULE = """import dataclasses


@dataclasses.dataclass
class Order:
    item: str
"""


@pytest.mark.parametrize(
    ("shape", "place", "line", "column"),
    [
        ("own.json", "own.json", 1, 1),
        ("./own.json", "own.json", 1, 1),
        (".", "own.json", 1, 1),
        ("api.yaml#/components/schemas/Order", "api.yaml", 4, 5),
        ("orders_of_a_shop:Order", "orders_of_a_shop.py", 4, None),
        ("a b.json", "a b.json", 1, 1),
    ],
)
def test_findings_are_placed_in_the_file_that_has_the_shape(
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    shape: str,
    place: str,
    line: int,
    column: int | None,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / place).write_text('{"type": "string"}')
    (tmp_path / "api.yaml").write_text(API) if place == "api.yaml" else None
    (tmp_path / "orders_of_a_shop.py").write_text(MODULE) if column is None else None
    lines = run("check", shape, "--output-format", "github").stdout.splitlines()
    at = f"line={line}," if column is None else f"line={line},col={column},"
    assert lines[-1].startswith(f"::notice file={place},{at}title=unbounded-")
    document = json.loads(run("check", shape, "--output-format", "sarif").stdout)
    found = document["runs"][0]["results"][-1]["locations"][0]["physicalLocation"]
    assert found["artifactLocation"] == {"uri": place.replace(" ", "%20")}
    assert found["region"] == {"startLine": line, "startColumn": column or 1}


def test_what_cannot_be_watched_is_refused(run: Run) -> None:
    found = run("check", "argparse:Namespace", "--watch")
    assert found.returncode == 2
    assert "--watch is for files" in found.stderr


def test_two_formats_exclude_each_other(run: Run) -> None:
    found = run("check", INTEGER, "--json", "--output-format", "sarif")
    assert found.returncode == 2
    assert "exclude each other" in found.stderr
    assert run("check", INTEGER, "--json", "--output-format", "json").returncode == 0


def test_findings_for_code_scanning(run: Run, folder: Path) -> None:
    (folder / "c.json").write_text(WRONG)
    document = json.loads(run("check", "shapes", "--output-format", "sarif").stdout)
    assert document["version"] == "2.1.0"
    (part,) = document["runs"]
    error, warning = part["results"]
    assert (error["ruleId"], error["level"]) == ("unusable", "error")
    place = error["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "shapes/c.json"}
    assert place["region"] == {"startLine": 2, "startColumn": 2}
    assert (warning["ruleId"], warning["level"]) == ("unknown-keyword", "warning")
    rules = {rule["id"] for rule in part["tool"]["driver"]["rules"]}
    assert rules == {"unusable", "unknown-keyword"}
    empty = json.loads(run("check", INTEGER, "--output-format", "sarif").stdout)
    assert empty["runs"][0]["results"] == []


def test_shapes_are_checked_again_when_a_file_changes_or_comes(folder: Path) -> None:
    command = [sys.executable, "-m", "maskwright", "check", "--watch", "shapes", "--ignore", "*"]
    program = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert program.stdout is not None
        lines = iter(program.stdout.readline, "")
        assert next(line for line in lines if "shapes can" in line) == "3 of 3 shapes can be used\n"
        (folder / "c.json").write_text(WRONG)
        assert next(line for line in lines if "shapes can" in line) == "3 of 4 shapes can be used\n"
        (folder / "c.json").write_text(INTEGER)
        assert next(line for line in lines if "shapes can" in line) == "4 of 4 shapes can be used\n"
    finally:
        program.terminate()
        program.communicate()


def test_only_one_whole_schema_is_mended(run: Run, tmp_path: Path) -> None:
    tools = tmp_path / "tools.json"
    before = '[{"name": "f", "parameters": {"type": "object", "$defs": {"a": {}}}}]'
    tools.write_text(before)
    assert "holds several things" in run("check", tools, "--fix").stderr
    assert tools.read_text() == before
    assert "--fix mends one shape" in run("check", tools, INTEGER, "--fix").stderr
