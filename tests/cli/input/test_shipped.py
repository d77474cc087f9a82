"""Schemas and grammars that ship, by their names on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from maskwright.cli.input.shapes import GrammarArgument, RegexArgument, SchemaArgument, read_shape
from maskwright.errors import InputError
from maskwright.shipped import KINDS, ShippedKind, shipped
from tests.cli.conftest import Run
from tests.schemas.test_shipped import FORMATS, SCHEMAS

ROOT = Path(__file__).resolve().parents[3]
ASKED = "Petra Vogel in Bremen bought 3 desk lamps for 74.70 euros on 2026-03-14."


def test_the_names_are_those_of_the_files_and_each_stands_for_one_thing() -> None:
    schemas, grammars = (list(shipped(kind)) for kind in KINDS)
    lark = {path.stem for path in (ROOT / "grammars").glob("*.lark")}
    assert schemas == sorted(path.stem for path in (ROOT / "schemas").glob("*.json"))
    assert grammars == sorted(lark - {"common"})
    assert set(schemas).isdisjoint(grammars)


@pytest.mark.parametrize("kind", KINDS)
def test_each_is_listed_beside_the_files(kind: ShippedKind) -> None:
    listed = (ROOT / f"{kind}s" / "README.md").read_text()
    assert [name for name in shipped(kind) if f"| `{name}." not in listed] == []


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_by_its_name(name: str) -> None:
    assert read_shape(name) == read_shape(name, "schema") == SchemaArgument(SCHEMAS[name])


def test_a_grammar_by_its_name() -> None:
    text = (ROOT / "grammars" / "semver.lark").read_text()
    assert read_shape("semver") == read_shape("semver", "lark") == GrammarArgument(text, "lark")


def test_match_and_convert_take_names(run: Run) -> None:
    for name, text in (("sentiment", '{"label": "mixed", "score": 0}'), ("semver", "1.2.3")):
        assert run("match", name, "--brief", "-", stdin=text).returncode == 0
        assert run("match", name, "--brief", "-", stdin=f"{text} x").returncode == 1
    found = run("convert", "semver", "--to", "gbnf")
    assert found.returncode == 0, found.stderr
    assert (
        run("match", "--brief", "--kind", "gbnf", found.stdout, "-", stdin="1.2.3").returncode == 0
    )


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_demo_model_writes_an_instance(name: str, run: Run) -> None:
    found = run("generate", name, "--prompt", ASKED, "--max-tokens", "250")
    assert found.returncode == 0, found.stderr
    value = json.loads(found.stdout)
    validator = Draft202012Validator(SCHEMAS[name], format_checker=FORMATS)
    assert list(validator.iter_errors(value)) == []


def test_the_demo_model_writes_by_a_grammar(run: Run) -> None:
    found = run("generate", "semver", "--prompt", "Version 1.2.3 is out.", "--max-tokens", "20")
    assert found.returncode == 0, found.stderr
    assert run("match", "semver", "--brief", "-", stdin=found.stdout).returncode == 0


def test_a_file_of_that_name_comes_first(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("json").mkdir()
    assert run("match", "json", "--brief", "-", stdin="[1]").returncode == 0, "a folder is no file"
    Path("sentiment").write_text('{"type": "integer"}')
    assert run("match", "sentiment", "--brief", "-", stdin="12").returncode == 0
    Path("semver").write_text('start: "v" /[0-9]+/')
    assert run("match", "--brief", "--kind", "lark", "semver", "-", stdin="v1").returncode == 0


MATCH_SCHEMA, MATCH_GBNF = ("match", "--kind", "schema"), ("match", "--kind", "gbnf")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("match", "sentimant", "-"), "Did you mean sentiment?"),
        (("match", "Invoice", "-"), "Did you mean invoice?"),
        (("match", "resume.json", "-"), "Did you mean resume?"),
        (("match", "jsn", "-"), "Did you mean json?"),
        (("match", "xyzzy", "-"), "There are the schemas address, bounding_boxes, contact, "),
        (("match", "xyzzy", "-"), "; grammars arithmetic, chess-moves, cron, "),
        ((*MATCH_SCHEMA, "json", "-"), "the grammar json ships, but a schema is needed here"),
        ((*MATCH_GBNF, "json", "-"), "the grammar json ships, but it is written in Lark"),
        (("convert", "semvr", "--to", "ebnf"), "Did you mean semver?"),
        (("convert", "invoce", "--to", "ebnf"), "Did you mean invoice?"),
    ],
)
def test_an_unknown_name_is_refused_with_names_that_are_near(
    run: Run, arguments: tuple[str, ...], said: str
) -> None:
    found = run(*arguments, stdin="")
    assert (found.returncode, found.stdout) == (2, "")
    assert "No such file" in found.stderr
    assert said in found.stderr


def test_a_path_that_is_no_name_gets_no_list() -> None:
    with pytest.raises(InputError) as refused:
        read_shape("folder/xyzzy.json")
    assert str(refused.value) == "folder/xyzzy.json: No such file or directory"


MEANT = [
    # an argument and its kind, and what is said of it beside some files
    ("order", "auto", "did you mean the file ./order.json?"),
    ("order", "schema", "did you mean the file ./order.json?"),
    ("order.jsn", "auto", "did you mean the file ./order.json?"),
    ("ordr.json", "auto", "did you mean the file ./order.json?"),
    ("dates", "auto", "did you mean the file ./dates.lark?"),
    ("both", "auto", "did you mean the file ./both.gbnf?"),  # the first of two
    ("notes", "auto", None),  # notes.txt is likely no shape
    ("orders-of-2026.json", "auto", None),
    ("none/order", "auto", None),
]


@pytest.mark.parametrize(("argument", "kind", "hint"), MEANT, ids=str)
@pytest.mark.parametrize("inside", [True, False], ids=["inside", "outside"])
def test_a_file_with_a_name_like_it_is_named(
    argument: str,
    kind: Any,
    hint: str | None,
    inside: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("order.json", "dates.lark", "both.gbnf", "both.json", "notes.txt"):
        (tmp_path / name).write_text("{}")
    monkeypatch.chdir(tmp_path if inside else Path(__file__).parent)
    folder = "" if inside else f"{tmp_path}/"
    with pytest.raises(InputError, match="No such file or directory") as refused:
        read_shape(f"{folder}{argument}", kind)
    if hint is None:
        assert "the file" not in str(refused.value)
    else:
        assert str(refused.value).endswith(f"directory; {hint.replace('./', folder)}")


@pytest.mark.parametrize("pattern", ["[0-9]{3}", "(a|b)", "a+", r"\d", "^a$", "a.?"])
def test_a_pattern_without_slashes_is_known(pattern: str) -> None:
    way_out = f"; a pattern stands between slashes ('/{pattern}/'), or after --kind regex"
    with pytest.raises(InputError) as refused:
        read_shape(pattern)
    assert str(refused.value) == f"{pattern}: No such file or directory{way_out}"
    assert read_shape(f"/{pattern}/") == read_shape(pattern, "regex") == RegexArgument(pattern)
    for kind in ("schema", "lark", "gbnf"):
        with pytest.raises(InputError) as refused:
            read_shape(pattern, kind)
        assert "slashes" not in str(refused.value)


def test_common_terminals_are_no_grammar(run: Run) -> None:
    assert run("match", "common", "--brief", "-", stdin="").returncode == 2
