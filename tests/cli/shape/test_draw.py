"""`maskwright draw`."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli.conftest import Run


@pytest.mark.parametrize(
    ("shape", "shown"),
    [
        ('start: "a" NUMBER\nNUMBER: /[0-9]+/', "NUMBER"),
        ('root ::= "a" b\nb ::= [x-z]', "[x-z]"),
        ("a ::= 'x' - 'y'", "a"),
        ("/[a-z]+/", "[a-z]"),
        ('{"type": "integer", "minimum": 3}', "integer ≥ 3"),
        ("semver", "start"),
    ],
)
def test_every_kind_of_shape_is_drawn(run: Run, shape: str, shown: str) -> None:
    found = run("draw", shape)
    assert found.returncode == 0, found
    assert f">{shown}</text>" in found.stdout
    ElementTree.fromstring(found.stdout)


def test_a_file_is_written(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "it.svg"
    found = run("draw", "/ab*/", "--as", "graph", "-o", file)
    assert (found.returncode, found.stdout) == (0, "")
    assert "Automaton of /ab*/" in file.read_text()


def test_json_holds_the_picture(run: Run) -> None:
    found = json.loads(run("draw", "invoice", "--as", "graph", "--json").stdout)
    assert found["as"] == "graph"
    assert "#/$defs/money" in found["svg"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (('start: "a" b',), "the grammar:1:12: b is not defined"),
        (('root ::= "a',), "the grammar:1:"),
        (("/a(/",), "the pattern:1:2: a group is not closed\n  a(\n   ^"),
        (("/(a|b)*a(a|b){8}/", "--as", "graph"), "more than 200 states"),
        (("/a/", "-o", "/nowhere/it.svg"), "can't write /nowhere/it.svg"),
        (
            ("/a/", "-o", "it.PNG"),
            "it.PNG: pictures are written as SVG, not as PNG; name it it.svg",
        ),
    ],
)
def test_what_is_not_drawn(run: Run, arguments: tuple[str, ...], message: str) -> None:
    found = run("draw", *arguments)
    assert found.returncode == 2
    assert message in found.stderr
