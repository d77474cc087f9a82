"""Which of the names that an object does not list its contexts remember.

Names must differ. Were each remembered, every member would lead to a new context, with leaves and
masks of its own. So the text alone has most of them (see `automaton.value.names_read`), and only
these are remembered:

- names that a token of the vocabulary holds with both quotes, since a mask before the name has to
  show whether that token may come;
- names that begin only names that may run out, since what the text has ruled out must not leave a
  name without an end;
- names of an object that may still need some that it does not list, until it needs no more.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from maskwright.automaton.value.name_classes import NameClasses
from maskwright.automaton.value.progress import ObjectProgress
from maskwright.garbage import hide

_QUOTED: Final = re.compile(rb'(?=("(?:[^"\\]|\\.)*"))', re.DOTALL)


class RememberedNames:
    """The rule for one schema and vocabulary."""

    def __init__(self, classes: NameClasses, within_tokens: frozenset[str] | None) -> None:
        """`within_tokens`: see `names_within`. None: all names are remembered."""
        self._classes = classes
        self._within_tokens = within_tokens

    @property
    def leaves_to_text(self) -> bool:
        """Whether names are left to the text at all."""
        return self._within_tokens is not None

    def reduced(self, after: ObjectProgress) -> ObjectProgress:
        """The progress after a name that the object does not list, with the names that need not be
        remembered left to the text."""
        if self._keeps_all(after):
            return after
        kept = hide(frozenset(name for name in after.others if self._is_kept(after, name)))
        return replace(after, others=kept, has_unremembered=True)

    def is_left_to_text(self, after: ObjectProgress, name: str) -> bool:
        """Whether this name is not remembered in the progress after it."""
        return not self._keeps_all(after) and not self._is_kept(after, name)

    def _keeps_all(self, after: ObjectProgress) -> bool:
        return self._within_tokens is None or after.may_need_others

    def _is_kept(self, after: ObjectProgress, name: str) -> bool:
        if self._within_tokens is None or name in self._within_tokens:
            return True
        languages = after.shape.languages
        if not languages:  # all names are in one class
            return False
        return not self._classes.is_endless_after(self._classes.of_name(languages, name), name)


def names_within(tokens: Iterable[bytes]) -> frozenset[str]:
    """The strings that some token may hold with both quotes."""
    found: set[str] = set()
    for token in tokens:
        if token.count(b'"') > 1:
            for quoted in _QUOTED.findall(token):
                try:
                    found.add(str(json.loads(quoted.decode())))
                except ValueError:  # it doesn't begin at an opening quote
                    continue
    return frozenset(found)
