from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Run


def test_random_texts_depend_on_the_seed(run: Run) -> None:
    first = run("sample", "semver", "-n", "4", "--seed", "3")
    assert (first.returncode, first.stderr) == (0, "")
    assert first.stdout.count("\n") == 4
    assert run("sample", "semver", "-n", "4", "--seed", "3").stdout == first.stdout
    assert run("sample", "semver", "-n", "4").stdout != first.stdout
    texts = [part for text in first.stdout.split() for part in ("--text", text)]
    assert run("match", "semver", *texts).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("/red|green|blue/", "--which", "shortest"), "red"),
        (("/red|green|blue/", "--which", "longest"), "green"),
        (("/a+/", "--which", "longest", "--limit", "7"), "aaaaaaa"),
        (
            ('{"const": {"a": [true, "b"]}}', "-n", "1", "--whitespace", "compact"),
            '{"a":[true,"b"]}',
        ),
    ],
)
def test_certain_texts(run: Run, arguments: tuple[str, ...], text: str) -> None:
    assert run("sample", *arguments) == (0, f"{text}\n", "")
    assert json.loads(run("sample", *arguments, "--json").stdout) == {"texts": [text]}


def test_a_limit_that_no_text_keeps(run: Run) -> None:
    found = run("sample", "/abc/", "--limit", "2")
    assert (found.returncode, found.stdout) == (2, "")
    assert "no text is as short as 2 bytes; the shortest has 3" in found.stderr


def test_every_alternative_of_a_grammar(run: Run) -> None:
    found = run("sample", 'start: "a" | "b" x\nx: "c"? "d"', "--cover")
    assert found == (0, "a\nbd\nbcd\n", "4 of 4 alternatives\n")


def test_every_part_of_a_schema(run: Run) -> None:
    schema = '{"anyOf": [{"enum": ["x", null]}, {"type": "boolean"}]}'
    found = run("sample", schema, "--cover", "--json")
    told = json.loads(found.stdout)
    assert (found.returncode, told["missing"], told["alternatives"]) == (0, [], 5)
    assert {row["text"] for row in told["texts"]} <= {'"x"', "null", "true", "false"}
    found = run("sample", '{"anyOf": [{"type": "null"}, {"const": 1, "maximum": 0}]}', "--cover")
    assert found.returncode == 1
    assert found.stderr.endswith("2 of 3 alternatives\nnot used: /anyOf/1\n")


def test_a_pattern_has_no_alternatives(run: Run) -> None:
    assert run("sample", "/a|b/", "--cover").returncode == 2
