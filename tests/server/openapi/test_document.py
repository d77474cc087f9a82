"""The document: its form, and that it is about the routes that the server has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from jsonschema import Draft202012Validator
from starlette.requests import Request
from starlette.responses import Response

from maskwright.server.access import ApiKey, KeyRing
from maskwright.server.config import ServerConfig
from maskwright.server.openapi.document import CODES, document, operations, schemas
from maskwright.server.route import Endpoint
from tests.server.scripted import Client

API = Path(__file__).resolve().parents[3] / "docs" / "api.md"
METHODS = {"get", "head", "post", "delete"}


def read(client: Client) -> dict[str, Any]:
    response = client.call("GET", "/openapi.json")
    assert response.headers["content-type"] == "application/json"
    return response.json()


def nodes(value: Any) -> Iterator[dict[str, Any]]:
    """All objects in a JSON value."""
    if isinstance(value, dict):
        yield value
        for member in value.values():
            yield from nodes(member)
    if isinstance(value, list):
        for item in value:
            yield from nodes(item)


@pytest.fixture(params=[False, True], ids=["no batches", "batches"])
def serving(request: pytest.FixtureRequest, client: Client, tmp_path: Path) -> Client:
    """A client of a server with and without a folder for batches."""
    client.config = ServerConfig(batch_folder=tmp_path / "batches" if request.param else None)
    return client


def test_the_routes_are_those_of_the_application(serving: Client) -> None:
    paths = read(serving)["paths"]
    described = {(method.upper(), path) for path, item in paths.items() for method in item}
    routes = set[tuple[str, str]]()
    for route in serving.app().routes:
        assert isinstance(route, Endpoint)
        path = route.path.replace(":path}", "}")
        path = "/pages/{page}/{file}" if path.startswith("/pages/") else path
        routes |= {(method, path) for method in route.methods}
    assert described == routes
    known = operations(has_batches=serving.config.batch_folder is not None)
    assert {(method, path.removeprefix("/v1")) for method, path in routes} == known.keys()


def test_the_form_is_that_of_openapi_3_1(serving: Client) -> None:
    whole = read(serving)
    assert whole["openapi"] == "3.1.0"
    assert {"title", "version"} <= whole["info"].keys()
    ids = list[str]()
    for path, item in whole["paths"].items():
        assert item.keys() <= METHODS
        for method, operation in item.items():
            ids.append(operation["operationId"])
            assert operation["responses"], (method, path)
            parameters = operation.get("parameters", [])
            inside = [each["name"] for each in parameters if each["in"] == "path"]
            assert inside == re.findall(r"\{(\w+)\}", path)
            for response in operation["responses"].values():
                assert "$ref" in response or response["description"]
    assert len(set(ids)) == len(ids)


def test_every_reference_leads_somewhere_and_nothing_is_unused(serving: Client) -> None:
    whole = read(serving)
    named = {node["$ref"] for node in nodes(whole) if isinstance(node.get("$ref"), str)}
    for pointer in named:
        found: Any = whole
        for name in pointer.removeprefix("#/").split("/"):
            found = found[name]
    components = {
        f"#/components/{kind}/{name}"
        for kind in ("schemas", "headers")
        for name in whole["components"][kind]
    }
    assert components <= named


def test_every_schema_is_one() -> None:
    for name, schema in schemas().items():
        assert isinstance(schema, dict), name
        Draft202012Validator.check_schema(cast(Any, schema))


def test_the_codes_of_errors_are_those_of_the_reference() -> None:
    page = API.read_text().partition("## Errors")[2]
    documented = set[tuple[int, str]]()
    for row in re.findall(r"^\| (\d[\d, ]*) \|[^|]*\|([^|]*)\|", page, re.MULTILINE):
        statuses = [int(status) for status in row[0].split(",")]
        codes = re.findall(r"`([a-z_]+)`", row[1])
        documented |= {(status, code) for status in statuses[:1] for code in codes}
    raised = {(status, code) for status, codes in CODES.items() for code in codes}
    raised.discard((405, "method_not_allowed"))
    documented.discard((404, "method_not_allowed"))  # one row is about both
    documented.discard((401, "invalid_handoff_key"))  # told to other servers, not to clients
    assert raised == documented


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/responses", "/v1/messages"])
def test_a_stream_is_described_by_its_events(client: Client, path: str) -> None:
    operation = read(client)["paths"][path]["post"]
    schema = operation["responses"]["200"]["content"]["text/event-stream"]["schema"]
    examples = operation["requestBody"]["content"]["application/json"]["examples"]
    stream = client.call("POST", path, json={**examples["text"]["value"], "stream": True})
    for block in stream.text.strip().split("\n\n"):
        event = dict(line.split(": ", 1) for line in block.splitlines())
        Draft202012Validator(schema).validate(event)
        assert event.keys() == schema["properties"].keys() == set(schema["required"])


def test_keys_are_described_where_there_are_some(client: Client) -> None:
    assert "security" not in read(client)
    client.config = ServerConfig(keys=KeyRing([ApiKey("a", "0" * 64)]))
    whole = read(client)
    [name] = whole["components"]["securitySchemes"]
    assert whole["security"] == [{name: []}]
    for path, item in whole["paths"].items():
        for method, operation in item.items():
            concrete = path.replace("{page}/{file}", "playground/app.js")
            answer = client.call(method.upper(), re.sub(r"\{\w+\}", "x", concrete))
            needs_key = operation.get("security") != []
            assert (answer.status_code == 401) == needs_key, (method, path)
            assert ("401" in operation["responses"]) == needs_key


def test_open_metrics_need_no_key(client: Client) -> None:
    client.config = ServerConfig(keys=KeyRing([ApiKey("a", "0" * 64)]), open_metrics=True)
    paths = read(client)["paths"]
    assert paths["/metrics"]["get"]["security"] == []
    assert "security" not in paths["/load"]["get"]


def test_a_client_that_has_the_document_is_told_so(client: Client) -> None:
    first = client.call("GET", "/openapi.json")
    again = client.call("GET", "/openapi.json", headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert client.call("HEAD", "/openapi.json").status_code == 200


def test_a_route_that_is_not_described_is_found(client: Client) -> None:
    async def answer(_: Request) -> Response:
        return Response()

    app = client.app()
    app.routes.append(Endpoint("/v1/other", answer, ["GET"]))
    with pytest.raises(KeyError, match="/other"):
        document(app.routes, has_keys=False, has_batches=False, open_metrics=False)
