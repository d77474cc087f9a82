"""Cuts texts into tokens as the tokenizer does, while other threads go on.

The tokenizers library holds the interpreter's lock while it encodes one text, a second for a
megabyte; while it encodes a batch it gives the lock up. A long text is cut in windows, so that one
can stop after each, and so that several long texts can take turns.

Tokenizers read from left to right, in words that are short. Two windows overlap, and what they have
in common shows whether the second one begins at a place where the tokenizer would have cut anyway:
the ids of the first one after that place must begin the second one's. If no such place is
found, the rest of the text is cut in one go.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final, cast

from maskwright.errors import InputError
from maskwright.immutable import Acyclic
from maskwright.vocab.hugging_face import Backend

WINDOW: Final = 1 << 15
"""Characters that are cut at once: 10 to 30 ms."""
OVERLAP: Final = 1 << 10
"""Characters that two windows have in common, at most. Far more than a word has, so that where a
window ends doesn't change where the next one begins."""
QUICK: Final = 1000
"""Characters of a text for which the lock is kept: to get it again may take 5 ms."""
TRIES: Final = 4
"""Places at which a window is tried to begin."""

_JOINT: Final = re.compile(r"(?<=[^\W\d_])[\W\d_]|(?<=\d)\D")
"""What follows runs of letters, or of digits. Most tokenizers cut before it."""


class Joint(Acyclic):
    """A place in a window at which the next one may begin: after so many of its `ids`. The next
    one begins at character `start`."""

    ids: int
    start: int


class TextEncoder:
    """Cuts texts into tokens. Can be used from several threads at once, as long as nobody changes
    the settings of the tokenizer."""

    def __init__(self, backend: object, *, reads_names: bool = True) -> None:
        """`backend`: a `tokenizers.Tokenizer`, which from now on neither truncates nor pads.
        `reads_names`: the name of a special token in a text is that token."""
        self._backend = cast(Backend, backend)
        self._backend.no_truncation()
        self._backend.no_padding()
        self._backend.encode_special_tokens = not reads_names

    def encode(self, text: str, *, special: bool) -> list[int]:
        """Return the token ids of a text in one go. `special`: with the special tokens that the
        tokenizer puts around texts. Raises InputError for a text that the tokenizer gives up, as
        some do after millions of spaces."""
        try:
            if len(text) <= QUICK:
                return self._backend.encode(text, add_special_tokens=special).ids
            return self._backend.encode_batch_fast([text], add_special_tokens=special)[0].ids
        except BaseException as error:
            if type(error).__name__ != "PanicException":  # of Rust; it is no Exception
                raise
            raise InputError(f"the model's tokenizer can't read this text: {error}") from None

    def windows(self, text: str, *, special: bool) -> Iterator[list[int]]:
        """Yield the ids of `encode(text)` in parts, each after the time that a window takes, if the
        text can be cut in windows."""
        around = self._around() if special else ([], [])
        if len(text) <= WINDOW or around is None:
            yield self.encode(text, special=special)
            return
        before, after = around
        yield before
        at, ids = 0, self._window(text, 0)
        while at + WINDOW < len(text):
            joint = self._joint(text[at : at + WINDOW], ids)
            following = [] if joint is None else self._window(text, at + joint.start)
            if joint is None or not _agree(ids[joint.ids :], following):
                ids = self.encode(text[at:], special=False)
                break
            yield ids[: joint.ids]
            at, ids = at + joint.start, following
        yield ids
        yield after

    def _window(self, text: str, at: int) -> list[int]:
        return self.encode(text[at : at + WINDOW], special=False)

    def _around(self) -> tuple[list[int], list[int]] | None:
        """Return the ids of the special tokens before and after a text; None if the tokenizer does
        more with it than to put tokens around it."""
        plain, whole = self.encode("a", special=False), self.encode("a", special=True)
        for at in range(len(whole) - len(plain) + 1):
            if plain and whole[at : at + len(plain)] == plain:
                return whole[:at], whole[at + len(plain) :]
        return None

    def _joint(self, window: str, ids: Sequence[int]) -> Joint | None:
        """Return a place in the first half of the window's last `OVERLAP` characters at which the
        rest of it is cut as if a text began there; None if none is found. Some tokenizers put a
        space before each text, for which the next window begins after one."""
        tail = window[-OVERLAP:]
        for match in islice(_JOINT.finditer(tail, 0, OVERLAP // 2), TRIES):
            for begin in range(match.start(), match.start() + 1 + (match.group() == " ")):
                rest = self.encode(tail[begin:], special=False)
                count = len(ids) - len(rest)
                if rest and rest == ids[count:]:
                    return Joint(count, len(window) - len(tail) + begin)
        return None


def _agree(before: Sequence[int], window: Sequence[int]) -> bool:
    """Whether a window begins with the ids `before`, which end where the window before it ended:
    the last of them may differ, which depend on the text after that."""
    half = len(before) // 2
    return half > 0 and list(before[:half]) == list(window[:half])
