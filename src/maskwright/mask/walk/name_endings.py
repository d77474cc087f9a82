"""The tokens that end a property name, at one configuration within it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from maskwright.garbage import hide

QUOTE: Final = b'"'


def characters_before_quote(token: bytes) -> str | None:
    """The characters that a token adds to a name that it ends, if it begins between two characters;
    None for a token that ends none."""
    stop = 0
    while (stop := token.find(QUOTE, stop) + 1) > 0:
        try:
            return str(json.loads((QUOTE + token[:stop]).decode()))
        except ValueError:  # an escaped quote, or bytes that begin no character
            continue
    return None


class NameEndings:
    """How tokens end a name. An *ending* is the beginning of a token up to the closing quote."""

    def __init__(
        self,
        spellings: Sequence[bytes],
        tokens: npt.NDArray[np.int32],
        lengths: npt.NDArray[np.int32],
    ) -> None:
        """`tokens` and `lengths`: see `Walk.read_endings`. `spellings`: the vocabulary's."""
        self.tokens: Final[dict[bytes, list[int]]] = {QUOTE: []}
        """By ending: the tokens that begin with it. The quote is always an ending."""
        ends = np.flatnonzero(lengths)
        for token, length in zip(tokens[ends].tolist(), lengths[ends].tolist(), strict=True):
            self.tokens.setdefault(spellings[token][:length], hide([])).append(token)

    @cached_property
    def by_characters(self) -> dict[str, list[bytes]]:
        """The endings between two characters, by the characters that they are without the
        quote."""
        found: dict[str, list[bytes]] = {}
        for ending in self.tokens:
            characters = str(json.loads((QUOTE + ending).decode()))
            found.setdefault(characters, hide([])).append(ending)
        return found
