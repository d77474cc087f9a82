"""Engines that compute masks, with one interface: this one, and others that are installed.

Other engines are measured with the settings that enforce a shape as Maskwright does: any white
space, every property that the schema doesn't forbid, one thread and no cache of whole shapes.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from maskwright.cli.input.shapes import (
    GrammarArgument,
    RegexArgument,
    SchemaArgument,
    Shape,
    compile_quietly,
)
from maskwright.grammar.dialects.detect import Dialect, detect
from maskwright.immutable import Immutable
from maskwright.mask import Grammar
from maskwright.vocab import Vocabulary


class RefusedShapeError(Exception):
    """An engine doesn't compile a shape. The message is the engine's."""


class TextReader(Immutable):
    """One text that an engine reads. `fill` computes the mask; `accept` reads a token, and says
    whether it was allowed; `fill_within` computes the mask of the tokens after which the text can
    be completed in so many tokens, the next one included, None for an engine that has no budgets.
    These are the engine's own functions, so that nothing else is timed."""

    fill: Callable[[], object]
    accept: Callable[[int], bool]
    fill_within: Callable[[int], object] | None = None


class MaskEngine(Protocol):
    """An engine for one vocabulary."""

    name: str

    def compile(self, shape: Shape) -> Any:
        """Return what `start` takes. Raises RefusedShapeError, or an error of the engine's own."""
        ...

    def start(self, compiled: Any) -> TextReader: ...


class OwnEngine:
    """Maskwright itself."""

    name = "maskwright"

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._row = np.zeros(vocabulary.words, np.int32)

    def compile(self, shape: Shape) -> Grammar:
        return compile_quietly(shape, self._vocabulary)

    def start(self, compiled: Grammar) -> TextReader:
        matcher = compiled.matcher()
        fill = partial(matcher.fill_mask, self._row)
        return TextReader(fill, matcher.accept, fill)


class GuidanceEngine:
    """llguidance. The texts of a shape share one matcher, and with it the states that it knows."""

    name = "llguidance"

    def __init__(self, vocabulary: Vocabulary, tokenizer: Path) -> None:
        self._library = import_module("llguidance")
        self._arrays = import_module("llguidance.numpy")
        self._row = np.zeros((1, vocabulary.words), np.int32)
        self._tokenizer = self._library.LLTokenizer(
            tokenizer.read_text(encoding="utf-8"),
            n_vocab=vocabulary.size,
            eos_token=list(vocabulary.eos),
        )

    def compile(self, shape: Shape) -> Any:
        make = self._library.LLMatcher
        match shape:
            case SchemaArgument(schema=schema):
                grammar = make.grammar_from_json_schema(json.dumps(schema))
            case RegexArgument(pattern=pattern):
                grammar = make.grammar_from_regex(pattern)
            case GrammarArgument(text=text):
                if dialect_of(shape) != "lark":
                    raise RefusedShapeError("its grammars are in Lark")
                grammar = make.grammar_from_lark(text)
        matcher = make(self._tokenizer, grammar, log_level=0)
        if matcher.is_error():
            raise RefusedShapeError(matcher.get_error())
        return matcher

    def start(self, compiled: Any) -> TextReader:
        compiled.reset()
        fill = partial(self._arrays.fill_next_token_bitmask, compiled, self._row)
        return TextReader(fill, compiled.consume_token)


class XGrammarEngine:
    """xgrammar with any white space, `strict_mode` off, one thread and no cache."""

    name = "xgrammar"

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._library = import_module("xgrammar")
        self._row = np.zeros((1, vocabulary.words), np.int32)
        info = self._library.TokenizerInfo(
            [token or b"<|%d|>" % number for number, token in enumerate(vocabulary.tokens)],
            self._library.VocabType.RAW,
            vocab_size=vocabulary.size,
            stop_token_ids=list(vocabulary.eos),
        )
        self._compiler = self._library.GrammarCompiler(info, max_threads=1, cache_enabled=False)

    def compile(self, shape: Shape) -> Any:
        match shape:
            case SchemaArgument(schema=schema):
                return self._compiler.compile_json_schema(
                    json.dumps(schema), any_whitespace=True, strict_mode=False
                )
            case RegexArgument(pattern=pattern):
                return self._compiler.compile_regex(pattern)
            case GrammarArgument(text=text):
                if dialect_of(shape) != "gbnf":
                    raise RefusedShapeError("its grammars are in GBNF")
                return self._compiler.compile_grammar(text)

    def start(self, compiled: Any) -> TextReader:
        matcher = self._library.GrammarMatcher(compiled)
        return TextReader(partial(matcher.fill_next_token_bitmask, self._row), matcher.accept_token)


def dialect_of(shape: GrammarArgument) -> Dialect:
    """The dialect of a grammar, by its text where nothing else says it."""
    return detect(shape.text) if shape.dialect == "auto" else shape.dialect


def installed_engines(
    vocabulary: Vocabulary, tokenizer: Path, *, peers: bool = True
) -> list[MaskEngine]:
    """This engine, and with `peers` those others that are installed. `tokenizer`: the file
    tokenizer.json of the vocabulary."""
    engines: list[MaskEngine] = [OwnEngine(vocabulary)]
    if peers and find_spec("llguidance"):
        engines.append(GuidanceEngine(vocabulary, tokenizer))
    if peers and find_spec("xgrammar"):
        engines.append(XGrammarEngine(vocabulary))
    return engines


def engine_version(name: str) -> str:
    """The installed version of an engine's package; empty for sources that aren't installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
