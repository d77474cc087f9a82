"""Traces as they are read from a file that a server may still write."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from maskwright.cli.observe.trace_file import read_traces
from maskwright.errors import InputError
from tests.cli.observe.synthetic import trace, write


def test_a_last_line_that_is_being_written_is_left_out(tmp_path: Path) -> None:
    file = write(tmp_path / "t.jsonl", [trace(1, 0.0), trace(2, 1.0)])
    assert len(read_traces(str(file))) == 2
    with file.open("a") as more:
        more.write(json.dumps(trace(3, 2.0))[:50])
    assert [one["request_id"] for one in read_traces(str(file))] == ["req_1", "req_2"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("nothing", "t.jsonl:2: not JSON"),
        ("[1]", "t.jsonl:2: not a JSON object"),
        ('{"request_id": "a"}', "t.jsonl:2: no trace of a request: received is missing"),
    ],
)
def test_what_is_no_trace_is_reported_with_its_line(
    tmp_path: Path, line: str, message: str
) -> None:
    file = write(tmp_path / "t.jsonl", [trace(1, 0.0)])
    file.write_text(file.read_text() + line + "\n")
    with pytest.raises(InputError, match=message):
        read_traces(str(file))
