"""The file of `route --workers`: what it says, and the message for each mistake."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from maskwright.cli.fleet.route_work import ListedWorker, read_workers
from maskwright.dist.front.wire import Address
from maskwright.dist.front.worker import WorkerTraits
from maskwright.errors import InputError
from tests.cli.conftest import Run

UNLIKE = """
[[workers]]
url = "http://10.0.0.1:8000"
name = "large"
model = "big"
weight = 4

[[workers]]
url = "http://10.0.0.2:8000/v1"
role = "prefill"

[[workers]]
url = "http://10.0.0.3:8000"
role = "decode"
"""


def test_what_the_file_says(tmp_path: Path) -> None:
    file = tmp_path / "workers.toml"
    file.write_text(UNLIKE)
    assert read_workers(str(file)) == [
        ListedWorker(Address("10.0.0.1", 8000), "both", WorkerTraits("large", "big", 4.0)),
        ListedWorker(Address("10.0.0.2", 8000), "prefill"),
        ListedWorker(Address("10.0.0.3", 8000), "decode"),
    ]


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("[]", "is no table of settings"),
        ("{}", "workers has to be a list of tables"),
        ("workers: []", "workers has to be a list of tables"),
        ("wrokers: []", "has no setting 'wrokers'; there are workers"),
        ("workers: [a]", "workers[0] has to be a table"),
        ("workers: [{url: a:1}, {}]", "workers[1] has no url"),
        ("workers: [{url: a:1, rank: 2}]", "workers[0] has no setting 'rank'; there are url, name"),
        ("workers: [{url: 1}]", "workers[0].url has to be a text"),
        ("workers: [{url: a:1, model: ''}]", "workers[0].model has to be a text"),
        ("workers: [{url: 'ftp://a'}]", "workers[0].url: ftp://a: an address such as"),
        ("workers: [{url: a:1, role: cook}]", "there is no"),
        ("workers: [{url: a:1, weight: 0}]", "workers[0].weight has to be a number above 0"),
        ("workers: [{url: a:1, weight: .nan}]", "workers[0].weight has to be a number above 0"),
        ("workers: [{url: a:1, weight: true}]", "workers[0].weight has to be a number above 0"),
        (
            "workers: [{url: a:1}, {url: b:1, name: w0}]",
            "workers[1] has the name 'w0' of",
        ),
        (
            "workers: [{url: a:1}, {url: 'a:1/v1'}]",
            "workers[1] has the url http://a:1 of",
        ),
    ],
)
def test_a_mistake_is_reported_with_its_place(tmp_path: Path, written: str, message: str) -> None:
    file = tmp_path / "workers.yaml"
    file.write_text(written)
    with pytest.raises(InputError, match=re.escape(message)):
        read_workers(str(file))


def test_the_command_tells_what_is_wrong(tmp_path: Path, run: Run) -> None:
    file = tmp_path / "workers.toml"
    file.write_text(UNLIKE)
    found = run("route", "--workers", file)
    assert found.returncode == 2
    assert "--handoff-key KEY" in found.stderr
    found = run("route", "--workers", file, "--worker", "http://127.0.0.1:1")
    assert "either in --workers FILE or as options" in found.stderr
    assert "either in --workers FILE" not in run("route", "--workers", tmp_path / "no.toml").stderr
    file.write_text(UNLIKE.replace('role = "decode"', ""))
    found = run("route", "--workers", file, "--handoff-key", "k")
    assert "--prefill and --decode need each other" in found.stderr
