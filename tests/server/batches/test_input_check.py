from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from maskwright.server.batches import batch_worker
from maskwright.server.batches.batch_worker import input_errors, requests_of

CHAT = "/v1/chat/completions"


def line(name: str, **fields: Any) -> str:
    return json.dumps({"custom_id": name, "method": "POST", "url": CHAT, "body": {}, **fields})


def test_a_good_input(tmp_path: Path) -> None:
    path = tmp_path / "in"
    path.write_text(f"{line('a')}\n\n{line('b')}")
    assert input_errors(path, CHAT, 1000) == (2, [])
    assert [request.custom_id for request in requests_of(path)] == ["a", "b"]


@pytest.mark.parametrize("before", ["", "\n", " \r\n"])
def test_a_byte_order_mark_is_no_part_of_an_input(tmp_path: Path, before: str) -> None:
    path = tmp_path / "in"
    path.write_text(before + line("a"), encoding="utf-8-sig")
    assert input_errors(path, CHAT, 1000) == (1, [])
    assert [request.custom_id for request in requests_of(path)] == ["a"]


def test_every_fault_has_its_line(tmp_path: Path) -> None:
    path = tmp_path / "in"
    lines = [
        line("a"),
        "{",
        "",
        line("a"),
        line("b", url="/v1/completions"),
        line("c", body={"x": "y" * 1000}),
        line("d", method="GET"),
    ]
    path.write_text("\n".join(lines))
    count, errors = input_errors(path, CHAT, 1000)
    assert count == 6
    assert [(error["line"], error["code"], error["param"]) for error in errors] == [
        (2, "invalid_json_line", None),
        (4, "duplicate_custom_id", "custom_id"),
        (5, "mismatched_endpoint", "url"),
        (6, "line_too_large", None),
        (7, "invalid_batch_line", "method"),
    ]


def test_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "in"
    path.write_text(" \n")
    assert [error["code"] for error in input_errors(path, CHAT, 10)[1]] == ["empty_file"]
    monkeypatch.setattr(batch_worker, "MOST_REQUESTS", 2)
    path.write_text("\n".join(map(line, "abc")))
    assert [error["code"] for error in input_errors(path, CHAT, 1000)[1]] == ["too_many_requests"]
    path.write_text("{\n" * 1000)
    monkeypatch.setattr(batch_worker, "MOST_REQUESTS", 2000)
    assert len(input_errors(path, CHAT, 1000)[1]) == batch_worker.MOST_ERRORS
