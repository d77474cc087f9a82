"""The texts with which a text can go on, where there are few: what a person would type next."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from maskwright.mask import Matcher
from maskwright.workbench.characters import next_characters
from maskwright.workbench.place import reads_json

MOST_CHOICES: Final = 16
"""Characters that may come next up to which the text that each of them forces is looked at."""
LONGEST: Final = 80
"""Characters of a forced text that are looked at."""

_ESCAPE: Final = re.compile(rb"\\.", re.DOTALL)
_JSON_SPACE: Final = " \t\r\n"


class _Run:
    """A text that is extended for as long as there is nothing to choose.

    In JSON nearly every place allows white space, and every letter of a listed name an escape. A
    person is helped by neither, so they don't count as choices where there are others.
    """

    def __init__(self, matcher: Matcher, in_json: bool, in_string: bool) -> None:
        self.matcher = matcher.copy()
        self.in_json = in_json
        self.in_string = in_string
        self.text = ""

    def options(self) -> list[str] | None:
        """The characters to choose from; None if there are too many."""
        found = next_characters(self.matcher)
        idle = ("\\" if self.in_string else _JSON_SPACE) if self.in_json else ""
        dropped = [character for character in idle if character in found]
        if not found.is_exact or found.count - len(dropped) > MOST_CHOICES:
            return None
        plain = [character for character in found.members() if character not in dropped]
        return plain or dropped

    def take(self, character: str) -> None:
        taken = self.matcher.accept_bytes(character.encode())
        assert taken == len(character.encode())
        self.text += character
        if self.in_json and character == '"':
            self.in_string = not self.in_string

    def go_on(self) -> list[str] | None:
        """Take characters for as long as there is one option; returns the options after them, None
        if there are too many."""
        options = self.options()
        while len(self.text) < LONGEST and not self.matcher.accepting:
            if options is None or len(options) != 1:
                break
            self.take(options[0])
            options = self.options()
        return options

    def copy(self) -> _Run:
        twin = _Run(self.matcher, self.in_json, self.in_string)
        twin.text = self.text
        return twin


class Continuations(NamedTuple):
    """How a text can go on: first `forced`, then one of `options`, each up to the next choice.
    `options` is empty where there are more than `MOST_CHOICES` or, if the text may end, none."""

    forced: str
    options: tuple[str, ...]


def continuations(matcher: Matcher, text: bytes) -> Continuations:
    """How `text`, which the matcher has read, can go on."""
    in_json = reads_json(matcher)
    in_string = in_json and _ESCAPE.sub(b"", text).count(b'"') % 2 == 1
    run = _Run(matcher, in_json, in_string)
    options = run.go_on() or []
    branches: list[str] = []
    for option in options:
        branch = run.copy()
        branch.take(option)
        branch.go_on()
        branches.append(branch.text.removeprefix(run.text))
    return Continuations(run.text, tuple(branches))
