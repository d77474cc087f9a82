"""Turns the shape and tools of a request into the recipe of its grammar."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field

from maskwright.automaton.value.whitespace import WhitespaceName
from maskwright.errors import (
    GrammarError,
    InputError,
    LimitError,
    RegexError,
    SchemaError,
    StructuralTagError,
)
from maskwright.mask import (
    Grammar,
    compile_choice,
    compile_grammar,
    compile_json_schema,
    compile_regex,
    compile_structural_tag,
    compile_tools,
)
from maskwright.server.request.shape import (
    ChoiceShape,
    FreeText,
    GrammarShape,
    JsonShape,
    RegexShape,
    Shape,
    TagShape,
)
from maskwright.server.request.tool_use import ToolUse
from maskwright.vocab import Vocabulary


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to compile a grammar. Equal keys mean equal grammars. `build` may take long."""

    key: str
    build: Callable[[], Grammar] = field(compare=False)


@dataclass(frozen=True, slots=True)
class Recipes:
    """Makes the recipes for one model."""

    vocab: Vocabulary
    whitespace: WhitespaceName
    tool_format: str

    def of(
        self, shape: Shape, tool_use: ToolUse | None, stop: tuple[str, ...] = ()
    ) -> Recipe | None:
        """Return the recipe of a request; None if the answer is free text. Raises InputError if
        shape and tools can't be combined.

        With tools, the grammar contains the stop strings: they end words, and may occur in
        arguments.
        """
        if tool_use is not None and tool_use.constrains:
            return self._tools(shape, tool_use, stop)
        return None if isinstance(shape, FreeText) else self._shape(shape)

    def _tools(self, shape: Shape, use: ToolUse, stop: tuple[str, ...]) -> Recipe:
        """Return the recipe of a request with tools. If a call is forced, the shape has no effect;
        otherwise it is the shape of an answer without calls."""
        answer: JsonShape | None = None
        if isinstance(shape, JsonShape) and not use.forced:
            answer = shape
        elif not (isinstance(shape, FreeText) or use.forced):
            raise InputError(
                f"{shape.place} can't stand beside tools: only a JSON Schema can. Force a call, or "
                "send no tools",
                param=shape.place,
                code="conflicting_constraints",
            )

        def build() -> Grammar:
            try:
                return compile_tools(
                    use.tools,
                    use.choice,
                    self.vocab,
                    format=self.tool_format,
                    parallel=use.parallel,
                    stop=stop,
                    response_schema=None if answer is None else answer.text,
                    whitespace=self.whitespace,
                    integers="digits",
                    escapes="needed",
                )
            except (SchemaError, LimitError, RegexError) as error:
                if error.param is None and answer is not None:
                    error.param = answer.place
                raise

        said = "" if answer is None else answer.text
        return Recipe(f"tools {use.key()} {json.dumps(stop)} {said}", build)

    def _shape(
        self, shape: JsonShape | RegexShape | ChoiceShape | GrammarShape | TagShape
    ) -> Recipe:
        key, compiled = self._compiler(shape)

        def build() -> Grammar:
            try:
                return compiled()
            except (SchemaError, RegexError, GrammarError, StructuralTagError, LimitError) as error:
                error.param = shape.place
                raise

        return Recipe(key, build)

    def _compiler(
        self, shape: JsonShape | RegexShape | ChoiceShape | GrammarShape | TagShape
    ) -> tuple[str, Callable[[], Grammar]]:
        vocab, whitespace = self.vocab, self.whitespace
        match shape:
            case JsonShape(text=text):
                return f"json {text}", lambda: compile_json_schema(
                    text, vocab, whitespace=whitespace, integers="digits", escapes="needed"
                )
            case RegexShape(pattern=pattern):
                return f"regex {pattern}", lambda: compile_regex(pattern, vocab)
            case ChoiceShape(strings=strings):
                return f"choice {json.dumps(strings)}", lambda: compile_choice(strings, vocab)
            case GrammarShape(grammar=text, dialect=dialect):
                return f"{dialect} {text}", lambda: compile_grammar(text, vocab, dialect=dialect)
            case TagShape(text=text):
                return f"tag {text}", lambda: compile_structural_tag(
                    text, vocab, whitespace=whitespace, integers="digits", escapes="needed"
                )
