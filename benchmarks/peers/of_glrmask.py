"""GLRMask with the interface of `engines.py`."""

from __future__ import annotations

from functools import partial
from typing import Any

import glrmask
import numpy as np

from benchmarks.peers.engines import Walk
from maskwright import Vocabulary


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
