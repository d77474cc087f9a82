"""`maskwright convert`, and grammars and patterns where `check` and `generate` take a shape."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run

LARK = 'start: "a" NUMBER\nNUMBER: /[0-9]+/\n%ignore " "\n'


def test_a_grammar_is_converted(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "x.lark"
    file.write_text(LARK)
    found = run("convert", file, "--to", "gbnf")
    assert found.returncode == 0, found
    assert "root ::= " in found.stdout
    assert "ignored ::= " in found.stdout
    other = tmp_path / "x.gbnf"
    other.write_text(found.stdout)
    assert run("match", other, "--brief", "-", stdin="a 12").returncode == 0
    assert run("match", other, "--brief", "-", stdin="a b").returncode == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (('start: "a" %json {}', "--to", "gbnf"), "gbnf has no JSON values"),
        (("start: /a", "--to", "gbnf"), "the grammar:1:8: "),
        (("start: /a/", "--to", "peg"), "--to is one of lark, gbnf, ebnf"),
        (("start: /a/", "--to", "gbnf", "--dialect", "x"), "--dialect is one of"),
        (("nothing.lark", "--to", "gbnf"), "nothing.lark: No such file"),
    ],
)
def test_what_is_not_converted(run: Run, arguments: tuple[str, ...], message: str) -> None:
    found = run("convert", *arguments)
    assert found.returncode == 2
    assert message in found.stderr


@pytest.mark.parametrize(
    ("arguments", "text", "code", "said"),
    [
        ((LARK,), "a 1", 0, "matches"),
        ((LARK,), "a 1\n", 0, "matches"),
        ((LARK,), "a\n1\n", 1, "-:1:2:"),
        ((LARK,), "a ", 3, "ends too early"),
        (("--kind", "regex", "[a-z]+:"), "ab:", 0, "matches"),
        (("--kind", "regex", "[a-z]+:"), "ab;", 1, "-:1:3:"),
        (("--kind", "gbnf", 'root ::= "x"'), "x", 0, "matches"),
        (("root ::= [a-c]",), "d", 1, "a-c"),
    ],
)
def test_texts_are_checked(
    run: Run, arguments: tuple[str, ...], text: str, code: int, said: str
) -> None:
    found = run("match", *arguments, "--brief", "-", stdin=text)
    assert found.returncode == code, found
    assert said in found.stdout


def test_a_fault_in_a_grammar_is_shown(run: Run) -> None:
    found = run("match", "start: wrong", "--brief", "-", stdin="")
    assert found.returncode == 2
    assert "the grammar:1:8: wrong is not defined\n  start: wrong\n         ^" in found.stderr


def test_an_answer_in_the_shape_of_a_grammar(run: Run) -> None:
    found = run("generate", 'start: "yes" | "no"', "--prompt", "Is 2 even?")
    assert found.returncode == 0, found
    assert found.stdout in ("yes\n", "no\n")


@pytest.mark.parametrize("dialect", ["gbnf", "lark", "ebnf"])
@pytest.mark.parametrize(
    ("shape", "text"),
    [
        ('{"type": "array", "items": {"type": "integer"}}', "[1, 23]"),
        ("/v[0-9]+/", "v12"),
        ('root ::= "x" [a-c]', "xb"),
    ],
)
def test_every_kind_is_converted_to_every_dialect(
    run: Run, tmp_path: Path, shape: str, text: str, dialect: str
) -> None:
    file = tmp_path / f"it.{dialect}"
    file.write_text(run("convert", shape, "--to", dialect).stdout)
    assert run("match", file, "--text", text).returncode == 0
    assert run("match", file, "--text", f"{text}!").returncode == 1


UNIQUE = '{"type": "array", "items": {"type": "null"}, "uniqueItems": true}'


def test_what_a_grammar_leaves_open_is_a_comment(run: Run) -> None:
    refused = run("convert", UNIQUE, "--to", "gbnf")
    assert refused.returncode == 2
    assert "at /uniqueItems" in refused.stderr
    found = run("convert", UNIQUE, "--to", "gbnf", "--approximate")
    assert found.returncode == 0
    assert found.stdout.startswith("# /uniqueItems: a grammar can't say")
    answer = json.loads(run("convert", UNIQUE, "--to", "lark", "--approximate", "--json").stdout)
    assert [loss["pointer"] for loss in answer["left_open"]] == ["/uniqueItems"]
    assert answer["grammar"].startswith("start:")


def test_further_members_behind_a_required_one_are_not_dropped(run: Run) -> None:
    schema = '{"type": "object", "properties": {"name": {"type": "null"}}, "required": ["name"]}'
    refused = run("convert", schema, "--to", "gbnf")
    assert refused.returncode == 2
    assert "the names of other members differ" in refused.stderr
    open_text, text = '{"name": null, "x": 1}', '{"name": null}'
    for option, allows_more in (("--approximate", True), ("--closed", False)):
        grammar = run("convert", schema, "--to", "gbnf", option).stdout
        assert run("match", grammar, "--text", text).returncode == 0
        assert run("match", grammar, "--text", open_text).returncode == (0 if allows_more else 1)
