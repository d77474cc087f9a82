"""Failures as clients see them: a status, a bounded body, and nothing of our inside."""

from __future__ import annotations

import json
import logging

import pytest

from maskwright.errors import (
    BudgetError,
    EmptySupportError,
    EngineStoppedError,
    GenerationError,
    InputError,
    OverloadedError,
    SchemaError,
)
from maskwright.server.errors import (
    MESSAGE_CHARACTERS,
    PARAM_CHARACTERS,
    HttpError,
    code_of,
    describe,
    error_body,
    error_response,
    is_defect,
)

REQUEST, LIMIT, SERVER = "invalid_request_error", "rate_limit_error", "server_error"

ANSWERED: list[tuple[BaseException, int, str, str, str | None, str | None]] = [
    # error; status, type, message, param, code
    (InputError("why", param="p"), 400, REQUEST, "why", "p", "invalid_value"),
    (InputError("why", param="p", code="c"), 400, REQUEST, "why", "p", "c"),
    (SchemaError("why", pointer="/a"), 400, REQUEST, "why (at /a)", None, "invalid_json_schema"),
    (BudgetError("why", needed=3), 400, REQUEST, "why", None, "max_tokens_too_small"),
    (EmptySupportError("why"), 400, REQUEST, "why", None, EmptySupportError.code),
    (OverloadedError("why", retry_after=1), 429, LIMIT, "why", None, "overloaded"),
    (
        EngineStoppedError("inside"),
        *(503, SERVER, "the engine has stopped", None, EngineStoppedError.code),
    ),
    (
        GenerationError("inside"),
        *(500, SERVER, "the server failed on this request", None, "internal_error"),
    ),
    (
        ZeroDivisionError("inside"),
        *(500, SERVER, "the server failed on this request", None, "internal_error"),
    ),
    (HttpError(404, "why", code="c"), 404, REQUEST, "why", None, "c"),
    (HttpError(413, "why", param="p"), 413, REQUEST, "why", "p", None),
    (HttpError(499, "why"), 499, REQUEST, "why", None, None),
    (HttpError(504, "why", code="timeout"), 504, SERVER, "why", None, "timeout"),
]


@pytest.mark.parametrize(("error", "status", "kind", "message", "param", "code"), ANSWERED)
def test_what_a_client_receives(
    error: BaseException, status: int, kind: str, message: str, param: str | None, code: str | None
) -> None:
    body = {"error": {"message": message, "type": kind, "param": param, "code": code}}
    assert describe(error) == (status, body)
    assert code_of(body) == code
    response = error_response(error)
    assert (response.status_code, json.loads(bytes(response.body))) == (status, body)


@pytest.mark.parametrize(
    ("error", "defect"),
    [
        (InputError("why"), False),
        (OverloadedError("why", retry_after=1), False),
        (HttpError(504, "why"), False),
        (HttpError(503, "why"), False),
        (EngineStoppedError("inside"), True),
        (GenerationError("inside"), True),
        (ZeroDivisionError("inside"), True),
    ],
)
def test_what_is_our_doing_is_logged(
    error: Exception, defect: bool, caplog: pytest.LogCaptureFixture
) -> None:
    assert is_defect(error) is defect
    with caplog.at_level(logging.DEBUG):
        error_response(error)
    logged = [record.exc_info[1] for record in caplog.records if record.exc_info]
    assert logged == ([error] if defect else [])


@pytest.mark.parametrize(
    ("seconds", "header"), [(0.0, "1"), (0.2, "1"), (1.0, "1"), (1.01, "2"), (59.9, "60")]
)
def test_whole_seconds_until_a_client_may_come_back(seconds: float, header: str) -> None:
    response = error_response(OverloadedError("why", retry_after=seconds))
    assert response.headers["retry-after"] == header
    assert "retry-after" not in error_response(InputError("why")).headers


def test_long_texts_are_cut() -> None:
    body = error_body(400, "m" * 5000, param="p" * 5000)["error"]
    assert isinstance(body, dict)
    assert body["message"] == "m" * (MESSAGE_CHARACTERS - 1) + "…"
    assert body["param"] == "p" * (PARAM_CHARACTERS - 1) + "…"
    whole = error_body(400, "m" * MESSAGE_CHARACTERS, param="p" * PARAM_CHARACTERS)["error"]
    assert isinstance(whole, dict)
    assert (len(whole["message"]), whole["message"][-1]) == (MESSAGE_CHARACTERS, "m")
    assert (len(whole["param"]), whole["param"][-1]) == (PARAM_CHARACTERS, "p")


@pytest.mark.parametrize("body", [{}, {"error": {}}, {"error": {"code": None}}, {"code": "c"}])
def test_a_body_without_a_code(body: dict[str, object]) -> None:
    assert code_of(body) is None
