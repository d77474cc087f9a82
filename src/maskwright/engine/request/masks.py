"""The masks under which the next tokens of a request are drawn."""

from __future__ import annotations

from typing import NamedTuple

from maskwright.sampling import Mask, Place


class Masks(NamedTuple):
    """The masks of the next token and of the tokens after each draft token, each of `words` int32
    `[words]`. What a grammar hands out again and again can't be written to.

    `free`: the masks without the token limit of those that it makes smaller, each with the number
    of its row; none where nothing depends on that any more.

    A grammar filled `rows` of them in `seconds` seconds; `hits` of them were cached. `places`: the
    row of the table and the state of the grammar that each came from, if the request is traced.
    """

    words: tuple[Mask, ...]
    rows: int = 0
    hits: int = 0
    seconds: float = 0.0
    places: tuple[Place, ...] = ()
    free: tuple[tuple[int, Mask], ...] = ()
