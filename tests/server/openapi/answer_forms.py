"""Whether a body has the form that the document says, and no field besides."""

from __future__ import annotations

import json
from functools import cache
from typing import Any, cast

from jsonschema import Draft202012Validator

from maskwright.server.openapi.document import schemas


def closed(schema: Any) -> Any:
    """The schema without fields that it doesn't list: clients have to expect new ones, and this
    server sends none that are not in the document."""
    if isinstance(schema, list):
        return [closed(each) for each in cast(list[Any], schema)]
    if not isinstance(schema, dict):
        return schema
    copied = {name: closed(each) for name, each in cast(dict[str, Any], schema).items()}
    if copied.get("properties"):
        copied.setdefault("additionalProperties", False)
    return copied


SCHEMAS: Any = {name: closed(schema) for name, schema in schemas().items()}
"""The schemas of the document, closed."""


def check_form(schema: Any, value: Any) -> None:
    """Raises ValidationError if a value is not as a schema of the document says, or has fields that
    the document doesn't list."""
    _validator(json.dumps(schema)).validate(value)


@cache
def _validator(schema: str) -> Draft202012Validator:
    whole = {**closed(json.loads(schema)), "components": {"schemas": SCHEMAS}}
    return Draft202012Validator(whole)
