"""Lines of the log, for people and for machines."""

from __future__ import annotations

import json
import logging
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from maskwright.cli.process.logs import JsonLines, TextLines, set_up_logs
from maskwright.server.exchange import CURRENT, Exchange

CREATED = 1_700_000_000.0456
MOMENT = "2023-11-14T22:13:20.045Z"


def record(message: str, *values: object, level: int = logging.INFO, **more: Any) -> Any:
    made = logging.LogRecord("maskwright.x", level, __file__, 1, message, values, None)
    made.created, made.msecs = CREATED, 45.6
    for name, value in more.items():
        setattr(made, name, value)
    return made


@contextmanager
def answering(request_id: str) -> Iterator[None]:
    token = CURRENT.set(Exchange(request_id))
    try:
        yield
    finally:
        CURRENT.reset(token)


def failure() -> Any:
    try:
        raise ZeroDivisionError("boom")
    except ZeroDivisionError:
        return sys.exc_info()


def test_a_line_for_people() -> None:
    assert TextLines().format(record("%d of %s", 3, "x")) == f"{MOMENT} info: 3 of x"
    warning = record("x", level=logging.WARNING)
    with answering("req_1"):
        assert TextLines().format(warning) == f"{MOMENT} warning req_1: x"


def test_of_its_values_a_line_for_people_has_the_prompt_alone() -> None:
    fields = {"prompt": "a\nb", "status": 200}
    assert TextLines().format(record("sent", fields=fields)) == f"{MOMENT} info: sent: 'a\\nb'"
    assert TextLines().format(record("sent", fields={"status": 200})) == f"{MOMENT} info: sent"


def test_an_object_for_machines() -> None:
    expected = {
        "time": MOMENT,
        "level": "error",
        "logger": "maskwright.x",
        "request_id": None,
        "message": "3 é",
    }
    line = JsonLines().format(record("%d é", 3, level=logging.ERROR))
    assert json.loads(line) == expected
    assert "é" in line
    with answering("req_1"):
        written = json.loads(JsonLines().format(record("x", fields={"ms": 1.5, "kind": {1}})))
    assert (written["request_id"], written["ms"], written["kind"]) == ("req_1", 1.5, "{1}")


def test_a_traceback_comes_last() -> None:
    broken = record("x", exc_info=failure())
    lines = TextLines().format(broken).splitlines()
    assert lines[0] == f"{MOMENT} info: x"
    assert lines[-1] == "ZeroDivisionError: boom"
    line = json.loads(JsonLines().format(broken))
    assert line["traceback"].endswith("ZeroDivisionError: boom")
    assert "traceback" not in json.loads(JsonLines().format(record("x")))


@pytest.mark.parametrize(
    ("name", "level", "shown"),
    [
        ("maskwright.server", logging.DEBUG, False),
        ("maskwright.server", logging.INFO, True),
        ("other.library", logging.INFO, False),
        ("other.library", logging.WARNING, True),
    ],
)
@pytest.mark.parametrize("form", ["text", "json"])
def test_whose_records_are_written(
    form: Any, name: str, level: int, shown: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    with logging_as(form):
        logging.getLogger(name).log(level, "a message")
    assert ("a message" in capsys.readouterr().err) is shown


@contextmanager
def logging_as(form: Any) -> Iterator[None]:
    """Log so while the block runs."""
    root, own = logging.getLogger(), logging.getLogger("maskwright")
    before = root.handlers[:], root.level, own.level
    try:
        root.handlers.clear()
        set_up_logs(form, "info")
        yield
    finally:
        logging.captureWarnings(False)
        root.handlers[:] = before[0]
        own.setLevel(before[2])
        root.setLevel(before[1])


def test_libraries_with_lines_of_their_own_are_logged_as_all_others(
    capsys: pytest.CaptureFixture[str],
) -> None:
    theirs, below = logging.getLogger("theirs"), logging.getLogger("theirs.below")
    theirs.addHandler(logging.StreamHandler())
    theirs.setLevel(logging.WARNING)
    theirs.propagate = False
    below.warning("before")
    assert capsys.readouterr().err == "before\n"
    with warnings.catch_warnings(), logging_as("json"):
        warnings.simplefilter("always")
        below.warning("a warning")
        below.info("no warning")
        warnings.warn("of Python", stacklevel=1)
    logged = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [(each["logger"], each["level"]) for each in logged] == [
        ("theirs.below", "warning"),
        ("py.warnings", "warning"),
    ]
    assert logged[0]["message"] == "a warning"
    assert "UserWarning: of Python" in logged[1]["message"]


def test_the_transformers_library_is_one_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    from transformers.utils.logging import get_logger  # noqa: PLC0415 - takes a second

    logger = get_logger("transformers.tried")
    with logging_as("json"):
        logger.warning("a line")
    (line,) = capsys.readouterr().err.splitlines()
    assert json.loads(line)["message"] == "a line"
