"""What each kind of decoder makes of a piece, against the tokenizers library's own."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from maskwright.errors import InputError
from maskwright.vocab.hugging_face import parse_decoder, piece_bytes

BYTE_LEVEL = decoders.ByteLevel()
METASPACE = decoders.Metaspace()
LLAMA = decoders.Sequence(
    [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1)]
)
WORD_PIECE = decoders.WordPiece()
WORD_PIECE_PLAIN = decoders.WordPiece(cleanup=False)
WORD_PIECE_JOINED = decoders.WordPiece(prefix="")

PIECES: list[tuple[Any, str, bytes]] = [
    (BYTE_LEVEL, "a", b"a"),
    (BYTE_LEVEL, "Ġthe", b" the"),
    (BYTE_LEVEL, "ĠĠ", b"  "),
    (BYTE_LEVEL, "Ċ", b"\n"),
    (BYTE_LEVEL, "ÃĹ", "×".encode()),
    (BYTE_LEVEL, "¡", b"\xa1"),
    (BYTE_LEVEL, "ł", b"\xa0"),
    (BYTE_LEVEL, "Ń", b"\xad"),
    (BYTE_LEVEL, "<a b>", b"<a b>"),  # an added token, which isn't in the alphabet
    (METASPACE, "▁the", b" the"),
    (METASPACE, "▁▁▁▁", b"    "),
    (METASPACE, "a▁b▁c", b"a b c"),
    (METASPACE, "<0x41>", b"<0x41>"),
    (LLAMA, "▁the", b" the"),
    (LLAMA, "▁▁▁▁", b"    "),
    (LLAMA, "a▁b▁c", b"a b c"),
    (LLAMA, "<0x41>", b"A"),
    (LLAMA, "<0x0A>", b"\n"),
    (LLAMA, "<0x0a>", b"\n"),
    (LLAMA, "<0x7e>", b"~"),
    (LLAMA, "<0xE9>", b"\xe9"),
    (LLAMA, "<0xe9>", b"\xe9"),
    (LLAMA, "<0xeG>", b"<0xeG>"),
    (LLAMA, "<0x041>", b"<0x041>"),
    (LLAMA, "<0x41>x", b"<0x41>x"),
    (LLAMA, "é", "é".encode()),
    (WORD_PIECE, "##ing", b"ing"),
    (WORD_PIECE, "the", b" the"),
    (WORD_PIECE, "a##b", b" a##b"),
    (WORD_PIECE, ".", b"."),
    (WORD_PIECE, "?", b"?"),
    (WORD_PIECE, "!", b"!"),
    (WORD_PIECE, ",", b","),
    (WORD_PIECE, ";", b" ;"),
    (WORD_PIECE, "n't", b"n't"),
    (WORD_PIECE, "'m", b"'m"),
    (WORD_PIECE, "'s", b"'s"),
    (WORD_PIECE, "'ve", b"'ve"),
    (WORD_PIECE, "'re", b"'re"),
    (WORD_PIECE, "'ll", b" 'll"),
    (WORD_PIECE, "do not", b" don't"),
    (WORD_PIECE, "a ' b", b" a'b"),
    (WORD_PIECE_PLAIN, "##ing", b"ing"),
    (WORD_PIECE_PLAIN, ".", b" ."),
    (WORD_PIECE_JOINED, "the", b"the"),
]


@pytest.mark.parametrize(("decoder", "piece", "expected"), PIECES)
def test_a_piece_adds_these_bytes(decoder: Any, piece: str, expected: bytes) -> None:
    """After a word: at the very beginning of a text some decoders leave a space out."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.decoder = decoder
    steps = parse_decoder(json.loads(tokenizer.to_str())["decoder"])
    assert piece_bytes(piece, steps) == expected
    text = decoder.decode(["dog", piece]).removeprefix(decoder.decode(["dog"]))
    if "\ufffd" not in text:  # half a character
        assert text.encode() == expected


def test_every_byte_has_a_character() -> None:
    steps = parse_decoder({"type": "ByteLevel"})
    letters = pre_tokenizers.ByteLevel.alphabet()
    assert {piece_bytes(letter, steps) for letter in letters} == {bytes([n]) for n in range(256)}


REFUSED: list[dict[str, Any] | None] = [
    None,
    {"type": "CTC"},
    {"type": "Strip", "content": " ", "start": 1, "stop": 0},
    {"type": "Sequence", "decoders": [{"type": "Fuse"}, {"type": "ByteFallback"}]},
    {"type": "Sequence", "decoders": [{"type": "ByteLevel"}, {"type": "ByteLevel"}]},
    {
        "type": "Sequence",
        "decoders": [{"type": "Fuse"}, {"type": "WordPiece", "prefix": "##", "cleanup": True}],
    },
    {"type": "Sequence", "decoders": [{"type": "Fuse"}, {"type": "Metaspace", "replacement": "_"}]},
    {
        "type": "Sequence",
        "decoders": [
            {"type": "ByteLevel"},
            {"type": "Replace", "pattern": {"String": "a"}, "content": "b"},
        ],
    },
    {
        "type": "Sequence",
        "decoders": [{"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 1}],
    },
    {"type": "Replace", "pattern": {"Regex": "a"}, "content": "b"},
]


@pytest.mark.parametrize("decoder", REFUSED)
def test_a_step_that_sees_more_than_a_token_is_refused(decoder: dict[str, Any] | None) -> None:
    with pytest.raises(InputError) as refused:
        parse_decoder(decoder)
    assert refused.value.param == "tokenizer"


def test_steps_that_concern_a_beginning_alone_are_left_out() -> None:
    llama = {
        "type": "Sequence",
        "decoders": [
            {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"}]},
            {"type": "Strip", "content": " ", "start": 1, "stop": 0},
        ],
    }
    assert parse_decoder(llama) == parse_decoder({"type": "ByteFallback"})
