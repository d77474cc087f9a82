"""The endpoint that explains: what may follow a text of a shape, why a text isn't allowed, and how
the tokens of an answer were chosen."""

from __future__ import annotations

import asyncio
import dataclasses
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from starlette.requests import Request
from starlette.responses import JSONResponse

from maskwright.errors import InputError
from maskwright.limits import DEFAULT_LIMITS, Work
from maskwright.mask import compile_json_schema, compile_tools
from maskwright.processes import Build, GrammarProcesses, Inquiry
from maskwright.server.disconnect import until_disconnect
from maskwright.server.errors import HttpError
from maskwright.server.exchange import exchange_of
from maskwright.server.grammars.recipes import Recipe, Recipes
from maskwright.server.guarantees.records import SECONDS, Records
from maskwright.server.json import Json
from maskwright.server.request.body import read_as
from maskwright.server.request.explain_request import (
    AnswerToExplain,
    TextToExplain,
    parse_explain_request,
)
from maskwright.vocab import Vocabulary
from maskwright.workbench.explanation import ExplainedText, explained
from maskwright.workbench.schema.tool_variants import ToolVariants
from maskwright.workbench.schema.variants import SchemaVariants, Variants

_HERE: Final = dataclasses.replace(DEFAULT_LIMITS, work=1 << 60, seconds=10.0)
"""The limits of an explanation without grammar processes; its parts have limits besides."""


class ExplainRoute:
    """Explains for one model."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        recipes: Recipes,
        records: Records,
        processes: GrammarProcesses | None,
        body_bytes: int,
    ) -> None:
        """`body_bytes`: upper bound on the bytes of a request body."""
        self._vocabulary = vocabulary
        self._recipes = recipes
        self._records = records
        self._processes = processes
        self._body_bytes = body_bytes
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="explain")

    async def explain(self, http: Request) -> JSONResponse:
        exchange = exchange_of(http.scope)
        match await read_as(http, self._body_bytes, parse_explain_request):
            case AnswerToExplain(id=id, choice=choice):
                return JSONResponse(self._answer(exchange.key, id, choice))
            case TextToExplain() as asked:
                recipe = self._recipe(asked)
                exchange.shape = recipe.key.partition(" ")[0]
                return JSONResponse(await until_disconnect(http.receive, self._text(asked, recipe)))

    def _answer(self, key: str | None, id: str, choice: int) -> Json:
        body = self._records.explained(key, id, choice)
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
        for name, ids in (("tokens", asked.tokens or ()), ("candidates", asked.candidates)):
            outside = next((one for one in ids if one >= self._vocabulary.size), None)
            if outside is not None:
                raise InputError(
                    f"{name} names token {outside}; the vocabulary has {self._vocabulary.size}",
                    param=name,
                )
        recipes = self._recipes
        if asked.additional_properties is not None:
            recipes = dataclasses.replace(
                recipes, additional_properties=asked.additional_properties
            )
        if asked.numbers is not None:
            recipes = dataclasses.replace(recipes, numbers=asked.numbers)
        recipe = recipes.of(asked.shape, asked.tool_use)
        assert recipe is not None, "the request has a shape"
        return recipe

    async def _text(self, asked: TextToExplain, recipe: Recipe) -> Json:
        build = recipe.build
        question = ExplainedText(
            asked.text, asked.tokens, asked.shown, _variants(build), asked.why, asked.candidates
        )
        inquiry = Inquiry(explained, (build, question))
        try:
            if self._processes is not None:
                return await asyncio.wrap_future(
                    self._processes.inquire(inquiry, kept=not asked.why)
                )
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._thread, self._here, inquiry)
        except Exception as error:
            recipe.name_place(error)
            raise

    def _here(self, inquiry: Inquiry) -> Json:
        with Work(_HERE):
            return inquiry(self._vocabulary)


def _variants(build: Build) -> Variants | None:
    """Return the shape with its schemas, in which reasons are searched; None if it has none."""
    if build.compile is compile_json_schema:
        (schema,) = build.given
        return SchemaVariants(schema, build.options)
    if build.compile is compile_tools:
        tools, choice = build.given
        return ToolVariants(tools, choice, build.options)
    return None
