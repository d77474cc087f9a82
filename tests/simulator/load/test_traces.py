"""Traces of both public formats become requests."""

from __future__ import annotations

from pathlib import Path

import pytest

from maskwright.errors import InputError
from maskwright_sim.load.traces import read_trace


def test_azure(tmp_path: Path) -> None:
    file = tmp_path / "code.csv"
    file.write_text(
        "TIMESTAMP,ContextTokens,GeneratedTokens\n"
        "2023-11-16 18:15:46.6805900,374,44\n"
        "2023-11-16 18:15:50.9951690,396,109\n"
    )
    first, second = read_trace(file)
    assert (first.time, len(first.prompt), first.output) == (0.0, 374, 44)
    assert second.time == pytest.approx(4.314579)
    assert read_trace(file, speed=2.0)[1].time == pytest.approx(4.314579 / 2)
    assert len(read_trace(file, most=1)) == 1


def test_azure_with_a_time_zone(tmp_path: Path) -> None:
    """As in the traces of 2024."""
    file = tmp_path / "week.csv"
    file.write_text(
        "TIMESTAMP,ContextTokens,GeneratedTokens\n"
        "2024-05-10 00:00:00.009930+00:00,2162,5\n"
        "2024-05-10 00:00:01.017335+00:00,2399,6\n"
    )
    first, second = read_trace(file)
    assert (first.time, len(first.prompt), first.output) == (0.0, 2162, 5)
    assert second.time == pytest.approx(1.007405)


def test_mooncake(tmp_path: Path) -> None:
    file = tmp_path / "conversation.jsonl"
    file.write_text(
        '{"timestamp": 1000, "input_length": 1100, "output_length": 5, "hash_ids": [1, 2, 3]}\n'
        '{"timestamp": 4000, "input_length": 1030, "output_length": 7, "hash_ids": [1, 2, 9]}\n'
    )
    first, second = read_trace(file)
    assert (first.time, second.time) == (0.0, 3.0)
    assert (len(first.prompt), len(second.prompt)) == (1100, 1030)
    assert first.prompt[:1024] == second.prompt[:1024]
    assert first.prompt[1024] != second.prompt[1024]


@pytest.mark.parametrize("content", ["", "a,b\n1,2\n", '{"timestamp": 1}\n', "[]\n"])
@pytest.mark.parametrize("name", ["x.csv", "x.jsonl"])
def test_what_is_no_trace_is_refused(tmp_path: Path, name: str, content: str) -> None:
    file = tmp_path / name
    file.write_text(content)
    with pytest.raises(InputError, match="no trace"):
        read_trace(file)
    with pytest.raises(InputError, match="can't read"):
        read_trace(tmp_path / "missing.csv")


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("TIMESTAMP,ContextTokens\n2023-11-16 18:15:46.6805900,374\n")
    with pytest.raises(InputError, match="a request has no 'GeneratedTokens'"):
        read_trace(file)
    with pytest.raises(InputError, match=r"a \.csv file \(Azure's\) or a \.jsonl file"):
        read_trace(tmp_path / "t.json")
