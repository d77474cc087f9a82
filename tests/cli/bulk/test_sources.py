from __future__ import annotations

import json
from pathlib import Path

import pytest

from maskwright.cli.asking import SourceFormat
from maskwright.cli.bulk.sources import InputRecord, format_of, read_records
from maskwright.errors import InputError


def read(path: Path, asked: SourceFormat = "auto") -> list[InputRecord]:
    return list(read_records(path, format_of(path, asked)))


def test_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"a": 1}\r\n\n"text"\n[1]\n{"a":\n{"a": 2}')
    found = read(path)
    assert [record.fields for record in found] == [{"a": 1}, {"text": "text"}, {}, {}, {"a": 2}]
    assert [record.index for record in found] == [0, 1, 2, 3, 4]
    assert found[2].problem == "a record is a JSON object or a string"
    assert found[3].problem == "not valid JSON: it ends too early at column 6"
    assert [record.place for record in found] == ["line 1", "line 3", "line 4", "line 5", "line 6"]


@pytest.mark.parametrize("before", [b"", b"\n", b"\r\n \n\n"])
def test_a_bad_line_has_its_number_among_all_lines(tmp_path: Path, before: bytes) -> None:
    """As an editor counts them, lines without a record included."""
    path = tmp_path / "in.jsonl"
    path.write_bytes(before + b'{"a": 1}\n\n{"a": 2,}\n\xff\n')
    first = 1 + before.count(b"\n")
    found = [(record.index, record.place, record.problem) for record in read(path)]
    assert found == [
        (0, f"line {first}", None),
        (
            1,
            f"line {first + 2}",
            "not valid JSON: the comma before '}' is one too many at column 8",
        ),
        (2, f"line {first + 3}", "not valid JSON: it is not UTF-8 (byte 0)"),
    ]


def test_tables(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text('\ufeffa,b\n1,"x, ""y""\nz"\n2\n3,4,5\n6,7\n', encoding="utf-8")
    found = read(path)
    assert [record.fields for record in found] == [
        {"a": "1", "b": 'x, "y"\nz'},
        {},
        {},
        {"a": "6", "b": "7"},
    ]
    assert [(record.place, record.problem) for record in found] == [
        ("line 3", None),
        ("line 4", "it has 1 field, and the first row has 2"),
        ("line 5", "it has 3 fields, and the first row has 2"),
        ("line 6", None),
    ]
    (tmp_path / "in.tsv").write_text("a\tb\n1,2\t3\n")
    assert read(tmp_path / "in.tsv")[0].fields == {"a": "1,2", "b": "3"}


def test_a_table_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    for lines in (1, 3000):  # a file is decoded in pieces
        path.write_bytes(b"a\n" + b"abc\n" * lines + b"ab\xff\n" + b"abc\n" * lines)
        message = rf"in\.csv, line {lines + 2}: not UTF-8 \(byte 2 of the line\)"
        with pytest.raises(InputError, match=message):
            read(path)


def test_a_folder_of_texts(tmp_path: Path) -> None:
    for name, data in {
        "b.txt": b"\xef\xbb\xbfB",
        "a/x.md": "Ä".encode(),
        "c.txt": b"\xff",
        ".hidden": b"",
        ".git/x": b"",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    found = read(tmp_path)
    assert [record.fields for record in found] == [
        {"file": "a/x.md", "text": "Ä"},
        {"file": "b.txt", "text": "B"},
        {"file": "c.txt"},
    ]
    assert found[2].problem == "not UTF-8 (byte 0)"


def test_the_format_is_recognised_by_name_and_first_line(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text("\n" + json.dumps({"custom_id": "a", "url": "", "body": {}}) + "\n")
    assert format_of(path, "auto") == "openai"
    assert format_of(path, "jsonl") == "jsonl"
    path.write_text('{"text": "x"}\n')
    assert format_of(path, "auto") == "jsonl"
    (tmp_path / "in.data").write_text("")
    with pytest.raises(InputError, match="--input-format is needed"):
        format_of(tmp_path / "in.data", "auto")
    assert format_of(tmp_path / "in.data", "csv") == "csv"
    with pytest.raises(InputError, match="a folder"):
        format_of(tmp_path, "csv")
