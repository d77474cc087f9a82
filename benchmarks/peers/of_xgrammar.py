"""xgrammar with the interface of `engines.py`."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import xgrammar

from benchmarks.peers.engines import Walk, allows
from maskwright import Vocabulary


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
