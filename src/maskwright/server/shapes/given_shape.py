"""The text of a shape, as in a file, as the shape of a request."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from maskwright.errors import InputError
from maskwright.server.json import Json
from maskwright.server.request.model import Between, ClosedModel
from maskwright.server.request.shape import FreeText, Shape
from maskwright.server.request.shape_fields import FormattedShapeFields
from maskwright.server.request.tool_use import ToolFields, ToolUse
from maskwright.workbench.choices import PictureName
from maskwright.workbench.live.faults import JSON_KINDS, ShapeKind, read_json_shape
from maskwright.workbench.live.questions import Which

MOST_TEXTS: Final = 100
LARGEST_SEED: Final = (1 << 63) - 1


class ShapeAndTools(FormattedShapeFields, ToolFields):
    """The fields of a request for an answer of a shape."""


class GivenShape(ClosedModel):
    """The text of a shape, and its kind."""

    shape: str = Field(description="The text of the shape, as in a file.")
    kind: ShapeKind

    def read_shape(self) -> tuple[Shape, ToolUse | None]:
        """Return the shape, and the tools of which one has to be called. Raises InputError for a
        fault of the shape; `GrammarError` for what should be JSON and isn't."""
        asked = ShapeAndTools.read(self.fields())
        shape, use = asked.shape(), asked.tool_use()
        if isinstance(shape, FreeText) and use is None:
            raise InputError("there is no tool in the list", param="tools")
        return shape, use

    def fields(self) -> Json:
        """Return the fields of a request for an answer of this shape."""
        value = read_json_shape(self.shape) if self.kind in JSON_KINDS else None
        match self.kind:
            case "schema":
                return {"guided_json": value}
            case "regex":
                return {"response_format": {"type": "regex", "regex": self.shape}}
            case "structural_tag":
                return {"structural_tag": value}
            case "tools":
                return {"tools": value, "tool_choice": "required"}
            case _:
                format = {"type": "grammar", "grammar": self.shape, "syntax": self.kind}
                return {"response_format": format}


class CheckRequest(GivenShape):
    """Whether a shape can be used."""


class SampleRequest(GivenShape):
    """Texts of a shape."""

    which: Which = "random"
    count: Annotated[int, Between(1, MOST_TEXTS)] = 1
    seed: Annotated[int, Between(0, LARGEST_SEED)] = 0


class DrawRequest(GivenShape):
    """A picture of a shape."""

    as_: PictureName = Field(default="railroad", alias="as")
