"""Texts as tokens: in windows exactly as in one go, and without the interpreter's lock."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from itertools import chain

import pytest
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from maskwright.errors import InputError
from maskwright.models import DEMO_PATH
from maskwright.vocab import Vocabulary, text_encoder
from maskwright.vocab.text_encoder import OVERLAP, QUICK, WINDOW, TextEncoder
from tests.vocab.texts import CORPUS, TEXTS

PATTERNS = {
    "gpt-4": (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
        r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
    "deepseek": (
        r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
        r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
    "in threes": r".{1,3}|\n",
}
"""Ways to cut words. Where the last one cuts depends on all of the text before."""


def trained(pattern: str, *, composed: bool) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    if composed:
        tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(pattern), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=600, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(CORPUS * 3, trainer)
    return tokenizer


@pytest.fixture(scope="session")
def tokenizers(
    byte_level: Tokenizer, sentencepiece_bpe: Tokenizer, unigram: Tokenizer, word_piece: Tokenizer
) -> dict[str, Tokenizer]:
    return {
        "byte level": byte_level,
        "sentencepiece": sentencepiece_bpe,
        "unigram": unigram,
        "word piece": word_piece,
        "demo": Tokenizer.from_file(str(DEMO_PATH / "tokenizer.json")),
        **{name: trained(pattern, composed=name == "gpt-4") for name, pattern in PATTERNS.items()},
    }


SMALL = 4 * OVERLAP
"""Characters of a window of most tests."""

FAMILIES = ("byte level", "sentencepiece", "unigram", "word piece", "demo", *PATTERNS)
IN_WINDOWS = ("byte level", "sentencepiece", "demo", "gpt-4", "deepseek")
"""Families whose tokenizers cut words as most do; the others may be read in one go."""


def encoder(tokenizer: Tokenizer) -> TextEncoder:
    return TextEncoder(tokenizer)


def words(draw: random.Random, size: int) -> str:
    """An ordinary text."""
    parts = [word for text in CORPUS for word in text.split(" ")]
    return " ".join(draw.choices([*parts, "4711", "x_y", "e\u0301", "\n\n  z"], k=size // 5))[:size]


def of(characters: str) -> Callable[[random.Random, int], str]:
    return lambda draw, size: "".join(draw.choices(characters, k=size))


TEXT_KINDS: dict[str, Callable[[random.Random, int], str]] = {
    "words": words,
    "hostile": lambda draw, size: "".join(
        draw.choices([*TEXTS, "<tool call>", "<s>"], k=size // 9)
    ),
    "spaces": of("   \n\ta"),
    "one letter": lambda draw, size: "a" * (size - draw.randrange(2)),
    "digits": of("0123456789"),
    "hexadecimal": of("0123456789abcdef"),
    "letters": of("the"),
    "Chinese": of("日本語のテキストです中文文本。，"),
    "accents": of("ae\u0301\u0308o \u0300"),
    "emoji": of("🙂👩\u200d🇳🇴 a"),
    "of the": lambda _, size: ' of the in, {"type":"string"}'[: size // 2] * (size // 14),
}


@pytest.mark.parametrize("kind", TEXT_KINDS)
@pytest.mark.parametrize("family", FAMILIES)
def test_windows_have_the_tokens_of_the_whole_text(
    tokenizers: dict[str, Tokenizer], family: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In small windows: a short text already has several."""
    monkeypatch.setattr(text_encoder, "WINDOW", SMALL)
    tokenizer, draw = tokenizers[family], random.Random(f"{family} {kind}")
    cutting = encoder(tokenizer)
    for size in (SMALL - 1, SMALL + 1, SMALL + OVERLAP + draw.randrange(SMALL), 4 * SMALL):
        text = TEXT_KINDS[kind](draw, size)
        for special in (False, True):
            whole = tokenizer.encode(text, add_special_tokens=special).ids
            assert list(chain.from_iterable(cutting.windows(text, special=special))) == whole
            assert cutting.encode(text, special=special) == whole


@pytest.mark.parametrize("family", IN_WINDOWS)
def test_ordinary_texts_are_cut_in_windows(
    tokenizers: dict[str, Tokenizer], family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that one can stop in between."""
    monkeypatch.setattr(text_encoder, "WINDOW", SMALL)
    text = words(random.Random(1), 10 * SMALL)
    cutting = encoder(tokenizers[family])
    parts = [part for part in cutting.windows(text, special=False) if part]
    most = max(len(cutting.encode(text[at : at + SMALL], special=False))
               for at in range(0, len(text), SMALL // 2))  # fmt: skip
    assert len(parts) >= 10
    assert max(map(len, parts)) <= most + 10


def test_nothing_is_cut_that_nobody_asks_for(
    tokenizers: dict[str, Tokenizer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_encoder, "WINDOW", SMALL)
    cutting, lengths = encoder(tokenizers["demo"]), list[int]()
    encode = cutting.encode

    def noting(text: str, *, special: bool) -> list[int]:
        lengths.append(len(text))
        return encode(text, special=special)

    cutting.encode = noting
    windows = cutting.windows(words(random.Random(2), 20 * SMALL), special=False)
    for _ in range(3):
        next(windows)
    assert sum(lengths) < 5 * SMALL


@pytest.mark.parametrize("size", [QUICK, QUICK + 1])
def test_settings_of_the_tokenizer_have_no_effect(byte_level: Tokenizer, size: int) -> None:
    """Neither a length at which it cuts texts off, nor one to which it fills them up."""
    tokenizer = Tokenizer.from_str(byte_level.to_str())
    text = words(random.Random(3), size)
    plain = tokenizer.encode(text).ids
    tokenizer.enable_truncation(5)
    tokenizer.enable_padding(length=10_000)
    assert encoder(tokenizer).encode(text, special=False) == plain


def test_names_of_special_tokens_are_tokens_or_text(byte_level: Tokenizer) -> None:
    vocabulary = Vocabulary.from_tokenizer(byte_level, eos=())
    for names in (True, False):
        tokenizer = Tokenizer.from_str(byte_level.to_str())
        ids = TextEncoder(tokenizer, reads_names=names).encode("a</s>", special=False)
        assert (vocabulary.special_tokens["</s>"] in ids) == names


def test_other_threads_go_on_while_a_text_is_cut(tokenizers: dict[str, Tokenizer]) -> None:
    """A thread of Python counts; under the interpreter's lock it would stand still."""
    cutting = encoder(tokenizers["demo"])
    text = words(random.Random(4), WINDOW)
    ended, counted = threading.Event(), 0

    def cut() -> None:
        for _ in range(10):
            cutting.encode(text, special=False)
        ended.set()

    thread = threading.Thread(target=cut)
    thread.start()
    while not ended.is_set():
        counted += 1
    thread.join()
    assert counted > 1000


def test_many_threads_cut_at_once(tokenizers: dict[str, Tokenizer]) -> None:
    cutting = encoder(tokenizers["gpt-4"])
    texts = [words(random.Random(number), 2 * QUICK) for number in range(8)]
    expected = [cutting.encode(text, special=False) for text in texts]
    found: dict[int, list[list[int]]] = {}

    def cut(number: int) -> None:
        found[number] = [cutting.encode(texts[number], special=False) for _ in range(30)]

    threads = [threading.Thread(target=cut, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(found[number] == [expected[number]] * 30 for number in range(8))


def test_a_text_that_the_tokenizer_gives_up_is_refused(tokenizers: dict[str, Tokenizer]) -> None:
    """Its library searches for the end of a run of spaces a bounded number of times."""
    cutting = encoder(tokenizers["demo"])
    with pytest.raises(InputError, match="tokenizer can't read this text"):
        list(cutting.windows(" " * 2_000_000, special=False))
    assert cutting.encode("Anna", special=False)
