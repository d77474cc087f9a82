"""The grammars that were last compiled: whoever writes a text asks about one grammar many times."""

from __future__ import annotations

import hashlib
import pickle
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from maskwright.mask import Grammar
from maskwright.vocab import Vocabulary

MOST: Final = 8
"""Grammars that are kept. One that is small takes some hundred kilobytes."""

_KEPT: Final[OrderedDict[tuple[bytes, int], tuple[Vocabulary, Grammar]]] = OrderedDict()


def kept_grammar(compile: Callable[[Vocabulary], Grammar], vocabulary: Vocabulary) -> Grammar:
    """The grammar that `compile` makes, which can be pickled: equal ones make equal grammars.
    Errors aren't kept. To be used from one thread."""
    digest = hashlib.blake2b(pickle.dumps(compile), digest_size=16).digest()
    name = digest, id(vocabulary)
    found = _KEPT.get(name)
    if found is None:  # the vocabulary is kept as well, so that its number stays its own
        found = _KEPT[name] = vocabulary, compile(vocabulary)
        if len(_KEPT) > MOST:
            _KEPT.popitem(last=False)
    _KEPT.move_to_end(name)
    return found[1]
