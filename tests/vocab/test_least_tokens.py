"""The least tokens of texts by their bytes: never more than they take."""

from __future__ import annotations

import json
import random
import unicodedata
from collections.abc import Callable

import pytest
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers

from maskwright.models import DEMO_PATH, load
from maskwright.server.prompt_sizes import least_tokens
from maskwright.vocab import Vocabulary
from maskwright.vocab.least_tokens import NORMAL_FORM, LeastTextTokens
from tests.vocab.texts import TEXTS


def least(tokenizer: Tokenizer) -> LeastTextTokens:
    return LeastTextTokens.by(tokenizer, Vocabulary.from_tokenizer(tokenizer, eos=()))


def tokens(bound: LeastTextTokens, *texts: str) -> int:
    """The least tokens of a text, or of a chat with several."""
    content = [{"type": "text", "text": text} for text in texts]
    body = {"prompt": texts[0], "messages": [{"role": "user", "content": content}]}
    place = "prompt" if len(texts) == 1 else "messages"
    counted = least_tokens(json.dumps(body).encode(), place, {"user"}, *bound)
    assert counted is not None
    return counted[0]


def changed(tokenizer: Tokenizer, change: Callable[[Tokenizer], None]) -> Tokenizer:
    other = Tokenizer.from_str(tokenizer.to_str())
    change(other)
    return other


def bounded(byte_level: Tokenizer, sentencepiece: Tokenizer) -> dict[str, Tokenizer]:
    def composed(tokenizer: Tokenizer) -> None:
        tokenizer.normalizer = normalizers.Sequence([normalizers.NFC()])

    def decomposed(tokenizer: Tokenizer) -> None:
        tokenizer.normalizer = normalizers.NFD()

    return {
        "byte level": byte_level,
        "sentencepiece": sentencepiece,
        "NFC": changed(byte_level, composed),
        "NFD": changed(byte_level, decomposed),
        "demo": Tokenizer.from_file(str(DEMO_PATH / "tokenizer.json")),
    }


@pytest.mark.parametrize("name", ["byte level", "sentencepiece", "NFC", "NFD", "demo"])
def test_no_text_takes_fewer(
    byte_level: Tokenizer, sentencepiece_bpe: Tokenizer, name: str
) -> None:
    tokenizer = bounded(byte_level, sentencepiece_bpe)[name]
    bound, draw = least(tokenizer), random.Random(name)
    longest = max(Vocabulary.from_tokenizer(tokenizer, eos=()).tokens, key=len).decode()
    texts = [*TEXTS, longest * 40, "e\u0301" * 50, "\u0390" * 50, "\u1fef" * 50,
             unicodedata.normalize("NFD", "\u0390한글") * 50,
             *("".join(draw.choices(TEXTS, k=5)) for _ in range(50))]  # fmt: skip
    for text in texts:
        taken = len(tokenizer.encode(text, add_special_tokens=False).ids)
        assert tokens(bound, text) <= taken, text
        half = len(text) // 2
        assert tokens(bound, text[:half], text[half:]) <= taken


def test_the_bound_is_the_bytes_over_those_of_the_longest_token() -> None:
    demo = load(DEMO_PATH)
    longest = max(map(len, demo.vocab.tokens))
    bound = demo.least_tokens
    for size, count in ((0, 0), (1, 1), (longest, 1), (longest + 1, 2), (100 * longest, 100)):
        assert tokens(bound, "x" * size) == count
        assert tokens(bound, "", *["x"] * size) == count
    assert tokens(bound, "é" * 100) == -(-200 // longest)


def test_no_normal_form_shortens_a_text_more() -> None:
    for point in (*range(0xD800), *range(0xE000, 0x30000), *range(0xE0000, 0xE0200)):
        character = chr(point)
        parts = unicodedata.normalize("NFD", character)
        for form in ("NFC", "NFD"):
            result = len(unicodedata.normalize(form, character).encode())  # pyright: ignore[reportArgumentType]
            assert max(len(parts.encode()), len(character.encode())) <= NORMAL_FORM * result


def lower(tokenizer: Tokenizer) -> None:
    tokenizer.normalizer = normalizers.Lowercase()


def shorter(tokenizer: Tokenizer) -> None:
    tokenizer.normalizer = normalizers.Replace("--", "-")


def without_spaces(tokenizer: Tokenizer) -> None:
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(" ", "removed"), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )


def with_a_mask(tokenizer: Tokenizer) -> None:
    tokenizer.add_tokens([AddedToken("<mask>", lstrip=True)])


@pytest.mark.parametrize("change", [lower, shorter, without_spaces, with_a_mask])
def test_there_is_no_bound_where_text_is_dropped(
    byte_level: Tokenizer, change: Callable[[Tokenizer], None]
) -> None:
    assert tokens(least(byte_level), "x" * 1000) > 0
    assert tokens(least(changed(byte_level, change)), "x" * 1000) == 0


def test_there_is_none_where_unknown_characters_are_one_token(
    unigram: Tokenizer, word_piece: Tokenizer
) -> None:
    for tokenizer in (unigram, word_piece):
        assert tokens(least(tokenizer), "語" * 1000) == 0
    few = Tokenizer(models.BPE({"a": 0, "<unk>": 1}, [], unk_token="<unk>", fuse_unk=True))
    few.decoder = decoders.ByteLevel()
    assert tokens(least(few), "b" * 1000) == 0
    assert len(few.encode("b" * 1000).ids) == 1
