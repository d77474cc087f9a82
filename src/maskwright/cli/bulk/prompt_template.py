"""The prompt of a record.

A template is a text in which `{{name}}` stands for a field of the record: a string as it is, any
other value as JSON. Single braces are ordinary text, since prompts often contain JSON.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from maskwright.errors import InputError

PLACE: Final = re.compile(r"\{\{\s*(.*?)\s*\}\}")
USUAL: Final = ("messages", "prompt", "text")
"""Without a template, a record's prompt is the first of these fields that it has."""


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """How records become chats. `template`: None takes the first of the usual fields. `system`: a
    system message before the prompt."""

    template: str | None = None
    system: str | None = None

    def messages(self, fields: dict[str, object]) -> list[object]:
        """The chat about one record. Raises InputError if the record lacks a field."""
        before: list[object] = []
        if self.system is not None:
            before = [{"role": "system", "content": self.system}]
        if self.template is not None:
            return [
                *before,
                _user(PLACE.sub(lambda found: _filled(fields, found[1]), self.template)),
            ]
        for name in USUAL:
            value = fields.get(name)
            if name == "messages" and isinstance(value, list):
                return [*before, *value]
            if isinstance(value, str):
                return [*before, _user(value)]
        example = f"'{{{{{_longest(fields)}}}}}'"
        raise InputError(
            f"the record has none of the fields {', '.join(USUAL)}; it has {_named(fields)}. "
            f"--prompt-template says what is asked, such as {example}"
        )


def _user(text: str) -> object:
    return {"role": "user", "content": text}


def _filled(fields: dict[str, object], name: str) -> str:
    if name not in fields:
        near = get_close_matches(name, map(str, fields), n=1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise InputError(f"the record has no field {name!r}{hint}; it has {_named(fields)}")
    value = fields[name]
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _longest(fields: dict[str, object]) -> str:
    """The field with the longest text, which is likely to be what is asked about."""
    texts = {name: value for name, value in fields.items() if isinstance(value, str)}
    return max(texts, key=lambda name: len(texts[name]), default="FIELD")


def _named(fields: dict[str, object]) -> str:
    return ", ".join(map(str, list(fields)[:20])) or "none"
