from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli.conftest import Run

CASES = """\
- shape: number.gbnf
  accept: ["1", "23"]
  reject:
    a letter: x
  prefix: [""]
- name: person
  shape: {type: object, required: [name], properties: {name: {type: string}}}
  accept:
    - {name: Ann}
    - |
      {
        "name": "Bob"
      }
  reject: [{name: 1}, "{"]
  prefix: ['{"na']
"""


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    (tmp_path / "number.gbnf").write_text("root ::= [0-9]+")
    file = tmp_path / "cases.yaml"
    file.write_text(CASES)
    return file


def test_all_as_expected(run: Run, cases: Path) -> None:
    assert run("test", cases) == (0, "9 of 9 cases as expected\n", "")


def test_failures_are_printed_and_reported(run: Run, cases: Path, tmp_path: Path) -> None:
    cases.write_text(CASES.replace('"23"', '"2x"').replace("{name: 1}", "{name: Eve}"))
    report = tmp_path / "report.xml"
    found = run("test", cases, "--junit", report)
    assert found.returncode == 1
    assert found.stdout == (
        "FAILED number.gbnf: accept '2x': it doesn't match at line 1, column 2\n"
        'FAILED person: reject \'{"name": "Eve"}\': it matches\n'
        "7 of 9 cases as expected\n"
    )
    suite = ElementTree.parse(report).getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("9", "2")
    answer = json.loads(run("test", cases, "--json").stdout)
    assert answer["failed"] == 2
    assert [case["passed"] for case in answer["cases"]].count(False) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "cases.yaml:2:1: "),
        ("shape: 3", "cases.yaml[0]: 'shape' is"),
        ("shape: nowhere.lark\naccept: [a]", "nowhere.lark: No such file"),
        ("shape: 'true'\naccept: [a]\nkind: no", "kind is one of auto, schema"),
    ],
)
def test_what_cannot_be_used(run: Run, cases: Path, text: str, message: str) -> None:
    cases.write_text(text)
    found = run("test", cases)
    assert (found.returncode, found.stdout) == (2, "")
    assert message in found.stderr
    assert "Traceback" not in found.stderr


def test_the_cases_run_again_when_a_file_changes(cases: Path) -> None:
    command = [sys.executable, "-m", "maskwright", "test", "--watch", str(cases)]
    program = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert program.stdout is not None
        assert program.stdout.readline() == "9 of 9 cases as expected\n"
        time.sleep(0.05)  # so that the file's time differs
        (cases.parent / "number.gbnf").write_text("root ::= [0-1]+")
        assert program.stdout.readline() == "\n"
        assert program.stdout.readline().startswith("FAILED number.gbnf: accept '23'")
    finally:
        program.terminate()
        program.communicate()
