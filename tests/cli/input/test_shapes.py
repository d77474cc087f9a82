"""What the argument SHAPE of a command is taken for."""

from __future__ import annotations

import io
import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from maskwright.cli.input.shapes import (
    GrammarArgument,
    RegexArgument,
    SchemaArgument,
    Shape,
    compile_shape,
    dialect_of,
    read_shape,
)
from maskwright.errors import InputError
from tests.matching import EVERY_BYTE, matches


def test_a_schema_is_a_file_or_the_argument_itself(tmp_path: Path) -> None:
    file = tmp_path / "schema.json"
    file.write_text('{"type": "object", "properties": {"z": {}, "a": {}}}')
    for argument in (str(file), file.read_text(), f"  {file.read_text()}"):
        shape = read_shape(argument)
        assert isinstance(shape, SchemaArgument)
        assert isinstance(shape.schema, dict)
        assert list(shape.schema) == ["type", "properties"]
        assert shape.name == (argument if argument == str(file) else "the schema")
        assert json.loads(shape.text) == shape.schema


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"type": }', "1:10: not valid JSON"),
        ('{"type": "null",}', "1:16: not valid JSON: the comma before '}' is one too many"),
        ('{"a": ' * 100_000, "not valid JSON: it is nested too deep"),
        (f'{{"minimum": {"9" * 5000}}}', "not valid JSON: a number has too many digits"),
    ],
)
def test_a_schema_that_is_no_json(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "schema.json"
    file.write_text(text)
    for argument in (text, str(file)):
        with pytest.raises(InputError) as caught:
            read_shape(argument)
        assert message in caught.value.message
    assert str(file) in caught.value.message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("type: object\nproperties:\n  a: [1\n", "schema.yaml:4:1: not valid YAML"),
        ("- type: object\n", "schema.yaml: a schema is a JSON object, true or false, not an array"),
        ("3\n", "schema.yaml: a schema is a JSON object, true or false, not a number"),
        ("", "schema.yaml: a schema is a JSON object, true or false, and this is empty"),
        ("\n \n", "schema.yaml: a schema is a JSON object, true or false, and this is empty"),
    ],
)
def test_a_file_of_yaml_that_is_no_schema(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "schema.yaml"
    file.write_text(text)
    with pytest.raises(InputError) as caught:
        read_shape(str(file))
    assert message in caught.value.message


def test_an_error_in_yaml_has_its_place(tmp_path: Path) -> None:
    file = tmp_path / "schema.yaml"
    file.write_text("type: object\nproperties:\n  a:\n    type: strin\n")
    with pytest.raises(InputError, match=r"schema\.yaml:4:5: unknown type 'strin'"):
        compile_shape(read_shape(str(file)), EVERY_BYTE)
    file.write_text("type: [string, null]\n")
    with pytest.raises(InputError, match="the type of null is written"):
        compile_shape(read_shape(str(file)), EVERY_BYTE)
    file.write_text("allOf: [{type: string}, {type: object}]\n")
    with pytest.raises(InputError, match=r"schema\.yaml:1:1: no JSON value matches"):
        compile_shape(read_shape(str(file)), EVERY_BYTE)


def test_what_plain_leaves_out_is_warned_of() -> None:
    shape = read_shape('{"type": "null", "required": null, "type": "boolean"}')
    assert isinstance(shape, SchemaArgument)
    assert shape.schema == {"type": "boolean"}
    grammar = compile_shape(shape, EVERY_BYTE)
    assert [text.partition(":")[0] for text in grammar.report.warnings] == ["/type", "/required"]
    assert matches(grammar, "true")


def test_a_file_whose_json_is_no_schema(tmp_path: Path) -> None:
    file = tmp_path / "schema.json"
    file.write_text("[1]")
    with pytest.raises(InputError, match="a schema is"):
        read_shape(str(file))


@pytest.mark.parametrize("text", ["", "\n", "\ufeff"])
def test_an_empty_file_is_told_to_be_empty(text: str, tmp_path: Path) -> None:
    file = tmp_path / "schema.json"
    file.write_text(text)
    with pytest.raises(InputError) as caught:
        read_shape(str(file))
    reason = "there is nothing but white space" if text.isspace() else "it is empty"
    assert caught.value.message.startswith(f"{file}:1:1: not valid JSON: {reason}")


@pytest.mark.parametrize("kind", ["auto", "schema", "lark"])
@pytest.mark.parametrize("argument", ["", " "])
def test_no_shape_at_all_is_refused(argument: str, kind: Any) -> None:
    with pytest.raises(InputError, match="the shape is empty: give a file, '-' for "):
        read_shape(argument, kind)


@pytest.mark.parametrize("kind", ["auto", "schema", "regex", "lark", "gbnf", "ebnf"])
@pytest.mark.parametrize("name", ["é" * 300, "a" * 5_000])
def test_what_is_no_name_of_a_file_is_looked_for_in_none(name: str, kind: Any) -> None:
    schema = json.dumps({"const": name}, ensure_ascii=False)
    for argument in (name, f"/{name}/", f'start: "{name}"', schema, f"{name}:{name}"):
        with suppress(InputError):
            assert read_shape(argument, kind)


def test_the_empty_pattern_is_one() -> None:
    assert read_shape("", "regex") == RegexArgument("")


def test_a_file_that_is_not_utf8(tmp_path: Path) -> None:
    file = tmp_path / "schema.json"
    file.write_bytes(b'{"const": "\xff"}')
    with pytest.raises(InputError, match=r"schema\.json: not UTF-8 \(byte 11\)"):
        read_shape(str(file))


@pytest.mark.parametrize("name", ["schema.json", "pattern.regex"])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_a_file_in_utf16_is_told_to_be_one(encoding: str, name: str, tmp_path: Path) -> None:
    # As Windows' editors and shells write it, with its mark.
    file = tmp_path / name
    file.write_bytes("\ufefftrue".encode(encoding))
    with pytest.raises(InputError, match="not UTF-8 but UTF-16, by its first bytes; save it as"):
        read_shape(str(file))


GBNF = 'root ::= "a"'
LARK = 'start: "a"'
SHAPES: list[tuple[str, Any, Shape]] = [
    # an argument, its kind, and what it is taken for; {…} is a file of that name
    (GBNF, "auto", GrammarArgument(GBNF, "auto")),
    (LARK, "auto", GrammarArgument(LARK, "auto")),
    (f"\n{LARK}", "auto", GrammarArgument(f"\n{LARK}", "auto")),
    (LARK, "lark", GrammarArgument(LARK, "lark")),
    ("{x.gbnf}", "auto", GrammarArgument(GBNF, "gbnf")),
    ("{x.gbnf}", "ebnf", GrammarArgument(GBNF, "ebnf")),  # the kind comes before the name
    ("{x.lark}", "auto", GrammarArgument(LARK, "lark")),
    ("{x.json}", "auto", SchemaArgument({"a": 1})),
    ("{x.json}", "schema", SchemaArgument({"a": 1})),
    ('{"a": 1}', "auto", SchemaArgument({"a": 1})),
    (' {"a": 1}', "schema", SchemaArgument({"a": 1})),
    ("true", "auto", SchemaArgument(True)),
    (" false ", "auto", SchemaArgument(False)),
    ("a:b", "regex", RegexArgument("a:b")),
    ('{"a": 1}', "regex", RegexArgument('{"a": 1}')),
    ("{x.gbnf}", "regex", RegexArgument("{x.gbnf}")),  # only *.regex is a file
    ("/a:[0-9]+/", "auto", RegexArgument("a:[0-9]+")),
    ("/a/", "regex", RegexArgument("a")),
    ("{x.regex}", "auto", RegexArgument("a{2}")),  # the line break isn't part of it
    ("{x.regex}", "regex", RegexArgument("a{2}")),
    ("{x.txt}", "auto", GrammarArgument(LARK, "auto")),  # by its text
    ("{y.txt}", "auto", SchemaArgument({"b": 2})),
    ("{z.txt}", "auto", RegexArgument("c+")),
    ("/a:[0-9]+/", "auto", RegexArgument("a:[0-9]+")),
    ("/a/", "regex", RegexArgument("a")),
    ("{x.regex}", "auto", RegexArgument("a{2}")),  # the line break isn't part of it
    ("{x.regex}", "regex", RegexArgument("a{2}")),
    ("{x.txt}", "auto", GrammarArgument(LARK, "auto")),  # by its text
    ("{y.txt}", "auto", SchemaArgument({"b": 2})),
    ("{z.txt}", "auto", RegexArgument("c+")),
    ("{x.yaml}", "auto", SchemaArgument({"type": "object", "properties": {"no": {"const": 1}}})),
    ("{x.yaml}", "schema", SchemaArgument({"type": "object", "properties": {"no": {"const": 1}}})),
    ("{x.yml}", "auto", GrammarArgument(f"{LARK}\n", "auto")),
    ("{y.yml}", "auto", GrammarArgument(f"{GBNF}\n", "gbnf")),
    ("{z.yml}", "auto", RegexArgument("[0-9]+")),
    ("{w.yml}", "auto", SchemaArgument({"type": "string", "pattern": "a"})),
    ("{w.txt}", "auto", SchemaArgument({"type": "string", "pattern": "a"})),  # by its text
    ("type: string\npattern: a\n", "auto", SchemaArgument({"type": "string", "pattern": "a"})),
    ("openapi: 3.1.0\npaths: {}\n", "auto", SchemaArgument({"openapi": "3.1.0", "paths": {}})),
    (
        "start: type\ntype: string\nstring: STRING",
        "auto",
        GrammarArgument("start: type\ntype: string\nstring: STRING", "auto"),
    ),
]


@pytest.mark.parametrize(("argument", "kind", "expected"), SHAPES, ids=str)
def test_what_an_argument_is_taken_for(
    argument: str, kind: Any, expected: Shape, tmp_path: Path
) -> None:
    texts = {
        "x.gbnf": GBNF,
        "x.lark": LARK,
        "x.json": '{"a": 1}',
        "x.regex": "a{2}\n",
        "x.txt": LARK,
        "y.txt": '{"b": 2}',
        "z.txt": "/c+/\n",
        "x.yaml": "type: object\nproperties:\n  no: {const: 1}\n",
        "x.yml": f"grammar: |\n  {LARK}\n",
        "y.yml": f"gbnf: |\n  {GBNF}\n",
        "z.yml": "name: digits\nregex: '/[0-9]+/'\n",
        "w.yml": "type: string\npattern: a\n",
        "w.txt": "# a schema\ntype: string\npattern: a\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    if (argument, kind) != ("{x.gbnf}", "regex") and argument[1:-1] in texts:
        argument = str(tmp_path / argument[1:-1])
    assert read_shape(argument, kind) == expected


@pytest.mark.parametrize(
    ("argument", "dialect"),
    [
        ("a.lark", "lark"),
        ("b/a.gbnf", "gbnf"),
        ("a.ebnf", "ebnf"),
        ("a.json", None),
        ("lark", None),
        ("invoice", None),  # a schema that ships
        ("x" * 400 + ".lark", "lark"),
    ],
)
def test_the_dialect_that_a_name_says(argument: str, dialect: str | None) -> None:
    assert dialect_of(argument) == dialect


@pytest.mark.parametrize(
    ("shape", "accepted", "rejected"),
    [
        (SchemaArgument({"type": "integer"}), "12", '"a"'),
        (GrammarArgument(LARK, "auto"), "a", "b"),
        (GrammarArgument("x ::= 'b'", "ebnf"), "b", "a"),
        (RegexArgument("a+"), "aa", "b"),
    ],
)
def test_shapes_are_compiled(shape: Shape, accepted: str, rejected: str) -> None:
    grammar = compile_shape(shape, EVERY_BYTE)
    assert matches(grammar, accepted)
    assert not matches(grammar, rejected)


def test_options_are_those_of_schemas() -> None:
    shape = SchemaArgument({"type": "array"})
    assert matches(compile_shape(shape, EVERY_BYTE), "[1, 2]")
    assert not matches(compile_shape(shape, EVERY_BYTE, whitespace="compact"), "[1, 2]")


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ('{"a": 1}', "auto", SchemaArgument({"a": 1})),
        (LARK, "auto", GrammarArgument(LARK, "auto")),
        (GBNF, "ebnf", GrammarArgument(GBNF, "ebnf")),
        ("/a+/\n", "auto", RegexArgument("a+")),
        ("a+\n", "regex", RegexArgument("a+")),
    ],
)
def test_a_shape_on_standard_input(
    text: str, kind: Any, expected: Shape, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    found = read_shape("-", kind)
    assert found == expected
    assert found.name == "-"
