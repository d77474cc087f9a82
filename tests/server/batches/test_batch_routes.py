"""The endpoints of files and batches, over an engine that plays a script."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import httpx
import pytest

from maskwright.errors import InputError
from maskwright.server import ServerConfig, create_app
from maskwright.server.access import ApiKey, KeyRing, digest_of
from maskwright.server.batches.batch_routes import with_service
from tests.bounds import PATIENCE, wait_until
from tests.live_server import live_server
from tests.server.scripted import Client, ScriptedEngine

CHAT = "/v1/chat/completions"


@pytest.fixture
def http(engine: ScriptedEngine, tmp_path: Path) -> Iterator[httpx.Client]:
    config = ServerConfig(batch_folder=tmp_path / "batches", file_bytes=10_000, body_bytes=2000)
    with (
        live_server(create_app(cast(Any, engine), config)) as url,
        httpx.Client(base_url=f"{url}/v1", timeout=PATIENCE) as client,
    ):
        yield client


def request(name: str, **body: Any) -> str:
    body = {"model": "m", "messages": [{"role": "user", "content": name}], **body}
    return json.dumps({"custom_id": name, "method": "POST", "url": CHAT, "body": body})


def stored(http: httpx.Client, *lines: str, **fields: Any) -> str:
    files = {"file": ("in.jsonl", "\n".join(lines).encode())}
    answer = http.post("/files", files=files, data={"purpose": "batch", **fields})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["id"])


def made(http: httpx.Client, file: str, **fields: Any) -> httpx.Response:
    body = {"input_file_id": file, "endpoint": CHAT, "completion_window": "24h", **fields}
    return http.post("/batches", json=body)


def ended(http: httpx.Client, id: str) -> Any:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        batch = http.get(f"/batches/{id}").json()
        if batch["status"] in ("completed", "failed", "cancelled", "expired"):
            return batch
        time.sleep(0.01)
    raise AssertionError("it did not end")


def test_requests_are_answered_as_if_they_were_sent(
    http: httpx.Client, engine: ScriptedEngine
) -> None:
    file = stored(http, request("a"), request("b", temperature=101), request("c", n=2))
    batch = ended(http, made(http, file, metadata={"k": "v"}).json()["id"])
    assert batch["status"] == "completed"
    assert batch["metadata"] == {"k": "v"}
    assert batch["request_counts"] == {"total": 3, "completed": 2, "failed": 1}
    text = http.get(f"/files/{batch['output_file_id']}/content").text
    lines = {line["custom_id"]: line for line in map(json.loads, text.splitlines())}
    direct = http.post("/chat/completions", json=json.loads(request("a"))["body"]).json()
    body = lines["a"]["response"]["body"]
    for each_body in (body, direct):
        del each_body["id"], each_body["created"]
    assert body == direct
    assert len(lines["c"]["response"]["body"]["choices"]) == 2
    assert lines["a"]["response"]["request_id"].startswith("req_")
    error = json.loads(http.get(f"/files/{batch['error_file_id']}/content").text)
    assert error["response"]["status_code"] == 400
    assert error["response"]["body"]["error"]["param"] == "temperature"
    services = {item.service for item in engine.requests[:-1]}
    assert services == {"batch"}
    assert engine.requests[-1].service != "batch"


def test_files(http: httpx.Client) -> None:
    first, second = stored(http, "1"), stored(http, "2")
    listed = http.get("/files", params={"limit": 1}).json()
    assert [file["id"] for file in listed["data"]] == [second]
    assert listed["has_more"] is True
    everything = http.get("/files", params={"order": "asc", "purpose": "batch"}).json()["data"]
    assert [file["id"] for file in everything] == [first, second]
    assert http.get("/files", params={"purpose": "other"}).json()["data"] == []
    card = http.get(f"/files/{first}").json()
    assert card.pop("created_at") > 0
    assert card == {
        "id": first,
        "object": "file",
        "filename": "in.jsonl",
        "purpose": "batch",
        "bytes": 1,
        "status": "processed",
        "status_details": None,
        "expires_at": None,
    }
    assert http.get(f"/files/{first}/content").content == b"1"
    gone = http.delete(f"/files/{first}").json()
    assert gone == {"id": first, "object": "file", "deleted": True}
    assert http.get(f"/files/{first}").status_code == 404
    assert http.get(f"/files/{first}/content").status_code == 404


@pytest.mark.parametrize(
    ("name", "data", "content", "status", "param"),
    [
        ("file", {"purpose": "fine-tune"}, b"x", 400, "purpose"),
        ("file", {}, b"x", 400, "purpose"),
        ("data", {"purpose": "batch"}, b"x", 400, "file"),
        ("file", {"purpose": "batch", "expires_after[seconds]": "9"}, b"x", 400, None),
        ("file", {"purpose": "batch"}, b"x" * 10_001, 413, None),
        ("file", {"purpose": "batch"}, b"x" * 200_000, 413, None),
    ],
)
def test_uploads_that_are_refused(
    http: httpx.Client,
    tmp_path: Path,
    name: str,
    data: Any,
    content: bytes,
    status: int,
    param: str | None,
) -> None:
    answer = http.post("/files", files={name: ("f", content)}, data=data)
    assert answer.status_code == status
    assert param in (None, answer.json()["error"]["param"])
    assert list((tmp_path / "batches" / "files").iterdir()) == []


def test_a_path_in_a_name_stays_a_name(http: httpx.Client, tmp_path: Path) -> None:
    files = {"file": ("../../../etc/x\\y.jsonl", b"1")}
    card = http.post("/files", files=files, data={"purpose": "batch"}).json()
    assert card["filename"] == "y.jsonl"
    stored_names = {path.name for path in (tmp_path / "batches" / "files").iterdir()}
    assert stored_names == {card["id"], f"{card['id']}.json"}
    for id in ("..%2Flock", "%2e%2e", "..%5Clock"):
        assert http.get(f"/files/{id}").status_code == 404


@pytest.mark.parametrize(
    ("change", "status", "param"),
    [
        ({"input_file_id": "file-none"}, 404, "input_file_id"),
        ({"input_file_id": None}, 400, "input_file_id"),
        ({"endpoint": "/v1/embeddings"}, 400, "endpoint"),
        ({"endpoint": None}, 400, "endpoint"),
        ({"completion_window": "1h"}, 400, "completion_window"),
        ({"metadata": {"a": 1}}, 400, "metadata.a"),
        ({"metadata": {str(n): "" for n in range(17)}}, 400, "metadata"),
        ({"output_expires_after": {}}, 400, "output_expires_after"),
    ],
)
def test_batches_that_are_refused(http: httpx.Client, change: Any, status: int, param: str) -> None:
    answer = made(http, stored(http, request("a")), **change)
    assert (answer.status_code, answer.json()["error"]["param"]) == (status, param)
    assert http.get("/batches").json()["data"] == []


def test_too_much_metadata_is_counted(http: httpx.Client) -> None:
    answer = made(http, stored(http, request("a")), metadata={str(n): "" for n in range(17)})
    message = answer.json()["error"]["message"]
    assert message == "metadata must have at most 16 members, not 17"


def test_batches_are_listed_and_end_once(http: httpx.Client, engine: ScriptedEngine) -> None:
    quick = engine.script
    engine.script = dataclasses.replace(quick, pause=PATIENCE)
    file = stored(http, *(request(f"r{n}") for n in range(8)))
    ids = [made(http, file).json()["id"]]
    wait_until(lambda: len(engine.requests) == 8)
    engine.script = quick
    ids += [made(http, file).json()["id"] for _ in range(2)]
    listed = http.get("/batches", params={"limit": 2}).json()
    assert ([batch["id"] for batch in listed["data"]], listed["has_more"]) == (ids[:0:-1], True)
    busy = http.delete(f"/files/{file}")
    assert (busy.status_code, busy.json()["error"]["code"]) == (400, "file_in_use")
    assert http.post(f"/batches/{ids[0]}/cancel").json()["status"] == "cancelling"
    assert [ended(http, id)["status"] for id in ids] == ["cancelled", "completed", "completed"]
    again = http.post(f"/batches/{ids[0]}/cancel")
    assert (again.status_code, again.json()["error"]["code"]) == (400, "batch_ended")
    assert http.post("/batches/none/cancel").status_code == 404
    assert http.delete(f"/files/{file}").status_code == 200
    assert not engine.running


def test_a_batch_goes_on_after_a_restart(engine: ScriptedEngine, tmp_path: Path) -> None:
    config = ServerConfig(batch_folder=tmp_path)
    engine.script = dataclasses.replace(engine.script, pause=0.3)
    with (
        live_server(create_app(cast(Any, engine), config)) as url,
        httpx.Client(base_url=f"{url}/v1", timeout=PATIENCE) as http,
    ):
        file = stored(http, *(request(f"r{n}") for n in range(300)))
        id = made(http, file).json()["id"]
        while http.get(f"/batches/{id}").json()["request_counts"]["completed"] == 0:
            time.sleep(0.01)
        with pytest.raises(InputError, match="another server uses"):
            create_app(cast(Any, engine), config)
    before = len(engine.requests)
    assert before < 300
    engine.script = dataclasses.replace(engine.script, pause=0.0)
    with (
        live_server(create_app(cast(Any, engine), config)) as url,
        httpx.Client(base_url=f"{url}/v1", timeout=PATIENCE) as http,
    ):
        batch = ended(http, id)
        assert batch["request_counts"] == {"total": 300, "completed": 300, "failed": 0}
        text = http.get(f"/files/{batch['output_file_id']}/content").text
    names = [json.loads(line)["custom_id"] for line in text.splitlines()]
    assert sorted(names) == sorted(f"r{n}" for n in range(300))


def test_keys_have_their_own_files_rates_and_classes(
    engine: ScriptedEngine, tmp_path: Path
) -> None:
    """A batch counts against the key that has made it."""
    keys = KeyRing(
        [
            ApiKey("alice", digest_of("a-key"), requests_per_minute=6, classes=("interactive",)),
            ApiKey("bob", digest_of("b-key")),
        ]
    )
    config = ServerConfig(batch_folder=tmp_path, keys=keys)
    with live_server(create_app(cast(Any, engine), config)) as url:
        alice, bob = (
            httpx.Client(
                base_url=f"{url}/v1",
                headers={"authorization": f"Bearer {key}"},
                timeout=PATIENCE,
            )
            for key in ("a-key", "b-key")
        )
        with alice, bob:
            assert httpx.get(f"{url}/v1/files").status_code == 401
            file = stored(alice, request("x"), request("y"))
            assert made(bob, file).status_code == 404
            assert bob.get("/files").json()["data"] == []
            before = int(limit_left(alice))
            batch = ended(alice, made(alice, file).json()["id"])
            assert batch["request_counts"] == {"total": 2, "completed": 2, "failed": 0}
            assert bob.get(f"/batches/{batch['id']}").status_code == 404
            assert bob.get(f"/files/{batch['output_file_id']}/content").status_code == 404
            assert alice.get(f"/files/{batch['output_file_id']}/content").status_code == 200
            assert {item.service for item in engine.requests} == {"interactive"}
            # The batch, its two requests, and the request that asks.
            assert before - int(limit_left(alice)) in (3, 4)  # one comes back in ten seconds
            ended(bob, made(bob, stored(bob, request("z"))).json()["id"])
            assert engine.requests[-1].service == "batch"


def limit_left(http: httpx.Client) -> str:
    """How many requests a key has left in this minute; asking takes one."""
    answer = http.post("/chat/completions", json={})
    return answer.headers["x-ratelimit-remaining-requests"]


def test_without_a_folder_it_says_how_to_get_one(client: Client) -> None:
    for method, path in (("GET", "/v1/files"), ("POST", "/batches"), ("GET", "/v1/batches/x")):
        answer = client.call(method, path)
        assert answer.status_code == 404
        assert answer.json()["error"]["code"] == "batches_off"
        assert "--batch-folder" in answer.json()["error"]["message"]


def test_a_wrong_method_is_told_all_that_a_path_answers(http: httpx.Client) -> None:
    for path, methods in (("/files", "GET, POST"), ("/files/x", "DELETE, GET")):
        answer = http.put(path)
        assert (answer.status_code, answer.headers["allow"]) == (405, methods)


def test_a_folder_that_cannot_be_used(engine: ScriptedEngine, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"can't use .*: it is a file; name a folder"):
        create_app(cast(Any, engine), ServerConfig(batch_folder=tmp_path / "file"))


def test_a_request_keeps_the_class_that_it_names() -> None:
    assert with_service({"n": 1}) == {"n": 1, "maskwright": {"service": "batch"}}
    own = {"maskwright": {"service": "agent", "trace": True}}
    assert with_service(own) == own
    assert with_service({"maskwright": 3}) == {"maskwright": 3}
