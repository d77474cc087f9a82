"""Reads a fast Hugging Face tokenizer through its methods, without importing its library.

Fast tokenizers store tokens as strings, called pieces, and turn them into text by a chain of
decoder steps (`tokenizer.json`, key `decoder`). Each step that works token by token has a class
here. A chain with any other step is refused, because its tokens have no bytes of their own.

The bytes of a token are what it adds *in the middle of a text*. Two families treat the beginning of
a text specially. There the bytes differ from what `tokenizer.decode` gives, which sees the whole
text:

- sentencepiece writes a space as U+2581 and drops one space at the very beginning;
- WordPiece writes a space before each piece that doesn't begin with `##`, except the first.

A completion continues a prompt, so neither applies to it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol, TypeAlias, cast

from maskwright.errors import InputError
from maskwright.immutable import Immutable

DecoderStep: TypeAlias = Callable[[str], str | bytes]
"""Returns what a step makes of a piece: another piece, or the bytes for which it stands."""


def parse_decoder(decoder: Mapping[str, Any] | None) -> tuple[DecoderStep, ...]:
    """Return the steps of a decoder in `tokenizer.json`.

    Raises `InputError` for a step that isn't supported, or if there is no decoder.
    """
    if decoder is None:
        raise InputError(
            "the tokenizer has no decoder, so its tokens have no bytes", param="tokenizer"
        )
    steps: list[DecoderStep] = []
    fused = False  # whether the following steps see the whole text instead of tokens
    for step in _flat(decoder):
        match step:
            case {"type": "Fuse"}:
                fused = True
            case {"type": "Strip", "stop": 0} if fused:
                pass  # affects only the beginning of a text
            case {"type": "ByteLevel"} if not fused:
                steps.append(_from_byte_alphabet)
                fused = True
            case {"type": "ByteFallback"} if not fused:
                steps.append(_from_fallback)
            case {"type": "Replace", "pattern": {"String": str(old)}, "content": str(new)} if (
                not fused
            ):
                steps.append(partial(_replaced, [(old, new)]))
            case {"type": "Metaspace", "replacement": str(old)} if not fused:
                steps.append(partial(_replaced, [(old, " ")]))
            case {"type": "WordPiece", "prefix": str(prefix), "cleanup": bool(cleanup)} if (
                not fused
            ):
                steps.append(partial(_from_word_piece, prefix, _CLEANUP if cleanup else ()))
            case _:
                raise InputError(
                    f"the tokenizer's decoder step {dict(step)} is not supported: byte-level, "
                    "sentencepiece (with byte fallback) and WordPiece decoders are",
                    param="tokenizer",
                )
    return tuple(steps)


def _flat(decoder: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    if decoder["type"] != "Sequence":
        return [decoder]
    parts = cast(Sequence[Mapping[str, Any]], decoder["decoders"])
    return [step for part in parts for step in _flat(part)]


def piece_bytes(piece: str, steps: Sequence[DecoderStep]) -> bytes:
    """Return the bytes that the decoder appends for `piece` to a text that has already begun."""
    for step in steps:
        made = step(piece)
        if isinstance(made, bytes):
            return made
        piece = made
    return piece.encode()


def _byte_alphabet() -> dict[str, int]:
    """Return the byte of each character. Printable characters of Latin-1 represent themselves,
    U+0100 and the following ones the other 68 bytes in order."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = sorted(set(range(256)) - set(printable))
    return {chr(byte): byte for byte in printable} | {
        chr(0x100 + n): byte for n, byte in enumerate(others)
    }


def _from_byte_alphabet(piece: str) -> bytes:
    """The alphabet of GPT-2: each byte is written as one printable character. A piece with any
    other character is an added token, which is plain text."""
    try:
        return bytes([_BYTE_ALPHABET[character] for character in piece])
    except KeyError:
        return piece.encode()


def _from_fallback(piece: str) -> str | bytes:
    """A piece like `<0xAB>` stands for one byte."""
    return bytes([int(piece[3:5], 16)]) if _FALLBACK.fullmatch(piece) else piece


def _replaced(changes: Iterable[tuple[str, str]], piece: str) -> str:
    """Strings stand for others, such as U+2581 for the space."""
    for old, new in changes:
        piece = piece.replace(old, new)
    return piece


def _from_word_piece(prefix: str, cleanup: Iterable[tuple[str, str]], piece: str) -> str:
    """A piece that begins with `prefix` continues a word; others begin one."""
    continues = piece.startswith(prefix)
    return _replaced(cleanup, piece[len(prefix) :] if continues else " " + piece)


_BYTE_ALPHABET = _byte_alphabet()
_FALLBACK = re.compile("<0x[0-9A-Fa-f]{2}>")
# What `WordPiece(cleanup=True)` of the tokenizers library does to each piece, in its order.
_CLEANUP = (
    *((f" {sign}", sign) for sign in ".?!,"),
    (" ' ", "'"),
    (" n't", "n't"),
    (" 'm", "'m"),
    (" do not", " don't"),
    *((f" '{end}", f"'{end}") for end in ("s", "ve", "re")),
)


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


class ReadTokenizer(Immutable):
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
    more = cast(list[int], getattr(tokenizer, "all_special_ids", []))
    special = frozenset([*_special(description, backend), *more])

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
