"""The endpoints about shapes themselves: whether one can be used, texts of it, and the examples,
which are the shapes that ship with the package, with a text of each grammar.
"""

from __future__ import annotations

import asyncio
import dataclasses
import tomllib
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Annotated, Final, NamedTuple

from pydantic import Field
from starlette.requests import Request
from starlette.responses import JSONResponse

from maskwright.errors import InputError
from maskwright.immutable import Immutable
from maskwright.limits import DEFAULT_LIMITS, Work
from maskwright.processes import Build, GrammarProcesses, Inquiry
from maskwright.server.json import Json
from maskwright.server.recipes import Recipes
from maskwright.server.request.body import read_as
from maskwright.server.request.model import Between, ClosedModel
from maskwright.server.request.shape import FormattedShapeFields, FreeText, Shape
from maskwright.server.request.tool_use import ToolFields, ToolUse
from maskwright.server.route import until_disconnect
from maskwright.shipped import shipped
from maskwright.vocab import Vocabulary
from maskwright.workbench.choices import PictureName, Which
from maskwright.workbench.questions import (
    JSON_KINDS,
    ShapeKind,
    checked,
    drawn,
    fault_of,
    read_json_shape,
    sampled,
    unusable,
)

MOST_TEXTS: Final = 100
LARGEST_SEED: Final = (1 << 63) - 1


class ShapeAndTools(FormattedShapeFields, ToolFields):
    """The fields of a request for an answer of a shape."""


class GivenShape(ClosedModel):
    """The text of a shape, and its kind."""

    shape: str = Field(description="The text of the shape, as in a file.")
    kind: ShapeKind

    def read_shape(self) -> tuple[Shape, ToolUse | None]:
        """Return the shape, and the tools, one of them to be called. Raises InputError for a
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


class Example(NamedTuple):
    """A shape by its name. `accepted` and `rejected` are texts that were written for it."""

    name: str
    kind: str
    shape: str
    accepted: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()


def examples() -> list[Json]:
    """All of them, the schemas first, each kind in alphabetical order."""
    return [each._asdict() for each in _shipped()]


@cache
def _shipped() -> tuple[Example, ...]:
    found = [
        Example(each.name, "schema", each.file.read_text(encoding="utf-8"))
        for each in shipped("schema").values()
    ]
    for each in shipped("grammar").values():
        texts = tomllib.loads(each.cases.read_text(encoding="utf-8"))
        shape = each.file.read_text(encoding="utf-8")
        of_it = tuple(texts["accepted"]), tuple(texts["rejected"])
        found.append(Example(each.name, "lark", shape, *of_it))
    return tuple(found)


_HERE: Final = dataclasses.replace(DEFAULT_LIMITS, work=1 << 60, seconds=10.0)
"""The limits of an answer without grammar processes; its parts have limits besides."""


class Inquirer:
    """Has inquiries about shapes answered for the vocabulary of one model: by grammar processes, or
    where there are none in a thread of this process. There is one thread, for which what is kept of
    grammars is made."""

    def __init__(self, vocabulary: Vocabulary, processes: GrammarProcesses | None) -> None:
        self._vocabulary = vocabulary
        self._processes = processes
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="shapes")

    async def answer(self, inquiry: Inquiry, *, kept: bool) -> Json:
        """Return the answer. `kept`: as `GrammarProcesses.inquire` takes it."""
        if self._processes is not None:
            return await asyncio.wrap_future(self._processes.inquire(inquiry, kept=kept))
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._here, inquiry)

    def _here(self, inquiry: Inquiry) -> Json:
        with Work(_HERE):
            return inquiry(self._vocabulary)


class ShapeRoutes(Immutable):
    """Answers for the vocabulary of one model. `body_bytes`: upper bound on the bytes of a request
    body."""

    recipes: Recipes
    inquirer: Inquirer
    body_bytes: int

    async def check(self, http: Request) -> JSONResponse:
        """Say whether a shape can be used; what is wrong with it is the answer, and no error of the
        request."""
        given = await read_as(http, self.body_bytes, CheckRequest.read)
        try:
            inquiry = Inquiry(checked, (self._build(given), given.shape, given.kind))
            found = await self._found(http, inquiry)
        except InputError as error:
            found = unusable(fault_of(error, given.shape, given.kind))
        return JSONResponse(found)

    async def sample(self, http: Request) -> JSONResponse:
        """Return texts of a shape."""
        given = await read_as(http, self.body_bytes, SampleRequest.read)
        of_schema = given.kind == "schema"
        asked = self._build(given), given.which, given.count, given.seed, of_schema
        inquiry = Inquiry(sampled, asked)
        return JSONResponse(await self._found(http, inquiry))

    async def draw(self, http: Request) -> JSONResponse:
        """Return a picture of a shape as SVG."""
        given = await read_as(http, self.body_bytes, DrawRequest.read)
        given.read_shape()  # for its faults, which are the same at every endpoint
        inquiry = Inquiry(drawn, (given.shape, given.kind, given.as_))
        return JSONResponse(await self._found(http, inquiry))

    async def examples(self, _: Request) -> JSONResponse:
        """Return the schemas and grammars that ship with the package."""
        return JSONResponse({"examples": examples()})

    def _build(self, given: GivenShape) -> Build:
        shape, use = given.read_shape()
        recipe = self.recipes.of(shape, use)
        assert recipe is not None, "there is a shape or a tool"
        return recipe.build

    async def _found(self, http: Request, inquiry: Inquiry) -> Json:
        return await until_disconnect(http.receive, self.inquirer.answer(inquiry, kept=True))
