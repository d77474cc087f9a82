"""OpenAI's OpenAPI document, of the endpoints that the server has.

llama-stack's source archive contains the document (version 2.3.0, MIT), so it is taken from there.
It differs from what OpenAI's service answers, as the document's own examples show: optional members
may be null. In addition it leaves out custom tools in streams, nulls in streams of completions, and
that a file's content has its own media type; it bounds the temperature that a response repeats by
2, where this server takes up to 100; what it says of a stream is meant of the data of each event,
not of the event as a whole (test_schemathesis_openai.py reads streams so).
`requested` is the document with these corrections.
"""

from __future__ import annotations

import copy
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

yaml: Any = pytest.importorskip("yaml")

SOURCE = "llama-stack==0.7.3"
NAME = "openai-spec-2.3.0.yml"
SERVED = {
    "/chat/completions": ("post",),
    "/completions": ("post",),
    "/responses": ("post",),
    "/models": ("get",),
    "/models/{model}": ("get",),
    "/files": ("get", "post"),
    "/files/{file_id}": ("get", "delete"),
    "/files/{file_id}/content": ("get",),
    "/batches": ("get", "post"),
    "/batches/{batch_id}": ("get",),
    "/batches/{batch_id}/cancel": ("post",),
}
STREAMED = ("/chat/completions", "/completions", "/responses")
ALSO = ("ErrorResponse",)
"""Schemas that no operation of the document names."""


def read(folder: Path) -> dict[str, Any]:
    """Return the whole document, which is kept in the environment once it has been fetched."""
    kept = Path(sys.prefix) / NAME
    if not kept.exists():
        fetch(folder, kept)
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load(kept.read_bytes(), Loader=loader)


def fetch(folder: Path, kept: Path) -> None:
    """Fetch the source archive into `folder`, and write the document to `kept`."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
    python = ["--python-version", "3.12", "--ignore-requires-python", "--dest", str(folder)]
    subprocess.run([*pip, *python, SOURCE], check=True)
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as files:
        (member,) = (one for one in files.getmembers() if one.name.endswith(f"/{NAME}"))
        found = files.extractfile(member)
        assert found is not None
        kept.write_bytes(found.read())


def requested(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document of the endpoints in `SERVED`, with the corrections above."""
    paths = {
        path: {key: one for key, one in document["paths"][path].items() if key in methods}
        for path, methods in SERVED.items()
    }
    content = paths["/files/{file_id}/content"]["get"]["responses"]["200"]["content"]
    content["application/octet-stream"] = {}
    schemas: dict[str, Any] = {}
    _collect(
        [paths, [{"$ref": f"#/components/schemas/{name}"} for name in ALSO]], document, schemas
    )
    _correct(schemas)
    for path in STREAMED:
        paths[path]["post"]["responses"]["200"]["content"]["text/event-stream"] = {}
    return {
        "openapi": document["openapi"],
        "info": {"title": document["info"]["title"], "version": document["info"]["version"]},
        "paths": _plain(paths),
        "components": {"schemas": {name: _plain(schema) for name, schema in schemas.items()}},
    }


def _collect(node: Any, document: dict[str, Any], schemas: dict[str, Any]) -> None:
    """Add all schemas to which `node` refers, directly or not."""
    if isinstance(node, list):
        for each in node:
            _collect(each, document, schemas)
    elif isinstance(node, dict):
        name = str(node.get("$ref", "")).removeprefix("#/components/schemas/")
        if name in document["components"]["schemas"] and name not in schemas:
            schemas[name] = copy.deepcopy(document["components"]["schemas"][name])
            _collect(schemas[name], document, schemas)
        for key, each in node.items():
            if key != "x-oaiMeta":
                _collect(each, document, schemas)


def _correct(schemas: dict[str, Any]) -> None:
    choice = schemas["CreateCompletionResponse"]["properties"]["choices"]["items"]["properties"]
    choice["finish_reason"]["nullable"] = True
    scores = choice["logprobs"]["anyOf"][0]["properties"]
    for name in ("token_logprobs", "top_logprobs"):
        scores[name]["items"]["nullable"] = True
    [temperature, _] = schemas["ModelResponseProperties"]["properties"]["temperature"]["anyOf"]
    temperature["maximum"] = 100
    call = schemas["ChatCompletionMessageToolCallChunk"]["properties"]
    call["type"]["enum"].append("custom")


def _plain(node: Any, *, names: bool = False) -> Any:
    """Return a part of the document as a schema of today, in which null is an alternative where
    the part is marked so, and of each optional property. `names`: its keys are no keywords."""
    if isinstance(node, list):
        return [_plain(each) for each in node]
    if not isinstance(node, dict):
        return node
    if names:
        return {key: _plain(each) for key, each in node.items()}
    plain = {
        key: _plain(each, names=key in ("properties", "schemas"))
        for key, each in node.items()
        if key not in ("x-oaiMeta", "nullable")
    }
    properties = plain.get("properties", {})
    optional = properties.keys() - set(plain.get("required", ())) if properties else ()
    for key in optional:
        properties[key] = {"anyOf": [properties[key], {"type": "null"}]}
    return {"anyOf": [plain, {"type": "null"}]} if node.get("nullable") is True else plain
