"""Positions within a name that must differ from names that only the text has.

The configuration does not show which names an object has (see `automaton.json.remembered_names`),
so its mask is that of a new name. Where the text has a name that begins as the present one does, a
token that would complete that name is taken out of the mask. There is one position for each set of
*endings* taken out: the beginnings of tokens up to the closing quote. There is another for a name
that no earlier name begins with: whatever follows, it stays a new one.
"""

from __future__ import annotations

import json
from itertools import islice

import numpy as np
import numpy.typing as npt

from maskwright.automaton.leaf.keys import ChoiceState
from maskwright.automaton.machine.exits import Configuration
from maskwright.automaton.value.last_value import string_start
from maskwright.automaton.value.names_read import NamesRead, decoded
from maskwright.garbage import hide
from maskwright.mask.position import Position
from maskwright.mask.recognizer import Recognizer
from maskwright.mask.walk.name_endings import QUOTE, NameEndings


class NamePositions:
    """The positions of one recognizer. Not thread-safe: the lock of its tables guards it."""

    def __init__(self, recognizer: Recognizer) -> None:
        self._recognizer = recognizer
        self._text_names = recognizer.shared.text_names
        self._endings = recognizer.shared.name_endings
        self._distinct_endings = recognizer.shared.distinct_endings
        self._variant = recognizer.shared.text_positions.variant

    def apply(self, here: Configuration) -> bool:
        """Whether the position of a configuration depends on the text."""
        node_context = self._recognizer.machine.arrays.node_context
        return here.node >= 0 and self._text_names.matter(int(node_context[here.node]))

    def of(self, here: Configuration, text: bytes) -> Position:
        """The position after `text`, which has led to the configuration."""
        excluded = self._excluded(here, text)
        if excluded is not None and not excluded:
            return self._recognizer.position(here)
        return self._variant(here, excluded)

    def of_every_text(
        self, position: Position, spelling: bytes, here: Configuration
    ) -> Position | None:
        """The position after a token with this spelling, which leads from a position to the
        configuration `here`, if it is one for every text at the position; None otherwise."""
        if isinstance(self._recognizer.machine.leaves.keys[here.leaf], ChoiceState):
            return self._recognizer.position(here)  # as `_excluded` says
        if position.begins_no_name and QUOTE not in spelling:
            return self._variant(here, None)
        return None

    def tokens(self, position: Position) -> npt.NDArray[np.int32]:
        """The tokens that a position excludes."""
        endings = self._endings_at(position.configuration).tokens
        found = [token for ending in position.excluded for token in endings[ending]]
        return np.array(sorted(found), np.int32)

    def stays_within(self, here: Configuration, target: Configuration) -> bool:
        """Whether both are within one name."""
        keys = self._recognizer.machine.leaves.keys
        is_begun = self.apply(here) and not isinstance(keys[here.leaf], ChoiceState)
        return is_begun and here.node == target.node

    def may_repeat(self, text: bytes) -> bool:
        """Whether a name that the object has begins like the one that `text` ends within."""
        names, begun, _ = self._begun(text)
        return next(names.rests(begun), None) is not None

    def spellings_before(
        self, here: Configuration, text: bytes, ending: bytes
    ) -> frozenset[bytes] | None:
        """Within a name: the spellings without escapes of what, between the name so far and an
        ending, makes a name that the object has already. None if the name so far, or the ending,
        is not a whole number of characters."""
        names, begun, is_whole = self._begun(text)
        rest = _name(QUOTE + ending)
        if not is_whole or rest is None:
            return None
        left = (name.removesuffix(rest) for name in names.rests(begun) if name.endswith(rest))
        return hide(frozenset(each.encode() for each in left))

    def _begun(self, text: bytes) -> tuple[NamesRead, str, bool]:
        """The names before the one that `text` ends within, the characters of that one so far, and
        whether these are all that has been read of it."""
        start = string_start(text, len(text))
        return self._text_names.before(text, start), *decoded(text[start:])

    def _excluded(self, here: Configuration, text: bytes) -> frozenset[bytes] | None:
        """The endings that are taken out; None if no name begins as the present one does."""
        machine = self._recognizer.machine
        if isinstance(machine.leaves.keys[here.leaf], ChoiceState):
            return frozenset()  # no token holds both quotes of a name that isn't remembered
        names, begun, is_whole = self._begun(text)
        if names.members == 0 or next(names.rests(begun), None) is None:
            return None
        if is_whole:
            rests = self._rests_in_tokens(names, begun)
            if not rests:
                return frozenset()
            endings = self._endings_at(here).by_characters
            return hide(frozenset(each for rest in rests for each in endings.get(rest, ())))
        spelled = text[string_start(text, len(text)) :]
        found = {ending: _name(spelled + ending) for ending in self._endings_at(here).tokens}
        named = (e for e, name in found.items() if name is not None and names.has(name))
        return hide(frozenset(named))

    def _rests_in_tokens(self, names: NamesRead, begun: str) -> list[str]:
        """What is left of the names that begin with `begun`, as far as some token may hold it with
        the quote."""
        possible = self._recognizer.tables.parts.characters_before_quotes
        few = list(islice(names.rests(begun), len(possible)))
        if len(few) == len(possible):
            return [rest for rest in possible if names.has(begun + rest)]
        return [rest for rest in few if rest in possible]

    def _endings_at(self, here: Configuration) -> NameEndings:
        """The endings of a name at a configuration, if it is new. Most configurations have the same
        as another one, and share them."""
        known = self._endings.get(here)
        if known is None:
            tokens = self._recognizer.tables.parts.tokens_with_quotes
            lengths = self._read_endings(here, tokens)
            key = lengths.tobytes()
            known = self._distinct_endings.get(key)
            if known is None:
                spellings = self._recognizer.vocabulary.spellings
                known = self._distinct_endings[key] = NameEndings(spellings, tokens, lengths)
            self._endings[here] = known
        return known

    def _read_endings(
        self, here: Configuration, tokens: npt.NDArray[np.int32]
    ) -> npt.NDArray[np.int32]:
        """See `Walk.read_endings`."""
        recognizer = self._recognizer
        lengths = np.zeros(len(tokens), np.int32)
        done, leaf, node = 0, here.leaf, here.node
        read_endings = recognizer.walk.read_endings
        while (done := read_endings(leaf, node, tokens, done, lengths)) < len(tokens):
            recognizer.machine.serve_requests()
        return lengths


def _name(spelled: bytes) -> str | None:
    """The name with this spelling, None if it is not one."""
    try:
        return str(json.loads(spelled.decode()))
    except ValueError:  # a quote can't end a character or an escape that is not complete
        return None
