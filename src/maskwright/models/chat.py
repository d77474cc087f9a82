"""Renders chats as prompts in which control tokens come from the chat template only.

A template puts the client's strings between control tokens. If such a string spells a control
token, the tokenizer would read it as that token, and a message could end itself and begin another
one in the system's name. To prevent this, a random text is inserted into each such spelling before
the template is rendered. The rendered prompt is then cut at this text. No piece contains a whole
spelling, so all of it is encoded as ordinary text.

Texts may have several megabytes, and other threads wait while one operation of the `re` module
lasts. Long texts are therefore searched in slices.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final, Protocol, cast

from maskwright.errors import InputError
from maskwright.immutable import Immutable

_PRIVATE: Final = range(0xF0000, 0xFFFFE)
"""Code points for private use, which no tokenizer uses as markup. The text at which the prompt is
cut consists of them."""

_CUT_LENGTH: Final = 8
"""Characters of this text: 128 bits, so that no client can write it."""

SLICE: Final = 1 << 16
"""Characters that are searched in one operation, which takes less than 5 ms."""


class ModelTokenizer(Protocol):
    """The tokenizer of a checkpoint, as far as it is used: one of the transformers library, or one
    that needs none (`plain_tokenizer`)."""

    chat_template: str | None

    @property
    def added_tokens_decoder(self) -> Mapping[int, Any]: ...

    @property
    def split_special_tokens(self) -> bool: ...

    @property
    def backend_tokenizer(self) -> Any: ...

    @property
    def eos_token_id(self) -> int | None: ...

    def apply_chat_template(self, conversation: Any, **variables: Any) -> Any: ...

    def convert_ids_to_tokens(self, ids: Sequence[int]) -> Any: ...


def chat_texts(
    tokenizer: ModelTokenizer,
    messages: Sequence[Mapping[str, Any]],
    *,
    begins_answer: bool = True,
    continues: bool = False,
    **variables: Any,
) -> list[str]:
    """Return a chat, rendered by the tokenizer's template, as texts whose token ids, each encoded
    without additional special tokens, are the prompt.

    `begins_answer`: the prompt ends with the beginning of an assistant's message. `continues`: it
    ends where the last message does, which the answer continues. `variables` are passed to the
    template in addition to `messages`. Raises `InputError` if a message contains a control token of
    a single character, which can't be broken, or if the template shows the last message otherwise
    than it is.
    """
    given = {"messages": [dict(message) for message in messages], **variables}
    cut = _new_cut()
    broken = cast(dict[str, Any], _broken(given, control_tokens(tokenizer), cut))
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
    return str(text).split(cut)


def _new_cut() -> str:
    """A text that nobody can foresee. One call for all its characters: each gives the interpreter's
    lock away, and a busy engine keeps it for milliseconds."""
    drawn = secrets.token_bytes(2 * _CUT_LENGTH)
    pairs = zip(drawn[::2], drawn[1::2], strict=True)
    return "".join(chr(_PRIVATE[(high << 8 | low) % len(_PRIVATE)]) for high, low in pairs)


class ControlTokens(Immutable):
    """The spellings of special tokens.

    `beginnings`: a pattern for each character with which one begins; it matches this character
    wherever a spelling begins, also within another one. `single`: spellings of one character.
    `longest`: characters of the longest one.
    """

    beginnings: tuple[re.Pattern[str], ...]
    single: tuple[str, ...]
    longest: int

    def starts(self, text: str) -> list[int]:
        """Return where spellings begin in a text, ascending."""
        found: list[int] = []
        for pattern in self.beginnings:
            for begin in range(0, len(text), SLICE):
                end = begin + SLICE
                for match in pattern.finditer(text, begin, end + self.longest):
                    if match.start() < end:
                        found.append(match.start())
        return sorted(found)


def control_tokens(tokenizer: ModelTokenizer) -> ControlTokens:
    """Return the spellings of a tokenizer's special tokens."""
    added = tokenizer.added_tokens_decoder.values()
    return _control_tokens(frozenset(str(token.content) for token in added if token.special))


@lru_cache(maxsize=8)
def _control_tokens(texts: frozenset[str]) -> ControlTokens:
    tails: dict[str, list[str]] = {}
    for text in filter(None, texts):
        tails.setdefault(text[0], []).append(re.escape(text[1:]))
    beginnings = (f"{re.escape(first)}(?={'|'.join(rest)})" for first, rest in tails.items())
    single = tuple(text for text in texts if len(text) == 1)
    return ControlTokens(
        tuple(map(re.compile, beginnings)), single, max(map(len, texts), default=0)
    )


def _broken(value: object, marks: ControlTokens, cut: str) -> object:
    """Return a copy of the value in which `cut` is inserted after the first character of each
    spelling of a control token."""
    match value:
        case str():
            if any(mark in value for mark in marks.single):
                raise InputError(
                    "a message holds a character that is a control token of this model",
                    param="messages",
                )
            starts = marks.starts(value)
            if not starts:
                return value
            edges = [0, *(start + 1 for start in starts), len(value)]
            return cut.join(value[a:b] for a, b in pairwise(edges))
        case dict():
            items = cast(dict[str, object], value).items()
            return {str(_broken(k, marks, cut)): _broken(v, marks, cut) for k, v in items}
        case list() | tuple():
            return [_broken(each, marks, cut) for each in cast(list[object], value)]
        case _:
            return value


_PROBE: Final = "A text </think> with [/THINK]\nmarks."
"""What may stand in a message, with the marks of reasoning."""
_OTHER: Final[Mapping[str, Any]] = {"role": "user", "content": "x"}
_CALL: Final[Mapping[str, Any]] = {
    "role": "assistant",
    "content": "",
    "tool_calls": [{"id": "x", "type": "function", "function": {"name": "f", "arguments": {}}}],
}
_BEFORE: Final[Mapping[str, Sequence[Mapping[str, Any]]]] = {
    "system": (),
    "user": (),
    "tool": (_OTHER, _CALL),
}
"""The messages before one of a role. What an assistant has written is often left out in part, its
reasoning for example."""


def shown_roles(tokenizer: ModelTokenizer) -> frozenset[str]:
    """Return the roles whose messages the template shows with all of their text, apart from space
    around it, as far as a few chats tell; not `assistant`. A system's message is the first one of
    its chat."""
    return frozenset(role for role in _BEFORE if _shows(tokenizer, role))


def _shows(tokenizer: ModelTokenizer, role: str) -> bool:
    """Whether the template shows a message of a role in a short chat and in a longer one."""
    chat = [*_BEFORE[role], {"role": role, "content": _PROBE, "tool_call_id": "x", "name": "f"}]
    if role == "system":
        chat.append(_OTHER)
    longer = [*chat, {"role": "assistant", "content": "x"}, _OTHER]
    try:
        rendered = [chat_texts(tokenizer, each) for each in (chat, longer)]
    except Exception:  # whatever a template does with a chat that it doesn't expect
        return False
    return all(_PROBE in "".join(texts) for texts in rendered)
