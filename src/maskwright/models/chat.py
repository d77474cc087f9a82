"""Renders chats as prompts in which control tokens come from the chat template only.

A template puts the client's strings between control tokens. If such a string spells a control
token, the tokenizer would read it as that token, and a message could end itself and begin another
one in the system's name. To prevent this, a character that occurs nowhere else is inserted into
each such spelling before the template is rendered. The rendered prompt is then cut at this
character. No piece contains a whole spelling, so all of it is encoded as ordinary text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final, Protocol, cast

from maskwright.errors import InputError

_PRIVATE: Final = range(0xF0000, 0xFFFFE)
"""Characters at which the prompt can be cut: code points for private use, which no tokenizer uses
as markup."""


class Tokenizer(Protocol):
    """The part of a tokenizer that this module uses."""

    @property
    def added_tokens_decoder(self) -> Mapping[int, Any]: ...

    def apply_chat_template(self, conversation: Any, **variables: Any) -> Any: ...

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]: ...


def chat_tokens(
    tokenizer: Tokenizer,
    messages: Sequence[Mapping[str, Any]],
    *,
    begins_answer: bool = True,
    continues: bool = False,
    **variables: Any,
) -> list[int]:
    """Return the token ids of a chat, rendered by the tokenizer's template.

    `begins_answer`: the prompt ends with the beginning of an assistant's message. `continues`: it
    ends where the last message does, which the answer continues. `variables` are passed to the
    template in addition to `messages`. Raises `InputError` if a message contains a control token of
    a single character, which can't be broken, or if the template shows the last message otherwise
    than it is.
    """
    given = {"messages": [dict(message) for message in messages], **variables}
    marks = control_tokens(tokenizer)
    cut = _unused(_strings(given))
    broken = cast(dict[str, Any], _broken(given, marks, cut))
    try:
        text = tokenizer.apply_chat_template(
            broken.pop("messages"),
            add_generation_prompt=begins_answer and not continues,
            continue_final_message=continues,
            tokenize=False,
            **broken,
        )
    except ValueError as error:
        if not continues:
            raise
        raise InputError(
            f"the last message can't be continued: {error}", param="continue_final_message"
        ) from None
    pieces = str(text).split(cut)
    return [
        token for piece in pieces for token in tokenizer.encode(piece, add_special_tokens=False)
    ]


def control_tokens(tokenizer: Tokenizer) -> re.Pattern[str]:
    """Return a pattern that matches the spelling of each special token, overlapping ones
    included."""
    added = tokenizer.added_tokens_decoder.values()
    return _beginnings(frozenset(str(token.content) for token in added if token.special))


@lru_cache(maxsize=8)
def _beginnings(texts: frozenset[str]) -> re.Pattern[str]:
    longest = sorted(filter(None, texts), key=len, reverse=True)
    return re.compile(f"(?=({'|'.join(map(re.escape, longest))}))" if longest else r"(?!)")


def _broken(value: object, marks: re.Pattern[str], cut: str) -> object:
    """Return a copy of the value in which `cut` is inserted after the first character of each
    spelling of a control token."""
    match value:
        case str() if marks.search(value) is None:
            return value
        case str():
            starts = [match.start() for match in marks.finditer(value)]
            if any(len(match.group(1)) == 1 for match in marks.finditer(value)):
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
    """Yield all strings in a value, names of members included."""
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
    """Return a character for private use that occurs in none of the texts."""
    used = {c for text in texts if not text.isascii() for c in text if ord(c) in _PRIVATE}
    return next(chr(point) for point in _PRIVATE if chr(point) not in used)
