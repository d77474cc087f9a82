"""The engines that maskbench.py measures, with one interface of three calls.

An engine is made once, for the vocabulary `tekken()`. `compile` makes a grammar, and `start` makes
a walk from that. The functions of a walk are the engine's own, bound to their arguments, so that
nothing else is timed. The settings are those that enforce a schema as the specification defines it:
any whitespace, and every property that the schema doesn't forbid.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Protocol

import glrmask
import llguidance
import llguidance.numpy
import numpy as np
import numpy.typing as npt
import xgrammar
from llguidance.tiktoken import lltokenizer_from_encoding

from benchmarks.vocabularies import tekken_encoding
from maskwright import Grammar, Vocabulary, compile_json_schema
from maskwright.grammar.schema.options import PropertyOrder

Mask = npt.NDArray[np.int32]


class Refused(Exception):
    """The engine doesn't compile the schema; the message is the engine's."""


@dataclass(frozen=True, slots=True)
class Walk:
    """One text that is being read. `fill` writes the mask, `accept` reads a token."""

    fill: Callable[[], object]
    accept: Callable[[int], bool]
    accepting: Callable[[], bool]


class Engine(Protocol):
    """`mask`, int32 `[V / 32]`, is the row to which the `fill` of every walk writes."""

    mask: Mask

    def compile(self, schema: Any) -> Any: ...

    def start(self, compiled: Any) -> Walk: ...


class Maskwright:
    """This project, with one of its property orders."""

    def __init__(self, vocabulary: Vocabulary, order: PropertyOrder) -> None:
        self.mask = np.zeros(vocabulary.words, np.int32)
        self._vocabulary = vocabulary
        self._order: PropertyOrder = order

    def compile(self, schema: Any) -> Grammar:
        return compile_json_schema(schema, self._vocabulary, property_order=self._order)

    def start(self, compiled: Grammar) -> Walk:
        matcher = compiled.matcher()
        return Walk(
            partial(matcher.fill_mask, self.mask), matcher.accept, lambda: matcher.accepting
        )


class LLGuidance:
    """llguidance with its default options: flexible whitespace, properties in schema order.

    The texts of a schema share one matcher, and with it the lexer states that were computed.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.mask = np.zeros(vocabulary.words, np.int32)
        self._tokenizer = lltokenizer_from_encoding(
            tekken_encoding(), n_vocab=vocabulary.size, eos_token=list(vocabulary.eos)
        )

    def compile(self, schema: Any) -> llguidance.LLMatcher:
        grammar = llguidance.LLMatcher.grammar_from_json_schema(schema)
        matcher = llguidance.LLMatcher(self._tokenizer, grammar, log_level=0)
        if matcher.is_error():
            raise Refused(matcher.get_error())
        return matcher

    def start(self, compiled: llguidance.LLMatcher) -> Walk:
        compiled.reset()
        fill = partial(llguidance.numpy.fill_next_token_bitmask, compiled, self.mask[None, :])
        return Walk(fill, compiled.consume_token, compiled.is_accepting)


class XGrammar:
    """xgrammar with any whitespace, `strict_mode` off, one thread and no cache."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.mask = np.zeros(vocabulary.words, np.int32)
        info = xgrammar.TokenizerInfo(
            [token or b"<|%d|>" % number for number, token in enumerate(vocabulary.tokens)],
            xgrammar.VocabType.RAW,
            vocab_size=vocabulary.size,
            stop_token_ids=list(vocabulary.eos),
        )
        self._compiler = xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled=False)
        self._eos = vocabulary.eos[0]

    def compile(self, schema: Any) -> xgrammar.CompiledGrammar:
        return self._compiler.compile_json_schema(schema, any_whitespace=True, strict_mode=False)

    def start(self, compiled: xgrammar.CompiledGrammar) -> Walk:
        matcher = xgrammar.GrammarMatcher(compiled)
        fill = partial(matcher.fill_next_token_bitmask, self.mask[None, :])

        def accepting() -> bool:
            fill()
            return allows(self.mask, self._eos)

        return Walk(fill, matcher.accept_token, accepting)


class GLRMask:
    """GLRMask with its default mask strategy."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.mask = np.zeros(vocabulary.words, np.int32)
        tokens = {number: token for number, token in enumerate(vocabulary.tokens) if token}
        self._vocabulary = glrmask.Vocab.from_id_to_bytes(tokens)

    def compile(self, schema: Any) -> glrmask.Constraint:
        return glrmask.Grammar.from_json_schema(schema).compile(self._vocabulary)

    def start(self, compiled: glrmask.Constraint) -> Walk:
        state = compiled.start()
        return Walk(partial(state.fill_mask, self.mask), state.commit_token, state.is_accepting)


ENGINES: Final[dict[str, Callable[[Vocabulary], Engine]]] = {
    "maskwright": partial(Maskwright, order="schema"),
    "maskwright-any": partial(Maskwright, order="any"),
    "llguidance": LLGuidance,
    "xgrammar": XGrammar,
    "glrmask": GLRMask,
}


def allows(mask: Mask, token: int) -> bool:
    """Bit `token` of a mask."""
    return bool(mask[token >> 5] >> (token & 31) & 1)
