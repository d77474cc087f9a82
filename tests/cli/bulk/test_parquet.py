from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from maskwright.cli.bulk.sources import read_parquet, table_rows, write_parquet
from maskwright.errors import InputError
from tests.cli.bulk.fake_server import FakeServer, fake_server
from tests.cli.conftest import Run


def test_without_pyarrow_it_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, run: Run
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "in.jsonl").write_text('{"text": "record 1"}\n')
    found = run("batch", tmp_path / "in.jsonl", tmp_path / "out.parquet", "--url", "http://x")
    assert found.returncode == 2
    assert "pip install 'maskwright[parquet]'" in found.stderr


def test_rows_of_results(tmp_path: Path) -> None:
    lines: list[Any] = [
        {"index": 1, "id": "b", "output": {"n": 2, "id": 3}, "usage": {}, "digest": "x"},
        {"index": 0, "id": "a", "output": [1]},
    ]
    path = tmp_path / "r.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert table_rows(path) == [
        {"index": 0, "id": "a", "output": [1]},
        {"index": 1, "id": "b", "n": 2, "output.id": 3},
    ]


def test_tables_are_written_and_read(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    path = tmp_path / "t.parquet"
    rows: list[dict[str, object]] = [
        {"a": 1, "b": "x", "c": {"d": [1.5]}, "mixed": 1},
        {"a": 2, "b": None, "c": None, "mixed": "text"},
    ]
    write_parquet(path, rows)
    found = list(read_parquet(path))
    assert [row["a"] for row in found] == [1, 2]
    assert found[0]["c"] == {"d": [1.5]}
    assert [row["mixed"] for row in found] == ["1", '"text"']
    assert [each.name for each in tmp_path.iterdir()] == ["t.parquet"]
    path.write_text("no table")
    with pytest.raises(InputError, match=r"t\.parquet"):
        list(read_parquet(path))


def test_from_table_to_table(tmp_path: Path, run: Run) -> None:
    pytest.importorskip("pyarrow")
    source, out = tmp_path / "in.parquet", tmp_path / "out.parquet"
    write_parquet(source, [{"id": f"r{n}", "text": f"record {n}"} for n in range(30)])
    with fake_server(FakeServer()) as fake:
        found = run("batch", source, out, "--url", fake.url, "--schema", '{"type": "object"}')
    assert found.returncode == 0, found.stderr
    assert list(read_parquet(out)) == [{"index": n, "id": f"r{n}", "number": n} for n in range(30)]
