"""Reads a fast Hugging Face tokenizer through its methods, without importing its library."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, cast

from maskwright.errors import InputError
from maskwright.vocab.decoder import parse_decoder, piece_bytes


class Encoding(Protocol):
    """The result of encoding a text."""

    ids: list[int]


class Backend(Protocol):
    """The part of a `tokenizers.Tokenizer` that is used here."""

    encode_special_tokens: bool

    def to_str(self) -> str: ...
    def get_vocab(self, with_added_tokens: bool = ...) -> dict[str, int]: ...
    def encode(self, sequence: str, *, add_special_tokens: bool = ...) -> Encoding: ...
    def encode_batch_fast(
        self, input: list[str], *, add_special_tokens: bool = ...
    ) -> list[Encoding]: ...
    def no_truncation(self) -> None: ...
    def no_padding(self) -> None: ...


@dataclass(frozen=True, slots=True)
class ReadTokenizer:
    """The vocabulary of a tokenizer.

    `tokens`: the bytes of each id, b"" for an unused id, and the name of a special token. `eos`:
    the end token, or None if the tokenizer names none. `encode`: returns the ids for some bytes, or
    None if the tokenizer can't spell them exactly.
    """

    tokens: tuple[bytes, ...]
    special: frozenset[int]
    eos: int | None
    encode: Callable[[bytes], list[int] | None]


def read_tokenizer(tokenizer: object) -> ReadTokenizer:
    """Read a tokenizer of the transformers library, or a `tokenizers.Tokenizer`.

    Raises `InputError` for a slow tokenizer, an empty one, or one with a decoder whose tokens have
    no fixed bytes.
    """
    backend = _backend(tokenizer)
    serialised = backend.to_str()
    description = cast(dict[str, Any], json.loads(serialised))
    pieces = {token_id: piece for piece, token_id in backend.get_vocab(True).items()}
    if not pieces:
        raise InputError("the tokenizer's vocabulary is empty", param="tokenizer")
    steps = parse_decoder(description["decoder"])
    special = frozenset(
        [
            *_special(description, backend),
            *cast(list[int], getattr(tokenizer, "all_special_ids", [])),
        ]
    )

    def text(token_id: int) -> bytes:
        piece = pieces.get(token_id, "")
        return piece.encode() if token_id in special else piece_bytes(piece, steps)

    tokens = tuple(map(text, range(max(pieces) + 1)))
    eos = cast("int | None", getattr(tokenizer, "eos_token_id", None))
    return ReadTokenizer(tokens, special, eos, CanonicalEncoder(type(backend), serialised, tokens))


def is_tokenizer(value: object) -> bool:
    """Whether `read_tokenizer` can read something."""
    backend = getattr(value, "backend_tokenizer", value)
    return hasattr(backend, "to_str") and hasattr(backend, "get_vocab")


def _backend(tokenizer: object) -> Backend:
    if not is_tokenizer(tokenizer):
        raise InputError(
            f"{type(tokenizer).__name__} is not a fast tokenizer: load one with a tokenizer.json, "
            "or give Vocabulary(tokens=...) the bytes of each token",
            param="tokenizer",
        )
    return cast(Backend, getattr(tokenizer, "backend_tokenizer", tokenizer))


def _special(description: Mapping[str, Any], backend: Backend) -> Iterable[int]:
    """Yield the ids of added tokens that are flagged special, and of the unknown token, which
    represents no text."""
    yield from (token["id"] for token in description["added_tokens"] if token["special"])
    model = cast(dict[str, Any], description["model"])
    unknown = cast("int | None", model.get("unk_id"))
    if unknown is None and model.get("unk_token") is not None:
        unknown = backend.get_vocab(True).get(model["unk_token"])
    if unknown is not None:
        yield unknown


# Some tokenizers put a space before a text. A text that is put after one of these characters is cut
# as in the middle of a text, and the tokens of the character are removed again. If a token contains
# both the character and a part of the text, the next character is tried; hardly any token begins
# with the last two.
_ANCHORS = ("\n", "\x02", "\ue000")


class CanonicalEncoder:
    """Cuts bytes as the tokenizer itself does, by a private copy of it.

    The copy never truncates or pads, and reads the names of special tokens as plain text. What the
    owner of the original does with it in other threads doesn't affect the copy. It can be pickled,
    and so sent to other processes.
    """

    def __init__(self, kind: type, serialised: str, tokens: tuple[bytes, ...]) -> None:
        """`kind` is the class of the tokenizer, `serialised` its `to_str()`."""
        self._made_from = kind, serialised, tokens
        self._tokens = tokens
        self._copy = copy = cast(Backend, cast(Any, kind).from_str(serialised))
        copy.no_truncation()
        copy.no_padding()
        copy.encode_special_tokens = True

    def __reduce__(self) -> tuple[type[CanonicalEncoder], tuple[type, str, tuple[bytes, ...]]]:
        return CanonicalEncoder, self._made_from

    def __call__(self, data: bytes) -> list[int] | None:
        """The ids into which `data` is cut in the middle of a text; None if it is no UTF-8, or the
        tokenizer does not keep every byte of it."""
        try:
            text = data.decode()
        except UnicodeDecodeError:
            return None
        ids = self._ids(text)
        if self._spelled(ids) == data:
            return ids
        for anchor in _ANCHORS:
            ids = self._ending(self._ids(anchor + text), len(data))
            if self._spelled(ids) == data:
                return ids
        return None

    def _ids(self, text: str) -> list[int]:
        return self._copy.encode(text, add_special_tokens=False).ids

    def _spelled(self, ids: list[int]) -> bytes:
        return b"".join([self._tokens[i] for i in ids])

    def _ending(self, ids: list[int], size: int) -> list[int]:
        """As few of the last `ids` as have at least `size` bytes together."""
        at = len(ids)
        while at and size > 0:
            at -= 1
            size -= len(self._tokens[ids[at]])
        return ids[at:]
