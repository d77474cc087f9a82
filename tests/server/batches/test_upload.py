from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from python_multipart.exceptions import FormParserError
from starlette.applications import Starlette
from starlette.formparsers import MultiPartParser
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from maskwright.errors import InputError
from maskwright.server.batches.batch_routes import read_upload
from maskwright.server.errors import HttpError

LIMIT = 100_000


def upload(into: Path, **options: Any) -> Any:
    """What a form is read as: name, fields and content, or the error."""

    async def take(http: Request) -> JSONResponse:
        try:
            form = await read_upload(http, into / "x.part", LIMIT)
        except (InputError, HttpError) as error:
            return JSONResponse([error.code, error.message])
        content = (into / "x.part").read_bytes().decode("latin-1")
        return JSONResponse([form.filename, form.fields, content])

    app = Starlette(routes=[Route("/", take, methods=["POST"])])

    async def call() -> Any:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://x") as client:
            return (await client.post("/", **options)).json()

    found = asyncio.run(call())
    assert [path.name for path in into.iterdir()] in ([], ["x.part"])
    return found


@pytest.mark.parametrize(
    "content", [b"", b"a\r\n--b\r\n", b"\r\n", b"--", bytes(range(256)) * 10, b"x" * 70_000]
)
def test_a_file_arrives_as_it_was_sent(tmp_path: Path, content: bytes) -> None:
    files = {"file": ('ä"b.jsonl', content, "application/jsonl")}
    name, fields, read = upload(tmp_path, files=files, data={"purpose": "batch", "x": "é"})
    assert read.encode("latin-1") == content
    assert fields == {"purpose": "batch", "x": "é"}
    assert name.endswith("b.jsonl")


KIND = "multipart/form-data; boundary=XX"


def raw(body: bytes, content_type: str = KIND) -> dict[str, Any]:
    return {"content": body, "headers": {"content-type": content_type}}


HEAD = b'Content-Disposition: form-data; name="file"; filename="f"\r\n\r\n'

FIELD = b'--XX\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n'


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (raw(b"", "application/json"), "invalid_content_type"),
        (raw(b"", "multipart/form-data"), "invalid_content_type"),
        (raw(b""), "invalid_form"),
        (raw(b"nothing"), "invalid_form"),
        (raw(b"--XX\r\n" + HEAD + b"text"), "invalid_form"),
        (raw(b"--XX\r\n" + b"A: b\r\n" * 5000 + b"\r\nx\r\n--XX--"), "invalid_form"),
        (raw(b"--XX\r\nA: b\r\n\r\nx\r\n--XX--"), "invalid_form"),
        (raw(b"--XXa\r\n" + HEAD + b"x\r\n--XX--"), "invalid_form"),
        (raw(2 * (b"--XX\r\n" + HEAD + b"x\r\n") + b"--XX--"), "invalid_form"),
        (raw(b"--XX\r\n" + HEAD + b"x\r\n" + 2 * FIELD + b"--XX--"), "invalid_form"),
        (raw(b"--XX--"), "invalid_value"),
        ({"data": {"purpose": "x"}, "files": {"other": b"a"}}, "invalid_value"),
        ({"files": {"file": b"a", "other": b"a"}}, "invalid_value"),
        (raw(b"--XX\r\n" + HEAD + b"x\r\n--XX--", KIND.replace("XX", "X" * 300)), "invalid_form"),
        ({"data": {"purpose": "x" * 5000}, "files": {"file": b"a"}}, "invalid_value"),
        ({"files": {"file": b"a" * (LIMIT + 70_000)}}, "file_too_large"),
    ],
)
def test_what_is_no_form_with_a_file(tmp_path: Path, options: dict[str, Any], code: str) -> None:
    assert upload(tmp_path, **options)[0] == code


@pytest.mark.parametrize("charset", ["undefined", "punycode", "unicode_escape", "latin-1"])
def test_a_charset_makes_no_difference(tmp_path: Path, charset: str) -> None:
    head = HEAD.replace(b'="f"', '="ä\\ud800"'.encode())
    body = b"--XX\r\n" + head + b"x\r\n--XX--\r\n"
    form = upload(tmp_path, **raw(body, f"multipart/form-data; charset={charset}; boundary=XX"))
    assert form == upload(tmp_path, **raw(body))
    assert form[0].startswith("ä")


def test_a_boundary_may_have_any_characters(tmp_path: Path) -> None:
    boundary = b'a"b\\c d'
    body = b"--" + boundary + b"\r\n" + HEAD + b"x\r\n--" + boundary + b"--\r\n"
    kind = 'multipart/form-data; boundary="a\\"b\\\\c d"'
    assert upload(tmp_path, **raw(body, kind)) == ["f", {}, "x"]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "it is empty"),
        (b"--XX\r\n" + HEAD + b"text", "it has no end"),
        (b"--YY\r\n" + HEAD + b"x\r\n--YY--", "it has no parts between lines of '--XX'"),
    ],
)
def test_a_message_says_what_is_wrong_with_a_form(tmp_path: Path, body: bytes, reason: str) -> None:
    assert upload(tmp_path, **raw(body))[1] == f"the body is no form: {reason}"


def test_what_the_parser_raises_itself_is_refused_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Older versions of Starlette let python-multipart's errors through."""

    async def parse(_: object) -> None:
        raise FormParserError("as it comes")

    monkeypatch.setattr(MultiPartParser, "parse", parse)
    assert upload(tmp_path, **raw(b"x"))[0] == "invalid_form"


def test_a_body_without_a_length_is_bounded(tmp_path: Path) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        yield b"--XX\r\n" + HEAD
        for _ in range(11):
            yield b"x" * LIMIT

    assert upload(tmp_path, **{**raw(b""), "content": chunks()})[0] == "file_too_large"
