"""What every endpoint says of every field with many values, as the table beside this file has it.

A change of a word, a place or a code is seen as a change of a line in it. After a change that is
wanted: `python -m tests.server.request.test_pinned_refusals` writes the file anew."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from maskwright.errors import InputError
from maskwright.server.guarantees.explain_route import parse_explain_request
from maskwright.server.shapes import DrawRequest, SampleRequest
from maskwright.server.token_routes import DetokenizeRequest, parse_tokenize_request
from tests.server.openapi.test_request_schemas import (
    BESIDE,
    MESSAGES,
    MODELS,
    REQUESTS,
    SHAPE,
    Parse,
    special,
)

FILE: Final = Path(__file__).with_name("refusals.tsv")
VALUES: Final[tuple[Any, ...]] = (
    *(True, -1, 1.5, 10**20, "", "a", [], ["a", 1], [1, "a"], [[1], 1], {"type": 1}),
    *("x" * 1001, ["a"] * 65),
)
OTHERS: Final[dict[str, tuple[Parse, dict[str, Any], tuple[str, ...]]]] = {
    "explain": (
        parse_explain_request,
        {"regex": "a", "text": ""},
        ("text", "tokens", "shown", "why", "candidates", "maskwright", "id", "other"),
    ),
    "tokenize text": (
        parse_tokenize_request,
        {"prompt": "a"},
        ("prompt", "add_special_tokens", "return_token_strs"),
    ),
    "tokenize content": (
        parse_tokenize_request,
        {"content": "a"},
        ("content", "add_special", "with_pieces"),
    ),
    "tokenize chat": (parse_tokenize_request, {"messages": MESSAGES}, ("messages", "documents")),
    "detokenize": (DetokenizeRequest.read, {"tokens": []}, ("tokens", "skip_special_tokens")),
    "sample": (SampleRequest.read, SHAPE, ("shape", "kind", "which", "count", "seed", "other")),
    "draw": (DrawRequest.read, SHAPE, ("as",)),
}


def cases() -> Iterator[tuple[str, Parse, dict[str, Any], str, Any]]:
    """Each endpoint with its reader, a body, and a field of the body with its value."""
    for name, (parse, least) in REQUESTS.items():
        for field in sorted(MODELS[name].obeyed):
            for value in (*VALUES, *special(name, field)):
                beside = {
                    other: given
                    for other, given in BESIDE.get(field, {}).items()
                    if other in MODELS[name].obeyed
                }
                yield name, parse, {**least, **beside, field: value}, field, value
    for name, (parse, least, fields) in OTHERS.items():
        for field in fields:
            for value in VALUES:
                yield name, parse, {**least, field: value}, field, value


def said() -> Iterator[str]:
    """The lines of the file: field, value, endpoints, place, code and message of each refusal."""
    found: dict[tuple[str, ...], list[str]] = {}
    for endpoint, parse, body, field, value in cases():
        try:
            parse(body)
        except InputError as error:
            written = json.dumps(value, ensure_ascii=False)
            shown = written if len(written) <= 80 else f"{written[:80]}… ({len(written)})"
            key = (field, shown, str(error.param), error.code, error.message)
            endpoints = found.setdefault(key, [])
            if endpoint not in endpoints:
                endpoints.append(endpoint)
    for (field, shown, *refusal), endpoints in sorted(found.items()):
        yield "\t".join((field, shown, ", ".join(endpoints), *refusal))


def test_refusals_are_those_of_the_file() -> None:
    pinned, now = FILE.read_text().splitlines(), list(said())
    assert len(now) > 1500
    assert set(now) - set(pinned) == set()
    assert set(pinned) - set(now) == set()


if __name__ == "__main__":
    FILE.write_text("\n".join(said()) + "\n")
