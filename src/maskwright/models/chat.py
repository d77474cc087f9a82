"""What a client wrote stays text: in a prompt, only the chat template's own markup is markup.

A template puts the client's strings between control tokens, and the tokenizer would read the text
of a control token in them as that token: a message could end itself and begin another in the
system's name. So before rendering, each such text is broken by a character that occurs nowhere
else, and the rendered prompt is cut at that character: no piece holds it whole, so it is encoded as
the letters it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final, Protocol, cast

from maskwright.errors import InputError

_PRIVATE: Final = range(0xF0000, 0xFFFFE)
"""Characters to cut at: of private use, and no tokenizer's markup."""


class Tokenizer(Protocol):
    """What is asked of a tokenizer here."""

    @property
    def added_tokens_decoder(self) -> Mapping[int, Any]: ...

    def apply_chat_template(self, conversation: Any, **variables: Any) -> Any: ...

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]: ...


def chat_tokens(
    tokenizer: Tokenizer, messages: Sequence[Mapping[str, Any]], **variables: Any
) -> list[int]:
    """The prompt of a chat by the tokenizer's template, ending where an answer begins.

    `variables` are what the template sees beside `messages`. Raises `InputError` for a text that
    can't be kept apart from a control token.
    """
    given = {"messages": [dict(message) for message in messages], **variables}
    marks = control_tokens(tokenizer)
    cut = _unused(_strings(given))
    broken = cast(dict[str, Any], _broken(given, marks, cut))
    text = tokenizer.apply_chat_template(
        broken.pop("messages"), add_generation_prompt=True, tokenize=False, **broken
    )
    pieces = str(text).split(cut)
    return [
        token for piece in pieces for token in tokenizer.encode(piece, add_special_tokens=False)
    ]


def control_tokens(tokenizer: Tokenizer) -> re.Pattern[str]:
    """Where the text of a special token begins; overlapping ones are all found."""
    added = tokenizer.added_tokens_decoder.values()
    return _beginnings(frozenset(str(token.content) for token in added if token.special))


@lru_cache(maxsize=8)
def _beginnings(texts: frozenset[str]) -> re.Pattern[str]:
    longest = sorted(filter(None, texts), key=len, reverse=True)
    return re.compile(f"(?=({'|'.join(map(re.escape, longest))}))" if longest else r"(?!)")


def _broken(value: object, marks: re.Pattern[str], cut: str) -> object:
    """The same value with every control token's text broken by `cut` behind its first character."""
    match value:
        case str():
            starts = [found.start() for found in marks.finditer(value)]
            if any(len(found.group(1)) == 1 for found in marks.finditer(value)):
                raise InputError(
                    "a message holds a character that is a control token of this model",
                    param="messages",
                )
            edges = [0, *(start + 1 for start in starts), len(value)]
            return cut.join(value[a:b] for a, b in pairwise(edges))
        case dict():
            items = cast(dict[str, object], value).items()
            return {str(_broken(k, marks, cut)): _broken(v, marks, cut) for k, v in items}
        case list() | tuple():
            return [_broken(each, marks, cut) for each in cast(list[object], value)]
        case _:
            return value


def _strings(value: object) -> Iterator[str]:
    """All strings in a value, names included."""
    match value:
        case str():
            yield value
        case dict():
            for name, below in cast(dict[str, object], value).items():
                yield name
                yield from _strings(below)
        case list() | tuple():
            for below in cast(list[object], value):
                yield from _strings(below)
        case _:
            pass


def _unused(texts: Iterable[str]) -> str:
    """A character of private use that none of the texts has."""
    used = {c for text in texts if not text.isascii() for c in text if ord(c) in _PRIVATE}
    return next(chr(point) for point in _PRIVATE if chr(point) not in used)
