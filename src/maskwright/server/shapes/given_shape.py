"""The text of a shape, as in a file, as the shape of a request."""

from __future__ import annotations

from typing import NamedTuple, cast

from maskwright.errors import InputError
from maskwright.server.request.fields import Fields, missing
from maskwright.server.request.shape import FreeText, Shape, parse_shape
from maskwright.server.request.tool_use import ToolUse, parse_tool_use
from maskwright.workbench.live.faults import JSON_KINDS, KINDS, ShapeKind, read_json_shape


class GivenShape(NamedTuple):
    """The text of a shape and its kind."""

    text: str
    kind: ShapeKind

    def read(self) -> tuple[Shape, ToolUse | None]:
        """The shape, and the tools of which one has to be called. Raises InputError for a fault of
        the shape; `GrammarError` for what should be JSON and isn't."""
        body = Fields(self.fields())
        shape, use = parse_shape(body), parse_tool_use(body)
        if isinstance(shape, FreeText) and use is None:
            raise InputError("there is no tool in the list", param="tools")
        return shape, use

    def fields(self) -> dict[str, object]:
        """The fields of a request for an answer of this shape."""
        value = read_json_shape(self.text) if self.kind in JSON_KINDS else None
        match self.kind:
            case "schema":
                return {"guided_json": value}
            case "regex":
                return {"response_format": {"type": "regex", "regex": self.text}}
            case "structural_tag":
                return {"structural_tag": value}
            case "tools":
                return {"tools": value, "tool_choice": "required"}
            case _:
                format = {"type": "grammar", "grammar": self.text, "syntax": self.kind}
                return {"response_format": format}


def given_shape(body: Fields) -> GivenShape:
    """Read the fields `shape` and `kind`. Raises InputError."""
    text, kind = body.string("shape"), body.choice("kind", KINDS)
    if text is None:
        raise missing(body.at("shape"))
    if kind is None:
        raise missing(body.at("kind"))
    return GivenShape(text, cast(ShapeKind, kind))
