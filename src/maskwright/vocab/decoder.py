"""Computes the bytes that a token adds to a text from its form in a tokenizer, called a piece.

Fast tokenizers store tokens as strings and turn them into text by a chain of decoder steps
(`tokenizer.json`, key `decoder`). Each step that works token by token has a class here. A chain
with any other step is refused, because its tokens have no bytes of their own.

The bytes are those of a token *in the middle of a text*. Two families treat the beginning of a text
specially. There the bytes differ from what `tokenizer.decode` gives, which sees the whole text:

- sentencepiece writes a space as U+2581 and drops one space at the very beginning;
- WordPiece writes a space before each piece that doesn't begin with `##`, except the first.

A completion continues a prompt, so neither applies to it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, assert_never, cast

from maskwright.errors import InputError


@dataclass(frozen=True, slots=True)
class ByteLevel:
    """The alphabet of GPT-2: each byte is written as one printable character."""


@dataclass(frozen=True, slots=True)
class ByteFallback:
    """A piece like `<0xAB>` stands for one byte."""


@dataclass(frozen=True, slots=True)
class Replace:
    """A string stands for another one, such as U+2581 for the space."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class WordPiece:
    """A piece that begins with `prefix` continues a word; `cleanup` removes spaces before
    punctuation."""

    prefix: str
    cleanup: bool


DecoderStep = ByteLevel | ByteFallback | Replace | WordPiece


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
                steps.append(ByteLevel())
                fused = True
            case {"type": "ByteFallback"} if not fused:
                steps.append(ByteFallback())
            case {"type": "Replace", "pattern": {"String": str(old)}, "content": str(new)} if (
                not fused
            ):
                steps.append(Replace(old, new))
            case {"type": "Metaspace", "replacement": str(old)} if not fused:
                steps.append(Replace(old, " "))
            case {"type": "WordPiece", "prefix": str(prefix), "cleanup": bool(cleanup)} if (
                not fused
            ):
                steps.append(WordPiece(prefix, cleanup))
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
        match step:
            case ByteLevel():
                return _from_byte_alphabet(piece)
            case ByteFallback():
                if _FALLBACK.fullmatch(piece):
                    return bytes([int(piece[3:5], 16)])
            case Replace(old, new):
                piece = piece.replace(old, new)
            case WordPiece(prefix, cleanup):
                joins = piece.startswith(prefix)
                piece = piece[len(prefix) :] if joins else " " + piece
                if cleanup:
                    for old, new in _CLEANUP:
                        piece = piece.replace(old, new)
            case _:
                assert_never(step)
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
    """Return the bytes of a piece. A piece with any other character is an added token, which is
    plain text."""
    try:
        return bytes([_BYTE_ALPHABET[character] for character in piece])
    except KeyError:
        return piece.encode()


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
