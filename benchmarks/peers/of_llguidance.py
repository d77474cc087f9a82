"""llguidance with the interface of `engines.py`."""

from __future__ import annotations

from functools import partial
from typing import Any

import llguidance
import llguidance.numpy
import numpy as np
from llguidance.tiktoken import lltokenizer_from_encoding

from benchmarks.peers.engines import Refused, Walk
from benchmarks.vocabularies import tekken_encoding
from maskwright import Vocabulary


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
