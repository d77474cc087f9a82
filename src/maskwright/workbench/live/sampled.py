"""Texts of a shape, as `maskwright sample` writes them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Final, Literal, get_args

from maskwright.mask import Grammar
from maskwright.vocab import Vocabulary
from maskwright.workbench.live.kept import kept_grammar
from maskwright.workbench.reading import byte_vocabulary
from maskwright.workbench.report import Data
from maskwright.workbench.sample import samples

Which = Literal["random", "shortest", "longest"]
WHICH: Final[tuple[Which, ...]] = get_args(Which)

SHORT: Final = 100
"""Bytes more than the shortest text has, up to which texts are written."""

_BYTES: Final = byte_vocabulary()


def sampled(
    compile: Callable[[Vocabulary], Grammar],
    which: Which,
    count: int,
    seed: int,
    is_json: bool,
    _: Vocabulary,
) -> Data:
    """`count` random texts of the shape, the shortest, or the longest of 32 random ones. They are
    written byte by byte, whichever tokens the model has; `is_json`: without needless escapes."""
    grammar = kept_grammar(compile, _BYTES)
    limit = grammar.min_tokens + SHORT
    if which == "shortest":
        texts = [samples.shortest_text(grammar)]
    elif which == "longest":
        texts = [samples.longest_text(grammar, limit, seed)]
    else:
        texts = [*islice(samples.random_texts(grammar, limit, seed), count)]
    decoded = [text.decode() for text in texts]
    return {"texts": [*map(samples.plain_json, decoded)] if is_json else decoded}
