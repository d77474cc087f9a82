"""The command `batch`: every record once, through failures and kills."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from maskwright.cli.bulk import run
from tests.bounds import PATIENCE
from tests.cli.bulk.fake_server import Answer, FakeServer, completion, fake_server, number_of
from tests.cli.conftest import Run

SCHEMA = {
    "type": "object",
    "properties": {"number": {"type": "integer", "minimum": 0}},
    "required": ["number"],
    "additionalProperties": False,
}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests that failed by chance are sent again soon."""
    monkeypatch.setattr(run, "FIRST_WAIT_S", 0.001)
    monkeypatch.delenv("MASKWRIGHT_API_KEY", raising=False)


def records(path: Path, count: int) -> Path:
    lines = [{"id": f"r{n}", "text": f"This is record {n}."} for n in range(count)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_each_record_has_its_line(run: Run, tmp_path: Path) -> None:
    source = records(tmp_path / "in.jsonl", 40)
    out = tmp_path / "out.jsonl"
    with fake_server(FakeServer(fault=0.1)) as fake:
        found = run(
            *("batch", source, out, "--schema", json.dumps(SCHEMA), "--url", f"{fake.url}/v1"),
            *("--prompt-template", "Read: {{text}}", "--system", "Be brief.", "--carry", "text"),
            *("--seed", 5, "--max-tokens", 90, "--body", '{"top_p": 0.5}', "--retries", 20),
        )
    assert found.returncode == 0, found.stderr
    lines = sorted(lines_of(out), key=lambda line: line["index"])
    assert [line["index"] for line in lines] == list(range(40))
    assert [line["id"] for line in lines] == [f"r{n}" for n in range(40)]
    assert [line["output"] for line in lines] == [{"number": n} for n in range(40)]
    assert lines[7]["text"] == "This is record 7."
    assert (tmp_path / "out.failures.jsonl").read_text() == ""
    (first,) = [body for body in fake.bodies if number_of(body) == 0][:1]
    assert first == {
        "model": "fake",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Read: This is record 0."},
        ],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "record", "schema": SCHEMA, "strict": True},
        },
        "temperature": 0.0,
        "max_completion_tokens": 90,
        "seed": 5,
        "top_p": 0.5,
    }
    assert "records   40\nvalid     40\nfailed    0\n" in found.stdout


def test_what_fails_has_a_file_and_a_reason(run: Run, tmp_path: Path) -> None:
    def answer(body: Any, before: int) -> Any:
        match number_of(body):
            case 1:
                return 200, {}, completion('{"number": -1}')
            case 2:
                return 200, {}, completion('{"number"', finish_reason="length")
            case 3:
                error = {"message": "no such thing", "code": "no_way", "param": "messages"}
                return 400, {}, {"error": error}
            case 4:
                return 200, {}, completion("no JSON")
            case number:
                return 200, {}, completion(json.dumps({"number": number}))

    source = records(tmp_path / "in.jsonl", 6)
    with source.open("a") as more:
        more.write('{"id": "without"}\nnot JSON\n')
    arguments = ("batch", source, tmp_path / "out.jsonl", "--schema", json.dumps(SCHEMA))
    with fake_server(FakeServer(answer)) as fake:
        found = run(*arguments, "--url", fake.url, "--json", "--price-prompt", 100_000)
        again = run(*arguments, "--url", fake.url, "--json")
        asked = fake.asked.total()
        fake.answer = FakeServer().answer
        retried = run(*arguments, "--url", fake.url, "--json", "--retry-failed")
    assert (found.returncode, again.returncode, retried.returncode) == (1, 1, 1)
    row = json.loads(found.stdout)
    assert row["failures"] == {
        "cut_off": 1,
        "invalid_answer": 2,
        "invalid_record": 2,
        "no_way": 1,
    }
    assert (row["records"], row["valid"], row["failed"], row["left"]) == (8, 2, 6, 0)
    # Five answers with 10 tokens of prompts, 2 of them cached, and 4 of answers.
    assert (row["prompt_tokens"], row["completion_tokens"], row["cost"]) == (50, 20, 5.0)
    row_again = json.loads(again.stdout)
    assert (asked, row_again["done_before"], row_again["done_now"]) == (6, 8, 0)
    assert row_again["failures"] == row["failures"]
    last = json.loads(retried.stdout)
    assert (last["valid"], last["failures"]) == (6, {"invalid_record": 2})
    failed = lines_of(tmp_path / "out.failures.jsonl")
    assert sorted(line["index"] for line in failed) == [6, 7]
    assert len(lines_of(tmp_path / "out.jsonl")) == 6


def test_a_failure_says_why(run: Run, tmp_path: Path) -> None:
    source = records(tmp_path / "in.jsonl", 1)
    fake = FakeServer(lambda _, __: (200, {}, completion('{"number": -1}')))
    with fake_server(fake):
        run(
            "batch", source, tmp_path / "o.jsonl", "--schema", json.dumps(SCHEMA), "--url", fake.url
        )
    (line,) = lines_of(tmp_path / "o.failures.jsonl")
    assert line["code"] == "invalid_answer"
    assert line["reason"] == "-1 is less than the minimum of 0 (at /number, by minimum)"
    assert line["answer"] == '{"number": -1}'
    assert line["attempts"] == 1


@pytest.mark.parametrize(
    ("schema", "text", "valid"),
    [
        ({"type": "string", "pattern": r"^\p{L}+$"}, '"abc"', None),
        ({"multipleOf": 0.01}, "1e300", True),
        ({"type": 3}, "1", None),
        (True, "[" * 90_000 + "]" * 90_000, False),
        (True, "1" * 5000, False),
    ],
)
def test_what_jsonschema_cannot_evaluate_is_kept_and_reported(
    run: Run, tmp_path: Path, schema: Any, text: str, valid: bool | None
) -> None:
    """None of it ends the run."""
    source, out = records(tmp_path / "in.jsonl", 3), tmp_path / "out.jsonl"
    with fake_server(FakeServer(lambda body, _: (200, {}, completion(text)))) as fake:
        found = run(
            *("batch", source, out, "--url", fake.url, "--schema", json.dumps(schema), "--json")
        )
    row = json.loads(found.stdout)
    assert (row["valid"], row["failed"]) == ((0, 3) if valid is False else (3, 0))
    assert row["unchecked"] == (3 if valid is None else 0)
    assert sum("unchecked" in line for line in lines_of(out)) == row["unchecked"]


def test_requests_in_openais_format(run: Run, tmp_path: Path) -> None:
    def request(number: int) -> dict[str, Any]:
        shape = {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}}
        message = {"role": "user", "content": f"record {number}"}
        body = {"model": f"m{number}", "messages": [message], "response_format": shape}
        url = "/v1/chat/completions"
        return {"custom_id": f"c{number}", "method": "POST", "url": url, "body": body}

    def answer(body: Any, before: int) -> Any:
        number = number_of(body)
        if number == 3:
            return 404, {"x-request-id": "q3"}, {"error": {"message": "no such model"}}
        text = json.dumps({"number": -1 if number == 4 else number})
        return 200, {"x-request-id": f"q{number}"}, completion(text)

    source = tmp_path / "in.jsonl"
    source.write_text("".join(json.dumps(request(n)) + "\n" for n in range(6)))
    out = tmp_path / "out.jsonl"
    with fake_server(FakeServer(answer)) as fake:
        found = run("batch", source, out, "--url", fake.url, "--json")
    assert found.returncode == 1
    assert json.loads(found.stdout)["failures"] == {"http_404": 1, "invalid_answer": 1}
    assert sorted(body["model"] for body in fake.bodies) == [f"m{n}" for n in range(6)]
    results = {line["custom_id"]: line for line in lines_of(out)}
    assert sorted(results) == ["c0", "c1", "c2", "c5"]
    line = results["c1"]
    assert line.pop("id").startswith("batch_req_")
    assert line == {
        "custom_id": "c1",
        "error": None,
        "response": {
            "status_code": 200,
            "request_id": "q1",
            "body": completion('{"number": 1}'),
        },
    }
    failed = {line["custom_id"]: line for line in lines_of(tmp_path / "out.failures.jsonl")}
    assert failed["c3"]["response"]["status_code"] == 404
    assert failed["c4"]["error"]["code"] == "invalid_answer"


SHAPED = {"response_format": {"type": "json_schema", "json_schema": {"schema": SCHEMA}}}
TOOLS = [{"type": "function", "function": {"name": "f"}}]
CALL = {
    "content": None,
    "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
}
INCOMPLETE = {
    "object": "response",
    "status": "incomplete",
    "incomplete_details": {"reason": "max_output_tokens"},
    "usage": {"input_tokens": 3, "output_tokens": 4},
}


@pytest.mark.parametrize(
    ("path", "fields", "body", "is_cut_off"),
    [
        ("chat/completions", SHAPED, completion('{"number": 1}', finish_reason="length"), True),
        ("chat/completions", SHAPED, completion('{"number": 1}'), False),
        (
            "chat/completions",
            {"tools": TOOLS},
            completion("", message=CALL, finish_reason="length"),
            True,
        ),
        (
            "chat/completions",
            {"tools": TOOLS},
            completion("", message=CALL, finish_reason="tool_calls"),
            False,
        ),
        ("chat/completions", {"guided_regex": "a+"}, completion("a", finish_reason="length"), True),
        ("chat/completions", {}, completion("a story", finish_reason="length"), False),
        (
            "chat/completions",
            {"response_format": {"type": "text"}},
            completion("a story", finish_reason="length"),
            False,
        ),
        ("responses", {"text": {"format": {"type": "json_schema"}}}, INCOMPLETE, True),
        ("responses", {"text": {"format": {"type": "text"}}}, INCOMPLETE, False),
    ],
)
def test_what_the_limit_has_shortened_is_cut_off(
    run: Run, tmp_path: Path, path: str, fields: Any, body: Any, is_cut_off: bool
) -> None:
    """Of whole requests those for a shape, although what they have got is an instance of it."""
    message = {"messages": [{"role": "user", "content": "record 1"}]}
    asked = {"model": "m", **message, **fields}
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    line = {"custom_id": "c1", "method": "POST", "url": f"/v1/{path}", "body": asked}
    source.write_text(json.dumps(line) + "\n")
    with fake_server(FakeServer(lambda _, __: (200, {}, body))) as fake:
        found = run("batch", source, out, "--url", fake.url, "--json")
    row = json.loads(found.stdout)
    assert row["failures"] == ({"cut_off": 1} if is_cut_off else {})
    if is_cut_off:
        [failed] = lines_of(tmp_path / "out.failures.jsonl")
        assert failed["error"]["code"] == "cut_off"
        assert failed["response"]["body"] == body


def test_a_record_whose_value_the_limit_has_shortened_is_cut_off(run: Run, tmp_path: Path) -> None:
    source = records(tmp_path / "in.jsonl", 1)
    answer = completion('{"number": 1}', finish_reason="length")
    with fake_server(FakeServer(lambda _, __: (200, {}, answer))) as fake:
        found = run(
            *("batch", source, tmp_path / "o.jsonl", "--schema", json.dumps(SCHEMA)),
            *("--url", fake.url, "--json"),
        )
    assert json.loads(found.stdout)["failures"] == {"cut_off": 1}


def test_a_changed_input_is_noticed(run: Run, tmp_path: Path) -> None:
    source = records(tmp_path / "in.jsonl", 3)
    arguments = ("batch", source, tmp_path / "out.jsonl", "--schema", json.dumps(SCHEMA))
    with fake_server(FakeServer()) as fake:
        assert run(*arguments, "--url", fake.url).returncode == 0
        for changed in (("--temperature", 1), ("--system", "x")):
            found = run(*arguments, "--url", fake.url, *changed)
            assert found.returncode == 2
            assert "results of other requests" in found.stderr
        records(source, 2)
        assert "input doesn't have" in run(*arguments, "--url", fake.url).stderr
        assert fake.asked.total() == 3
        found = run(*arguments, "--url", fake.url, "--overwrite", "--json")
    assert json.loads(found.stdout)["valid"] == 2
    assert len(lines_of(tmp_path / "out.jsonl")) == 2


@pytest.mark.parametrize(
    ("status", "code", "message"),
    [(401, 2, "refuses all requests"), (429, 3, "takes no more requests")],
)
def test_what_all_requests_would_meet_ends_the_run(
    run: Run, tmp_path: Path, status: int, code: int, message: str
) -> None:
    """Records don't become failures for it: the next run goes on with them."""
    source = records(tmp_path / "in.jsonl", 30)
    fake = FakeServer(lambda body, _: (status, {}, {"error": {"message": "no"}}))
    arguments = ("batch", source, tmp_path / "out.jsonl", "--retries", 2, "--api-key", "k")
    with fake_server(fake):
        found = run(*arguments, "--url", fake.url)
        assert (found.returncode, message in found.stderr) == (code, True), found.stderr
        assert "Authorization: Bearer k\r\n" in fake.headers[0]
        assert (tmp_path / "out.failures.jsonl").read_text() == ""
        fake.answer = FakeServer().answer
        assert run(*arguments, "--url", fake.url).returncode == 0


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            '{"id": "x", "txt": "a"}',
            "of record x: line 4: the record has no field 'text' (did you mean 'txt'?); it has id, "
            "txt",
        ),
        ('{"id": null, "txt": 1}', "with index 1: line 4: the record has no field 'text'"),
        (
            '{"text": "record 7",}',
            "with index 1: line 4: not valid JSON: the comma before '}' is one too many at column "
            "20",
        ),
        ("[]", "with index 1: line 4: a record is a JSON object or a string"),
    ],
)
@pytest.mark.parametrize("carry", [(), ("--carry", "id")])
def test_the_report_says_which_record_failed_first_and_why(
    run: Run, tmp_path: Path, line: str, message: str, carry: tuple[str, ...]
) -> None:
    """By its name if it has one, and by its line in the file, where blank lines count."""
    source = records(tmp_path / "in.jsonl", 1)
    source.write_text(f"\n{source.read_text()}\n{line}\n")
    with fake_server(FakeServer()) as fake:
        arguments = ("batch", source, tmp_path / "out.jsonl", "--url", fake.url, *carry)
        found = run(*arguments, "--prompt-template", "{{text}}")
    assert found.returncode == 1
    failures = tmp_path / "out.failures.jsonl"
    assert found.stderr.startswith(f"the failures are in {failures}; the first, {message}")


def test_the_report_names_the_first_request_that_failed(run: Run, tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    body = {"messages": [{"role": "user", "content": "record 1"}]}
    line = {"custom_id": "c1", "method": "POST", "url": "/v1/chat/completions", "body": body}
    source.write_text(json.dumps(line))
    answer: Answer = 404, {}, {"error": {"message": "no such model"}}
    with fake_server(FakeServer(lambda body, _: answer)) as fake:
        found = run("batch", source, tmp_path / "out.jsonl", "--url", fake.url)
    assert found.stderr.endswith("; the first, of request c1: no such model\n")


def test_a_bad_request_is_named_by_its_line(run: Run, tmp_path: Path) -> None:
    request = {"custom_id": "c1", "method": "POST", "url": "/v1/responses", "body": {}}
    source = tmp_path / "in.jsonl"
    for bad, message in (
        (json.dumps({**request, "method": "PUT"}), "'method' is POST"),
        (json.dumps(request), "the custom_id 'c1' comes twice"),
        ("{", "this line is not valid JSON: it ends too early at column 2"),
    ):
        source.write_text(f"\n{json.dumps(request)}\n\n{bad}\n")
        found = run("batch", source, tmp_path / "out.jsonl", "--url", "http://127.0.0.1:9")
        assert (found.returncode, found.stderr) == (2, f"maskwright: {source}, line 4: {message}\n")


TABLE = "id,line\n1,This is record 1.\n2,This is record 2.\n"


@pytest.mark.parametrize(
    ("name", "text", "options", "message"),
    [
        ("in.csv", TABLE, (), "line 2: the record has none of the fields messages, prompt, text; "),
        ("in.csv", TABLE, (), "--prompt-template says what is asked, such as '{{line}}'"),
        ("in.csv", TABLE, ("--prompt-template", "{{lines}}"), "(did you mean 'line'?)"),
        ("in.jsonl", '\n{"a": 1}\n{"b": 1}\n', (), "line 2: the record has none of the fields"),
        ("in.jsonl", "x\ny\n", (), "line 1: not valid JSON: 'x' is no value of JSON"),
    ],
)
def test_nothing_is_kept_of_a_run_that_can_ask_about_no_record(
    run: Run, tmp_path: Path, name: str, text: str, options: tuple[str, ...], message: str
) -> None:
    """The command that is corrected then is not refused."""
    source, out = tmp_path / name, tmp_path / "out.jsonl"
    source.write_text(text)
    with fake_server(FakeServer()) as fake:
        found = run("batch", source, out, "--url", fake.url, *options)
        assert found.returncode == 2
        assert found.stderr.startswith("maskwright: none of the records can be asked about; ")
        assert message in found.stderr
        assert out.read_text() == (tmp_path / "out.failures.jsonl").read_text() == ""
        if name == "in.csv":
            right = run("batch", source, out, "--url", fake.url, "--prompt-template", "{{line}}")
            assert right.returncode == 0, right.stderr
            assert len(lines_of(out)) == 2


def test_a_record_that_was_corrected_is_asked_about(run: Run, tmp_path: Path) -> None:
    """Its failure is forgotten; other failures and all results stay."""
    source, out = tmp_path / "in.csv", tmp_path / "out.jsonl"
    source.write_text(f"{TABLE}3,a,b\n4,c,d\n")
    arguments = ("batch", source, out, "--prompt-template", "{{line}}", "--json")
    with fake_server(FakeServer()) as fake:
        first = json.loads(run(*arguments, "--url", fake.url).stdout)
        assert (first["valid"], first["failures"]) == (2, {"invalid_record": 2})
        source.write_text(f"{TABLE}3,This is record 3.\n4,c,d\n")
        found = json.loads(run(*arguments, "--url", fake.url).stdout)
        assert (found["valid"], found["failures"]) == (3, {"invalid_record": 1})
        assert (found["done_before"], found["done_now"]) == (3, 1)
        (failed,) = lines_of(tmp_path / "out.failures.jsonl")
        assert failed["index"] == 3
        source.write_text(f"{TABLE}3,This is record 3.\n")
        last = run(*arguments, "--url", fake.url)
        assert (last.returncode, json.loads(last.stdout)["failed"]) == (0, 0)
    assert fake.asked == {1: 1, 2: 1, 3: 1}


def test_failures_are_no_reason_to_refuse_another_command(run: Run, tmp_path: Path) -> None:
    """Answers that were cut off under too small a limit, say; there is no result that would be of
    another request."""
    source, out = records(tmp_path / "in.jsonl", 3), tmp_path / "out.jsonl"
    cut = FakeServer(lambda _, __: (200, {}, completion("x", finish_reason="length")))
    with fake_server(cut) as fake:
        arguments = ("batch", source, out, "--url", fake.url, "--json")
        first = json.loads(run(*arguments, "--max-tokens", 5).stdout)
        assert first["failures"] == {"cut_off": 3}
        again = json.loads(run(*arguments, "--max-tokens", 5).stdout)
        assert (again["done_now"], again["failures"]) == (0, {"cut_off": 3})
        fake.answer = FakeServer().answer
        found = run(*arguments, "--max-tokens", 50)
        assert (found.returncode, json.loads(found.stdout)["valid"]) == (0, 3), found.stderr
        assert "other requests" in run(*arguments, "--max-tokens", 60).stderr
    assert (tmp_path / "out.failures.jsonl").read_text() == ""


@pytest.mark.parametrize(
    ("param", "code", "stops"),
    [
        ("top_p", "invalid_value", True),
        ("maskwright.srvice", "unknown_field", True),
        ("max_completion_tokens", "max_tokens_too_small", True),
        ("messages", "context_length_exceeded", False),
        ("max_completion_tokens", "context_length_exceeded", False),
        ("messages[0].content", "invalid_value", False),
    ],
)
def test_a_field_that_is_refused_for_all_records_ends_the_run(
    run: Run, tmp_path: Path, param: str, code: str, stops: bool
) -> None:
    source, out = records(tmp_path / "in.jsonl", 30), tmp_path / "out.jsonl"
    error = {"message": "it is wrong", "param": param, "code": code}
    with fake_server(FakeServer(lambda body, _: (400, {}, {"error": error}))) as fake:
        found = run(
            *("batch", source, out, "--url", fake.url, "--max-tokens", 5, "--concurrency", 2),
            *("--body", '{"top_p": 7, "maskwright": {"srvice": "batch"}}'),
        )
    assert len(fake.bodies) <= 4 if stops else len(fake.bodies) == 30
    assert found.returncode == (2 if stops else 1)
    message = f"the server refuses the field {param} of all requests: it is wrong"
    assert (message in found.stderr) == stops


def test_a_schema_that_is_refused_ends_the_run(run: Run, tmp_path: Path) -> None:
    source = records(tmp_path / "in.jsonl", 30)
    error = {"message": "no such keyword", "param": "response_format.json_schema.schema"}
    with fake_server(FakeServer(lambda body, _: (400, {}, {"error": error}))) as fake:
        found = run(
            *("batch", source, tmp_path / "out.jsonl", "--url", fake.url),
            *("--schema", json.dumps(SCHEMA)),
        )
    assert found.returncode == 2
    assert "the server refuses the schema: no such keyword" in found.stderr
    assert (tmp_path / "out.failures.jsonl").read_text() == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("none.jsonl", "out.jsonl"), "there is no such file"),
        (("in.jsonl", "out.xml"), "has to end in .jsonl or .parquet"),
        (("in.jsonl", "out.jsonl", "--schema", "{"), "the schema:1:2: not valid JSON"),
        (("in.jsonl", "out.jsonl", "--schema", "invoise"), "invoice"),
        (("in.jsonl", "out.jsonl", "--prompt-template", "no.txt"), "a template is a file"),
        (("in.jsonl", "out.jsonl", "--body", "[]"), "--body: it must be a JSON object"),
        (("in.jsonl", "out.jsonl", "--body", "{'a': 1}"), "--body: it is not JSON: strings stand"),
        (("in.jsonl", "out.jsonl", "--ca", "none.pem"), "--ca none.pem: No such file"),
        (("in.jsonl", "out.jsonl", "--ca", "in.jsonl"), "--ca in.jsonl: there is no certificate"),
        (("in.jsonl", "out.jsonl", "--ca", "c.pem", "--insecure"), "exclude each other"),
        (("in.jsonl", "out.jsonl", "--carry", "usage"), "field of this name"),
        (("in.jsonl", "out.jsonl", "--failures", "out.jsonl"), "need two files"),
        (("in.jsonl", "out.jsonl", "--url", "x", "--model", "y"), "give one"),
        (("in.jsonl", "out.jsonl", "--url", "127.0.0.1:8000"), "begins with http:// or https://"),
        (("in.jsonl", "out.jsonl", "--url", "http://"), "no address of a server"),
        (("in.jsonl", "out.jsonl", "--url", "http://h:port"), "no address of a server"),
        (("in.jsonl", "out.jsonl", "--input-format", "folder"), "no folder"),
        (("in.jsonl", "none/out.jsonl"), "can't write none/out.jsonl"),
        *[
            (("o.jsonl", "out.jsonl", option, value), f"{option}: the input has whole requests")
            for option, value in (
                ("--schema", "invoice"),
                ("--body", '{"top_p": 0.5}'),
                ("--max-tokens", "9"),
                ("--temperature", "0"),
                ("--seed", "1"),
                ("--carry", "custom_id"),
            )
        ],
    ],
)
def test_options_that_cannot_be(
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    records(tmp_path / "in.jsonl", 1)
    (tmp_path / "o.jsonl").write_text('{"custom_id": "a", "url": "/v1/x", "body": {}}')
    found = run("batch", *arguments)
    assert (found.returncode, message in found.stderr) == (2, True), found.stderr
    assert "Traceback" not in found.stderr


def test_no_server(run: Run, tmp_path: Path) -> None:
    source = records(tmp_path / "in.jsonl", 3)
    out = tmp_path / "out.jsonl"
    found = run("batch", source, out, "--url", "http://127.0.0.1:9", "--retries", 1)
    assert found.returncode == 3
    first, *others = found.stderr.splitlines()
    assert first == (
        "http://127.0.0.1:9: no server answers (Connection refused); asking again for 1 s or more"
    )
    assert others == [
        "stopped after 0 s with 0 of 3 records done; the same command continues",
        "maskwright: no server answers at http://127.0.0.1:9: Connection refused",
    ]


@pytest.mark.parametrize("command", ["batch", "status", "bench serve"])
def test_a_certificate_that_is_not_known(
    run: Run, tmp_path: Path, command: str, certificate: tuple[Path, Path]
) -> None:
    made, key = certificate
    arguments = [*command.split()]
    if command == "batch":
        arguments += [str(records(tmp_path / "in.jsonl", 2)), str(tmp_path / "out.jsonl")]
    with fake_server(FakeServer(), made, key) as fake:
        assert fake.url.startswith("https://")
        found = run(*arguments, "--url", fake.url)
        assert found.returncode == 2
        assert f"the certificate of {fake.url}" in found.stderr
        assert (
            "isn't trusted: self-signed certificate; --ca FILE names a certificate to trust, and "
            "--insecure trusts any"
        ) in found.stderr
        assert fake.bodies == []
        trusted = ("--ca", made), ("--insecure", "--overwrite")
        for options in trusted if command == "batch" else (trusted[0], ("--insecure",)):
            found = run(*arguments, "--url", fake.url, *options, *QUICK.get(command, ()))
            assert "trusted" not in found.stderr
            if command == "status":
                assert "is no Maskwright server" in found.stderr
            else:
                assert found.returncode == 0, found.stderr
                assert fake.bodies


QUICK = {
    "bench serve": (
        *("--patterns", "steady", "--rates", "4", "--seconds", "0.3", "--drain", "0.1"),
        *("--prompts", "4", "--caps", "4", "--services", "", "--shapes", "none"),
    )
}


def killed_again_and_again(tmp_path: Path, count: int, kills: int, seed: int) -> FakeServer:
    """Run the command over `count` records, with `kills` SIGKILLs at random moments, until it ends
    by itself; returns what the server saw."""
    chance = random.Random(seed)
    source, out = records(tmp_path / "in.jsonl", count), tmp_path / "out.jsonl"
    moments = sorted(chance.randrange(1, count) for _ in range(kills))
    command = [
        *(sys.executable, "-m", "maskwright", "batch", source, out, "--retries", "30"),
        *("--schema", json.dumps(SCHEMA), "--json"),
    ]
    with fake_server(FakeServer(fault=0.02, pause=0.02)) as fake:
        for moment in moments:
            program = subprocess.Popen([*command, "--url", fake.url], stdout=subprocess.DEVNULL)
            deadline = time.monotonic() + PATIENCE
            while not out.exists() or out.read_bytes().count(b"\n") < moment:
                assert program.poll() is None, "it ended before it was killed"
                assert time.monotonic() < deadline
                time.sleep(0.005)
            time.sleep(chance.uniform(0, 0.05))
            os.kill(program.pid, signal.SIGKILL)
            assert program.wait() == -signal.SIGKILL
            if chance.random() < 0.5:  # a power failure may leave a part of a line, too
                with out.open("ab") as torn:
                    torn.write(b'{"index": 0, "output": {"num')
        last = subprocess.run(
            [*command, "--url", fake.url], capture_output=True, text=True, check=False
        )
    assert last.returncode == 0, last.stderr
    row = json.loads(last.stdout)
    assert (row["records"], row["valid"], row["left"]) == (count, count, 0)
    return fake


def each_once(tmp_path: Path, count: int) -> None:
    """Each record has one line, which is valid."""
    lines = lines_of(tmp_path / "out.jsonl")
    assert sorted(line["index"] for line in lines) == list(range(count))
    for line in lines:
        jsonschema.validate(line["output"], SCHEMA)
        assert line["output"]["number"] == line["index"]
    assert (tmp_path / "out.failures.jsonl").read_text() == ""


def test_kills_lose_and_repeat_nothing(tmp_path: Path) -> None:
    fake = killed_again_and_again(tmp_path, 400, kills=2, seed=1)
    each_once(tmp_path, 400)
    # At most the requests of each run that were under way, and those with faults, come again.
    assert fake.asked.total() < 400 + 3 * 32 + 100


@pytest.mark.slow
def test_ten_kills_in_10000_records(tmp_path: Path) -> None:
    fake = killed_again_and_again(tmp_path, 10_000, kills=10, seed=2)
    each_once(tmp_path, 10_000)
    assert fake.asked.total() < 10_000 + 10 * 32 + 1000


def test_two_runs_at_once_are_refused(run: Run, tmp_path: Path) -> None:
    source, out = records(tmp_path / "in.jsonl", 200), tmp_path / "out.jsonl"
    with fake_server(FakeServer(pause=0.2)) as fake:
        first = subprocess.Popen(
            [sys.executable, "-m", "maskwright", "batch", source, out, "--url", fake.url],
            stdout=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + PATIENCE
        while not (out.exists() and out.read_bytes()):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        found = run("batch", source, out, "--url", fake.url)
        assert first.wait(PATIENCE) == 0
    assert (found.returncode, "another process is writing" in found.stderr) == (2, True)
    assert len(lines_of(out)) == 200


def test_the_shipped_model_in_this_process(run: Run, tmp_path: Path) -> None:
    source, out = tmp_path / "in.csv", tmp_path / "out.jsonl"
    source.write_text('name,line\nAnna,"Anna Berg, 34, lives in Oslo."\nTom,"Tom Hill is 51."\n')
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {
            "name": {"type": "string", "maxLength": 20},
            "age": {"type": "integer", "minimum": 0, "maximum": 130},
        },
        "required": ["name", "age"],
        "additionalProperties": False,
    }
    found = run(
        *("batch", source, out, "--schema", json.dumps(schema)),
        *("--prompt-template", "{{line}}", "--carry", "name"),
    )
    assert found.returncode == 0, found.stderr
    lines = sorted(lines_of(out), key=lambda line: line["index"])
    assert [line["name"] for line in lines] == ["Anna", "Tom"]
    for line in lines:
        jsonschema.validate(line["output"], schema)
    assert [line["output"]["age"] for line in lines] == [34, 51]
