"""That answers are held to the document: what it doesn't list is found."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import ValidationError

from maskwright.server.batches.batch_routes import page
from maskwright.server.batches.stores import StoredBatch, StoredFile
from maskwright.server.config import ServerConfig
from maskwright.server.json import ref
from tests.server.openapi.answer_forms import check_form
from tests.server.scripted import Client, Script, ScriptedEngine

CHAT: dict[str, Any] = {"messages": [{"role": "user", "content": "hello"}]}


def test_a_field_that_is_not_listed_is_found(client: Client) -> None:
    answer = client.chat().json()
    check_form(ref("ChatCompletion"), answer)
    with pytest.raises(ValidationError, match="'other' was unexpected"):
        check_form(ref("ChatCompletion"), {**answer, "other": 1})
    answer["choices"][0]["message"]["other"] = 1
    with pytest.raises(ValidationError, match="'other' was unexpected"):
        check_form(ref("ChatCompletion"), answer)


@pytest.mark.parametrize("missing", ["usage", "choices", "system_fingerprint"])
def test_a_field_that_is_missing_is_found(client: Client, missing: str) -> None:
    answer = client.chat().json()
    del answer[missing]
    with pytest.raises(ValidationError, match=f"'{missing}' is a required property"):
        check_form(ref("ChatCompletion"), answer)


@pytest.mark.parametrize(
    "fields",
    [
        {"n": 2},
        {"logprobs": True, "top_logprobs": 2},
        {"prompt_logprobs": 2, "return_token_ids": True},
        {"maskwright": {"trace": "tokens", "report": True, "explain": True}},
        {"guided_choice": ["Hello"], "maskwright": {"report": True}},
    ],
    ids=str,
)
def test_answers_with_all_that_can_be_asked_for(
    client: Client, engine: ScriptedEngine, fields: dict[str, Any]
) -> None:
    engine.script = Script(spelled=True)
    response = client.chat(**fields)
    assert response.status_code == 200, response.text
    check_form(ref("ChatCompletion"), response.json())


def test_errors(client: Client) -> None:
    for response in (
        client.chat(temperature=101),
        client.call("GET", "/v1/models/"),
        client.call("GET", "/none"),
        client.call("DELETE", "/v1/models"),
        client.call("GET", "/v1/files"),
    ):
        check_form(ref("Error"), response.json())


def test_files(client: Client, tmp_path: Any) -> None:
    client.config = ServerConfig(batch_folder=tmp_path / "batches")
    form = {"files": {"file": ("a.jsonl", b"{}\n")}, "data": {"purpose": "batch"}}
    stored = client.call("POST", "/v1/files", **form).json()
    check_form(ref("File"), stored)
    check_form(ref("FileList"), client.call("GET", "/v1/files").json())
    check_form(ref("File"), client.call("GET", f"/v1/files/{stored['id']}").json())
    check_form(ref("BatchList"), client.call("GET", "/v1/batches").json())
    check_form(ref("DeletedFile"), client.call("DELETE", f"/v1/files/{stored['id']}").json())
    for body in ({"input_file_id": "x"}, {"endpoint": "/v1/other"}):
        with pytest.raises(ValidationError):
            check_form(ref("BatchRequest"), body)
        assert client.call("POST", "/v1/batches", json=body).status_code == 400


def test_batches() -> None:
    mistake: dict[str, object] = {
        "code": "invalid_json_line",
        "message": "m",
        "param": None,
        "line": 1,
    }
    failed = StoredBatch("b", "/v1/responses", "f", status="failed", errors=[mistake])
    running = StoredBatch("c", "/v1/completions", "f", metadata={"a": "b"}, times={"failed_at": 1})
    cards = [failed.card(), running.card()]
    for card in cards:
        check_form(ref("Batch"), card)
    check_form(ref("BatchList"), page(cards, {}, most=10, default=10))  # type: ignore[arg-type]
    file = StoredFile("f", "a.jsonl", "batch", 3, 1).card()
    check_form(ref("FileList"), page([file], {}, most=10, default=10))  # type: ignore[arg-type]
