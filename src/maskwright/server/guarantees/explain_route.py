"""The endpoint that explains: what may follow a text of a shape, why a text isn't allowed, and how
the tokens of an answer were chosen. Its body is a shape and a text so far, or the id of an answer.
"""

from __future__ import annotations

from typing import Annotated, Any, Final

from msgspec.structs import replace
from pydantic import ConfigDict, Field
from starlette.requests import Request
from starlette.responses import JSONResponse

from maskwright.errors import InputError
from maskwright.grammar.schema.options import AdditionalProperties, Numbers
from maskwright.immutable import Immutable
from maskwright.mask import compile_json_schema, compile_tools
from maskwright.processes import Build, Inquiry
from maskwright.server.errors import HttpError
from maskwright.server.exchange import exchange_of
from maskwright.server.guarantees.records import SECONDS, Records
from maskwright.server.json import Json
from maskwright.server.recipes import Recipe, Recipes
from maskwright.server.request.body import read_as
from maskwright.server.request.model import (
    Between,
    ClosedModel,
    IdArray,
    check_tokens,
    described,
    needs,
)
from maskwright.server.request.shape import FormattedShapeFields, FreeText, Shape
from maskwright.server.request.tool_use import FunctionFields, ToolUse
from maskwright.server.route import until_disconnect
from maskwright.server.shapes import Inquirer
from maskwright.vocab import Vocabulary
from maskwright.workbench.explanation import ExplainedText, explained
from maskwright.workbench.schema.tool_variants import ToolVariants
from maskwright.workbench.schema.variants import SchemaVariants, Variants

SHOWN: Final = 24
"""Tokens that are listed by default."""
MOST_SHOWN: Final = 1000
MOST_BYTES: Final = 1 << 20
"""Bytes of a text that are explained, or its tokens. Finding reasons reads it again and again."""
MOST_CHOICES: Final = 1 << 20


class ExplainAnswerRequest(ClosedModel):
    """The id of an answer."""

    id: str
    choice: Annotated[int, Between(0, MOST_CHOICES)] = 0
    model: Any = None


class ExplainSettings(ClosedModel):
    """How the shape is read."""

    additional_properties: AdditionalProperties | None = None
    numbers: Numbers | None = None


class ExplainTextRequest(FormattedShapeFields, FunctionFields, ClosedModel):
    """A shape and a text so far, or its tokens."""

    model_config = ConfigDict(json_schema_extra=needs("text", "tokens", exactly_one=True))

    text: str | None = Field(default=None, json_schema_extra={"maxLength": MOST_BYTES})
    tokens: Annotated[tuple[int, ...], IdArray()] | None = None
    shown: Annotated[int, Between(0, MOST_SHOWN)] = described(SHOWN, "How many tokens are listed.")
    why: bool = described(True, "Whether reasons are searched.")
    candidates: Annotated[tuple[int, ...], IdArray()] = ()
    model: Any = None
    maskwright: ExplainSettings = ExplainSettings()

    def asked(self) -> TextToExplain:
        """Return what is asked for. Raises InputError."""
        shape, use = self.shape(), self.tool_use()
        if isinstance(shape, FreeText) and (use is None or not use.constrains):
            raise InputError(
                "there is nothing to explain: send a shape, as in a request for an answer, tools "
                "that may be called, or the id of an answer",
                param="response_format",
                code="missing_required_parameter",
            )
        if self.tokens is not None and self.text is not None:
            raise InputError("text and tokens exclude each other", param="tokens")
        if self.tokens is None and self.text is None:
            raise InputError(
                "text or tokens are required: what has been written so far, empty at the beginning",
                param="text",
                code="missing_required_parameter",
            )
        _check_length(self.text or "", self.tokens)
        return TextToExplain(self, shape, use)


class TextToExplain(Immutable):
    """A request about a text, with its shape and its tools, which are read together with it."""

    request: ExplainTextRequest
    shape: Shape
    tool_use: ToolUse | None


def parse_explain_request(tree: Json) -> TextToExplain | ExplainAnswerRequest:
    """Read a body. Raises InputError, whose `param` is the dotted path of the first wrong field."""
    if tree.get("id") is not None:
        return ExplainAnswerRequest.read(tree)
    return ExplainTextRequest.read(tree).asked()


def _check_length(text: str, tokens: tuple[int, ...] | None) -> None:
    """Refuse a text that is too long to be explained. Raises InputError."""
    param, unit, length = "text", "bytes", len(text.encode(errors="replace"))
    if tokens is not None:
        param, unit, length = "tokens", "tokens", len(tokens)
    if length > MOST_BYTES:
        raise InputError(
            f"{param} has {length:,} {unit}, and at most {MOST_BYTES:,} are explained; "
            "'maskwright match' on the command line reads texts of any length",
            param=param,
        )


class ExplainRoute(Immutable):
    """Explains for one model. `body_bytes`: upper bound on the bytes of a request body."""

    vocabulary: Vocabulary
    recipes: Recipes
    records: Records
    inquirer: Inquirer
    body_bytes: int

    async def explain(self, http: Request) -> JSONResponse:
        exchange = exchange_of(http.scope)
        match await read_as(http, self.body_bytes, parse_explain_request):
            case ExplainAnswerRequest(id=id, choice=choice):
                return JSONResponse(self._answer(exchange.key, id, choice))
            case TextToExplain() as asked:
                recipe = self._recipe(asked)
                exchange.shape = recipe.kind
                return JSONResponse(await until_disconnect(http.receive, self._text(asked, recipe)))

    def _answer(self, key: str | None, id: str, choice: int) -> Json:
        body = self.records.explained(key, id, choice)
        if body is None:
            raise HttpError(
                404,
                f"no answer with this id and choice is kept: only answers to requests with "
                f'"maskwright": {{"explain": true}} are, for {SECONDS / 60:g} minutes at most',
                code="not_found",
                param="id",
            )
        return body

    def _recipe(self, asked: TextToExplain) -> Recipe:
        given = asked.request
        check_tokens("tokens", given.tokens or (), self.vocabulary.size)
        check_tokens("candidates", given.candidates, self.vocabulary.size)
        recipes, own = self.recipes, given.maskwright
        if own.additional_properties is not None:
            recipes = replace(recipes, additional_properties=own.additional_properties)
        if own.numbers is not None:
            recipes = replace(recipes, numbers=own.numbers)
        recipe = recipes.of(asked.shape, asked.tool_use)
        assert recipe is not None, "the request has a shape"
        return recipe

    async def _text(self, asked: TextToExplain, recipe: Recipe) -> Json:
        build, given = recipe.build, asked.request
        question = ExplainedText(
            given.text or "",
            given.tokens,
            given.shown,
            _variants(build),
            given.why,
            given.candidates,
        )
        inquiry = Inquiry(explained, (build, question))
        try:
            return await self.inquirer.answer(inquiry, kept=not given.why)
        except Exception as error:
            recipe.name_place(error)
            raise


def _variants(build: Build) -> Variants | None:
    """Return the shape with its schemas, in which reasons are searched; None if it has none."""
    if build.compile is compile_json_schema:
        (schema,) = build.given
        return SchemaVariants(schema, build.options)
    if build.compile is compile_tools:
        tools, choice = build.given
        return ToolVariants(tools, choice, build.options)
    return None
