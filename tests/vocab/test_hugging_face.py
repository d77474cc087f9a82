"""What is read of a tokenizer: bytes, special tokens, the end token, and how it cuts a text."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers

from maskwright.errors import InputError
from maskwright.vocab.hugging_face import read_tokenizer

SPACES = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback()])


def tokenizer_of(*pieces: str, decoder: Any = None, **model: Any) -> Tokenizer:
    """A tokenizer of these pieces, with neither merges nor special tokens."""
    vocab = {piece: number for number, piece in enumerate(pieces)}
    found = Tokenizer(models.BPE(vocab, model.pop("merges", []), **model))
    found.decoder = decoder or decoders.ByteLevel()
    return found


def test_tokens_by_id() -> None:
    read = read_tokenizer(tokenizer_of("a", "Ġb", "é", "Ã©"))
    assert read.tokens == (b"a", b" b", b"\xe9", "é".encode())
    assert (read.special, read.eos) == (frozenset(), None)


class Holey:
    """A tokenizer whose ids have a hole, which the library itself doesn't make."""

    def __init__(self, tokenizer: Tokenizer, ids: dict[str, int]) -> None:
        self.tokenizer, self.ids = tokenizer, ids

    def to_str(self) -> str:
        return self.tokenizer.to_str()

    def get_vocab(self, with_added_tokens: bool = True) -> dict[str, int]:
        return self.ids

    @classmethod
    def from_str(cls, text: str) -> Tokenizer:
        return Tokenizer.from_str(text)


def test_ids_that_no_token_has_are_empty() -> None:
    holey = Holey(tokenizer_of("a", "b"), {"a": 0, "b": 3})
    assert read_tokenizer(holey).tokens == (b"a", b"", b"", b"b")


def special_by(kind: str) -> Any:
    """A tokenizer in which the token `<x>`, of id 1, is special for one reason or for none."""
    tokenizer = tokenizer_of("a", "<x>", "b")
    match kind:
        case "added":
            tokenizer.add_tokens([AddedToken("<x>", special=True)])
        case "added, not special":
            tokenizer.add_tokens([AddedToken("<x>", special=False)])
        case "unknown":
            tokenizer.model = models.BPE({"a": 0, "<x>": 1, "b": 2}, [], unk_token="<x>")
        case "unknown by id":
            pieces = [("a", 0.0), ("<x>", 0.0), ("b", 0.0)]
            tokenizer.model = models.Unigram(pieces, unk_id=1)
        case "told by transformers":
            return SimpleNamespace(backend_tokenizer=tokenizer, all_special_ids=[1])
        case _:
            pass
    return tokenizer


@pytest.mark.parametrize(
    ("kind", "special"),
    [
        ("added", True),
        ("unknown", True),
        ("unknown by id", True),
        ("told by transformers", True),
        ("added, not special", False),
        ("none", False),
    ],
)
def test_special_tokens(kind: str, special: bool) -> None:
    """A special token keeps its name as bytes; the vocabulary takes them away."""
    read = read_tokenizer(special_by(kind))
    assert read.special == ({1} if special else set())
    assert read.tokens == (b"a", b"<x>", b"b")


def test_the_name_of_a_special_token_is_not_decoded() -> None:
    tokenizer = tokenizer_of("Ġ", "ĠĠ")
    tokenizer.add_special_tokens([AddedToken("Ġ", special=True)])
    assert read_tokenizer(tokenizer).tokens == ("Ġ".encode(), b"  ")


@pytest.mark.parametrize("eos", [None, 0, 2])
def test_the_end_token_is_the_one_that_transformers_names(eos: int | None) -> None:
    tokenizer = SimpleNamespace(backend_tokenizer=tokenizer_of("a", "b", "c"), eos_token_id=eos)
    assert read_tokenizer(tokenizer).eos == eos


def merging(
    *more: str, merges: list[tuple[str, str]], decoder: Any = SPACES, byte_fallback: bool = False
) -> Tokenizer:
    """Pieces a, b, ab and those in `more`; merges make `ab`."""
    pieces, merges = ("a", "b", "ab", *more), [("a", "b"), *merges]
    return tokenizer_of(*pieces, decoder=decoder, merges=merges, byte_fallback=byte_fallback)


def cut(tokenizer: Any, text: str | bytes) -> list[bytes] | None:
    """The bytes of each token that the tokenizer cuts a text into."""
    read = read_tokenizer(tokenizer)
    ids = read.encode(text.encode() if isinstance(text, str) else text)
    return None if ids is None else [read.tokens[number] for number in ids]


def prefixed(*more: str, merges: list[tuple[str, str]]) -> Tokenizer:
    """A tokenizer that puts a space in front of every text."""
    found = merging("▁", "▁ab", *more, merges=[*merges, ("▁", "ab")], byte_fallback=True)
    found.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    return found


CUTS: list[tuple[Tokenizer, str | bytes, list[bytes] | None]] = [
    (merging(merges=[]), "abab", [b"ab", b"ab"]),
    (merging(merges=[]), "ba", [b"b", b"a"]),
    (merging(merges=[]), "", []),
    (merging(merges=[]), b"\xff", None),  # no text
    (merging(merges=[]), "aé", None),  # a character is lost
    # The space in front is cut off again, by a character before the text.
    (prefixed("\n", merges=[]), "ab", [b"ab"]),
    (prefixed("\n", merges=[]), " ab", [b" ab"]),
    # A token that begins with the line break holds a part of the text: the next character.
    (prefixed("\n", "\nab", "\x02", merges=[("\n", "ab")]), "ab", [b"ab"]),
    (prefixed("\n", "\nab", merges=[("\n", "ab")]), "ab", None),  # no character is left
    # Several tokens, the bytes of U+E000, belong to the character.
    (prefixed("<0xEE>", "<0x80>", merges=[]), "ab", [b"ab"]),
]


@pytest.mark.parametrize(("tokenizer", "text", "pieces"), CUTS)
def test_texts_are_cut_as_in_the_middle_of_a_text(
    tokenizer: Tokenizer, text: str | bytes, pieces: list[bytes] | None
) -> None:
    assert cut(tokenizer, text) == pieces


def test_names_of_special_tokens_are_cut_as_text() -> None:
    tokenizer = tokenizer_of("a", "<", ">", "<a>")
    tokenizer.add_special_tokens([AddedToken("<a>", special=True)])
    assert tokenizer.encode("<a>").ids == [3]
    assert cut(tokenizer, "<a>") == [b"<", b"a", b">"]


def test_the_original_is_left_as_it_is() -> None:
    tokenizer = merging(merges=[])
    tokenizer.enable_truncation(1)
    tokenizer.enable_padding(length=5)
    read = read_tokenizer(tokenizer)
    assert read.encode(b"abab") == [2, 2]
    tokenizer.add_tokens(["abab"])
    assert read.encode(b"abab") == [2, 2], "the copy is private"
    assert len(tokenizer.encode("ab").ids) == 5
    assert not tokenizer.encode_special_tokens


def test_configurations_without_optional_keys() -> None:
    """A model may leave out its unknown token."""
    tokenizer = tokenizer_of("a")
    description = json.loads(tokenizer.to_str())
    for key in ("unk_token", "unk_id"):
        description["model"].pop(key, None)
    holey = Holey(tokenizer, {"a": 0})
    holey.to_str = lambda: json.dumps(description)  # type: ignore[method-assign]
    assert read_tokenizer(holey).special == frozenset()


REFUSED: list[tuple[Any, str]] = [
    (object(), "object is not a fast tokenizer"),
    (SimpleNamespace(get_vocab=dict), "SimpleNamespace is not a fast tokenizer"),
    (SimpleNamespace(backend_tokenizer=None), "not a fast tokenizer"),
    (Tokenizer(models.BPE()), "vocabulary is empty"),
    (tokenizer_of("a", decoder=decoders.CTC()), "is not supported"),
    (Tokenizer(models.BPE({"a": 0}, [])), "has no decoder"),
]


@pytest.mark.parametrize(("tokenizer", "message"), REFUSED, ids=[row[1] for row in REFUSED])
def test_refusals(tokenizer: Any, message: str) -> None:
    with pytest.raises(InputError, match=message) as raised:
        read_tokenizer(tokenizer)
    assert raised.value.param == "tokenizer"


def test_metaspace_tokenizers_put_no_space_in_front() -> None:
    found = merging("▁", "▁ab", "\n", merges=[("▁", "ab")], decoder=decoders.Metaspace())
    found.pre_tokenizer = pre_tokenizers.Metaspace()
    assert cut(found, "ab") == [b"ab"]
    assert cut(found, " ab") == [b" ab"]
