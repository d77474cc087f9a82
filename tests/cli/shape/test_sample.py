from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from maskwright.cli.program import PIPE_CLOSED
from tests.bounds import PATIENCE
from tests.cli.conftest import Run


def test_random_texts_depend_on_the_seed(run: Run) -> None:
    first = run("sample", "semver", "-n", "4", "--seed", "3")
    assert (first.returncode, first.stderr) == (0, "seed 3; --seed gives other texts\n")
    assert first.stdout.count("\n") == 4
    assert run("sample", "semver", "-n", "4", "--seed", "3").stdout == first.stdout
    default = run("sample", "semver", "-n", "4")
    assert default.stdout != first.stdout
    assert default.stderr == "seed 0; --seed gives other texts\n"
    assert default.stdout == run("sample", "semver", "-n", "4", "--seed", "0").stdout
    answer = json.loads(run("sample", "semver", "-n", "4", "--json").stdout)
    assert answer == {"texts": default.stdout.splitlines(), "seed": 0}
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
    depends = "shortest" not in arguments
    remark = "seed 0; --seed gives other texts\n" if depends else ""
    assert run("sample", *arguments) == (0, f"{text}\n", remark)
    found = json.loads(run("sample", *arguments, "--json").stdout)
    assert found == {"texts": [text], "seed": 0} if depends else {"texts": [text]}


def test_each_text_is_written_as_soon_as_it_is_found() -> None:
    """Whoever reads the first of very many doesn't wait for the others."""
    command = [sys.executable, "-m", "maskwright", "sample", "semver", "-n", "1000000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        assert program.stdout is not None
        lines = [program.stdout.readline() for _ in range(3)]
        program.stdout.close()
        assert program.wait(PATIENCE) == PIPE_CLOSED
        assert program.stderr is not None
        assert program.stderr.read() == b""
    assert all(line.endswith(b"\n") for line in lines)


@pytest.mark.parametrize("options", [(), ("--json",), ("--cover",)])
def test_texts_of_a_schema_have_no_needless_escapes(run: Run, options: tuple[str, ...]) -> None:
    """However freely JSON lets characters be escaped."""
    shape = json.dumps(
        {"type": "array", "items": {"type": "string", "pattern": '^[-/é"\\\\\\n]+$'}, "minItems": 3}
    )
    found = run("sample", shape, "-n", "40", *options)
    texts = (
        json.loads(found.stdout)["texts"] if options == ("--json",) else found.stdout.split("\n")
    )
    texts = [text for text in texts if text]
    escapes = {escape for text in texts for escape in re.findall(r"\\.", text)}
    assert escapes <= {"\\n", "\\\\", '\\"'}
    if not options:
        assert len(escapes) == 3
        given = [part for text in texts for part in ("--text", text)]
        assert run("match", shape, *given).returncode == 0


def test_a_rule_that_begins_with_itself_recurs(run: Run) -> None:
    """However ambiguous it is."""
    grammar = 'start: expr\nexpr: expr "+" expr | NUMBER\nNUMBER: /[0-9]+/'
    found = run("sample", grammar, "-n", "60").stdout.split()
    counts = Counter(text.count("+") for text in found)
    assert counts[0] >= 10
    assert sum(counts[count] for count in counts if count >= 2) >= 10


def test_what_cannot_be_written_is_said() -> None:
    """On a full disk; as the last thing, without what Python says of it."""
    command = [sys.executable, "-m", "maskwright"]
    for arguments in (["sample", "semver"], ["sample", "semver", "--json"], ["--help"]):
        with Path("/dev/full").open("w") as full:
            found = subprocess.run(
                [*command, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False
            )
        assert found.returncode == 2
        assert found.stderr.splitlines()[-1] == (
            "maskwright: what it prints can't be written: No space left on device"
        )
        assert "Traceback" not in found.stderr


def test_a_limit_that_no_text_keeps(run: Run) -> None:
    found = run("sample", "/abc/", "--limit", "2")
    assert (found.returncode, found.stdout) == (2, "")
    assert "no text is as short as 2 bytes; the shortest has 3" in found.stderr


def test_more_texts_than_a_machine_word_counts(run: Run) -> None:
    command = [sys.executable, "-m", "maskwright", "sample", "/a/", "-n", "9" * 20]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert [process.stdout.readline() for _ in range(3)] == ["a\n"] * 3
        process.stdout.close()
        assert process.wait(PATIENCE) == PIPE_CLOSED


def test_every_alternative_of_a_grammar(run: Run) -> None:
    found = run("sample", 'start: "a" | "b" x\nx: "c"? "d"', "--cover")
    assert found == (0, "a\nbd\nbcd\n", "4 of 4 alternatives\n")


def test_every_part_of_a_schema(run: Run) -> None:
    schema = '{"anyOf": [{"enum": ["x", null]}, {"type": "boolean"}]}'
    found = run("sample", schema, "--cover", "--json")
    answer = json.loads(found.stdout)
    assert (found.returncode, answer["missing"], answer["alternatives"]) == (0, [], 5)
    assert {row["text"] for row in answer["texts"]} <= {'"x"', "null", "true", "false"}
    found = run("sample", '{"anyOf": [{"type": "null"}, {"const": 1, "maximum": 0}]}', "--cover")
    assert found.returncode == 1
    assert found.stderr.endswith("2 of 3 alternatives\nnot used: /anyOf/1\n")


def test_the_limit_bounds_texts_that_cover(run: Run) -> None:
    schema = '{"enum": ["a", "bb", "ccc"]}'
    found = run("sample", schema, "--cover", "--limit", "4")
    assert (found.returncode, sorted(found.stdout.split())) == (1, ['"a"', '"bb"'])
    assert found.stderr.endswith("3 of 4 alternatives\nnot used: /enum/2\n")
    found = run("sample", schema, "--cover", "--limit", "2")
    assert (found.returncode, found.stdout) == (2, "")
    assert "no text is as short as 2 bytes; the shortest has 3" in found.stderr


def test_a_pattern_has_no_alternatives(run: Run) -> None:
    assert run("sample", "/a|b/", "--cover").returncode == 2
