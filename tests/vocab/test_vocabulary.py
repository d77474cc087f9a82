from __future__ import annotations

import copy
import itertools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, normalizers
from transformers import PreTrainedTokenizerFast

from benchmarks.vocabularies import TEKKEN_EOS, tekken
from maskwright import compile_structural_tag
from maskwright.automaton.leaf import special_tokens as special
from maskwright.errors import InputError
from maskwright.vocab import Vocabulary
from maskwright.vocab.vocabulary import WORTH_KEEPING
from tests.matching import allowed
from tests.vocab.texts import PLAIN, TEXTS

FAMILIES = ("byte_level", "sentencepiece_bpe", "unigram", "word_piece")
# These can spell any bytes at all.
COMPLETE = ("byte_level", "sentencepiece_bpe")


@pytest.fixture(scope="session")
def tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    return request.getfixturevalue(request.param)


def families(*names: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("tokenizer", names, indirect=True)


# --- the class itself


def test_special_and_end_tokens_have_no_bytes() -> None:
    vocab = Vocabulary([b"<s>", b"a", b"</s>", b"", b"a"], special=[0], eos=2)
    assert vocab.tokens == (b"", b"a", b"", b"", b"a")
    assert vocab.special == {0, 2}
    assert vocab.eos == (2,)
    assert vocab.size == 5
    assert vocab.decode([0, 1, 4, 2]) == b"aa"


def test_special_tokens_by_name() -> None:
    """Of equal names the lowest id; without a name none."""
    vocab = Vocabulary([b"a", b"<x>", b"<y>", b"<x>", b"", b"\xff"], special=[1, 2, 3, 4, 5])
    assert vocab.special_tokens == {"<x>": 1, "<y>": 2, "\ufffd": 5}
    assert vocab.special == {1, 2, 3, 4, 5}


def test_how_the_machine_reads_each_token() -> None:
    """A special token by its id, one that ends the text not at all."""
    vocab = Vocabulary([b"<x>", b"a", b"<e>", b"aa", b"a\xff"], special=[0], eos=2)
    assert vocab.spellings == (special.spelling(0), b"a", b"", b"aa", b"")
    text = special.spelling(0) + b"aaa" + special.spelling(0)
    assert vocab.spelled(text) == [0, 3, 1, 0]
    assert vocab.spelled(b"") == []


@pytest.mark.parametrize(("size", "words"), [(1, 1), (31, 1), (32, 1), (33, 2), (131072, 4096)])
def test_words(size: int, words: int) -> None:
    assert Vocabulary([b"a"] * size).words == words


@pytest.mark.parametrize("eos", [np.int64(1), np.array([1]), [np.int32(1)], {1}, range(1, 2)])
def test_ids_of_every_kind(eos: Any) -> None:
    vocab = Vocabulary([b"a", b"b"], eos=eos)
    assert vocab.eos == (1,)
    assert type(vocab.eos[0]) is int


def test_the_cache_may_be_named_by_text(tmp_path: Path) -> None:
    tokens = [b"%d" % number for number in range(WORTH_KEEPING)]
    assert Vocabulary(tokens, cache=str(tmp_path)).trie  # pyright: ignore[reportArgumentType]
    assert [*tmp_path.iterdir()], "the trie is kept"


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy])
def test_a_copy_is_the_vocabulary_itself(duplicate: Callable[[Any], Any]) -> None:
    vocab = Vocabulary([b"a"])
    assert duplicate(vocab) is vocab
    assert duplicate({"v": vocab})["v"] is vocab


def test_several_end_tokens_keep_their_order_once() -> None:
    assert Vocabulary([b"a", b"b", b"c"], eos=(2, 1, 2)).eos == (2, 1)


@pytest.mark.parametrize(
    ("arguments", "param", "message"),
    [
        ({"tokens": []}, "tokens", "needs a token"),
        ({"tokens": [b"", b""]}, "tokens", "needs a token"),
        ({"tokens": [b"a", "b"]}, "tokens", "token 1 is str, not bytes"),
        ({"tokens": [b"a"], "eos": 1}, "eos", "eos id 1 is not in the vocabulary of 1 tokens"),
        ({"tokens": [b"a"], "eos": [-1]}, "eos", "eos id -1"),
        ({"tokens": [b"a"], "special": [7]}, "special", "special id 7"),
        ({"tokens": [b"a"], "eos": "a"}, "eos", "eos has to be a whole number, not 'a'"),
        ({"tokens": [b"a"], "eos": None}, "eos", "eos has to be a whole number, not None"),
        ({"tokens": [b"a"], "eos": [0.0]}, "eos", "eos has to be a whole number, not 0.0"),
        ({"tokens": [b"a"], "special": "<s>"}, "special", "special has to be a whole number"),
        ({"tokens": None}, "tokens", "tokens has to be a list of bytes, not None"),
        ({"tokens": 4000}, "tokens", "tokens has to be a list of bytes, not 4000"),
        ({"tokens": Tokenizer(models.BPE())}, "tokens", "Vocabulary.from_tokenizer(tokenizer)"),
    ],
)
def test_bad_arguments(arguments: dict[str, object], param: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        Vocabulary(**arguments)  # pyright: ignore[reportArgumentType]
    assert caught.value.param == param


def test_digest_tells_every_difference_and_nothing_else() -> None:
    different = [
        Vocabulary([b"ab", b"c"]),
        Vocabulary([b"a", b"bc"]),
        Vocabulary([b"abc", b""]),
        Vocabulary([b"abc"]),
        Vocabulary([b"", b"abc"]),
        Vocabulary([b"", b"abc"], special=[0]),
        Vocabulary([b"", b"abc"], eos=[0]),
        Vocabulary([b"", b"abc", b""], eos=[0], special=[2]),
        Vocabulary([b"", b"abc", b""], eos=[0, 2]),
        Vocabulary([b"", b"abc", b""], eos=[2, 0]),
    ]
    digests = [vocab.digest for vocab in different]
    assert len(set(digests)) == len(digests)
    assert Vocabulary([b"x", b"abc"], special=[0]).digest == different[5].digest
    assert all(re.fullmatch("[0-9a-f]{32}", digest) for digest in digests)


# --- spelling without a tokenizer


def fewest_by_enumeration(data: bytes, tokens: list[bytes]) -> int | None:
    for count in range(len(data) + 1):
        for ids in itertools.product(range(len(tokens)), repeat=count):
            if b"".join(tokens[i] for i in ids) == data:
                return count
    return None


@given(
    st.lists(st.text("ab", max_size=3).map(str.encode), min_size=1, max_size=5),
    st.text("ab", max_size=5).map(str.encode),
)
@example([b"a", b"b", b"ab", b"bbb"], b"abbb")  # the longest first token is the wrong one
def test_fewest_tokens(tokens: list[bytes], data: bytes) -> None:
    vocab = Vocabulary([*tokens, b"c"])
    fewest = fewest_by_enumeration(data, tokens)
    if fewest is None:
        with pytest.raises(InputError, match="no tokens of the vocabulary spell"):
            vocab.encode(data)
    else:
        ids = vocab.encode(data)
        assert vocab.decode(ids) == data
        assert len(ids) == fewest


def test_equal_tokens_are_spelled_by_the_lowest_id() -> None:
    assert Vocabulary([b"", b"a", b"a"]).encode(b"aa") == [1, 1]


def test_special_tokens_never_spell() -> None:
    vocab = Vocabulary([b"ab", b"a", b"b", b"ab"], special=[0], eos=3)
    assert vocab.encode(b"ab") == [1, 2]


# --- from tokenizers


@families(*FAMILIES)
def test_bytes_are_what_the_decoder_appends(tokenizer: Tokenizer) -> None:
    """Every token, after a word; parts of characters, which decode to U+FFFD, are left to texts."""
    vocab = Vocabulary.from_tokenizer(tokenizer, eos=1)
    word = tokenizer.encode("dog", add_special_tokens=False).ids
    before = tokenizer.decode(word).encode()
    checked = 0
    for token_id, token in enumerate(vocab.tokens):
        after = tokenizer.decode([*word, token_id])
        if token_id not in vocab.special and "\ufffd" not in after:
            assert after.encode() == before + token
            checked += 1
    assert checked > 0.4 * vocab.size


@families(*FAMILIES)
@pytest.mark.parametrize("text", TEXTS)
def test_joined_bytes_equal_decode(tokenizer: Tokenizer, text: str) -> None:
    """Of the tokenizer's own ids, whatever it makes of the text, after a word."""
    vocab = Vocabulary.from_tokenizer(tokenizer, eos=1)
    word = tokenizer.encode("dog", add_special_tokens=False).ids
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    ids = [i for i in ids if i not in vocab.special]
    assert tokenizer.decode(word) + vocab.decode(ids).decode() == tokenizer.decode(word + ids)


@families(*COMPLETE)
@pytest.mark.parametrize("text", TEXTS)
def test_encode_keeps_every_byte(tokenizer: Tokenizer, text: str) -> None:
    vocab = Vocabulary.from_tokenizer(tokenizer, eos=1)
    ids = vocab.encode(text.encode())
    assert vocab.decode(ids) == text.encode()
    assert not vocab.special & set(ids)


@families(*COMPLETE)
@given(data=st.binary(max_size=40))
def test_encode_spells_any_bytes(tokenizer: Tokenizer, data: bytes) -> None:
    vocab = Vocabulary.from_tokenizer(tokenizer, eos=1)
    assert vocab.decode(vocab.encode(data)) == data


@families(*FAMILIES)
@pytest.mark.parametrize("text", PLAIN)
def test_encode_is_the_tokenizers_own(tokenizer: Tokenizer, text: str) -> None:
    """In the middle of a text: the space before the first word is the token's own."""
    if tokenizer.normalizer is not None and "Bert" in type(tokenizer.normalizer).__name__:
        text = text.lower()
    vocab = Vocabulary.from_tokenizer(tokenizer, eos=1)
    whole = tokenizer.encode(f"dog{text}", add_special_tokens=False)
    dog = tokenizer.encode("dog", add_special_tokens=False)
    assert whole.ids[: len(dog.ids)] == dog.ids
    assert vocab.encode(text.encode()) == whole.ids[len(dog.ids) :]


def test_sentencepiece_puts_no_space_in_front(sentencepiece_bpe: Tokenizer) -> None:
    vocab = Vocabulary.from_tokenizer(sentencepiece_bpe, eos=2)
    ids = vocab.encode(b"over")
    assert vocab.decode(ids) == b"over"
    pieces = [sentencepiece_bpe.id_to_token(i) for i in ids]
    assert not pieces[0].startswith("▁")
    assert vocab.tokens[3 + 0xAB] == b"\xab"
    assert vocab.tokens[0] == b""  # <unk>


def test_names_of_special_tokens_are_plain_text(byte_level: Tokenizer) -> None:
    vocab = Vocabulary.from_tokenizer(byte_level, eos=1)
    assert vocab.special == {0, 1}
    assert vocab.decode(vocab.encode(b"a</s>b")) == b"a</s>b"
    added = byte_level.token_to_id("<tool call>")
    assert vocab.tokens[added] == b"<tool call>"


def by_hand(
    decoder: decoders.Decoder, *more: str, merges: tuple[tuple[str, str], ...] = ()
) -> Tokenizer:
    """The tokenizer's own way is `ab·c`, the fewest tokens are `abc`."""
    pieces = ["<unk>", "<s>", "<", ">", "s", "a", "b", "c", "ab", "abc", *more]
    vocab = {piece: i for i, piece in enumerate(pieces)}
    model = models.BPE(vocab, [("a", "b"), *merges], unk_token="<unk>", byte_fallback=True)
    tokenizer = Tokenizer(model)
    tokenizer.decoder = decoder
    tokenizer.add_special_tokens(["<s>"])
    return tokenizer


AB, C, ABC = 8, 7, 9


def test_the_tokenizers_own_way_comes_before_the_fewest_tokens() -> None:
    tokenizer = by_hand(decoders.ByteLevel())
    vocab = Vocabulary.from_tokenizer(tokenizer, eos=1)
    assert vocab.encode(b"abc") == [AB, C]
    assert vocab.encode(b"<s>abc") == [2, 4, 3, AB, C]  # the special token's name as text
    assert Vocabulary(vocab.tokens).encode(b"abc") == [ABC]


def test_the_tokenizers_own_way_is_not_taken_over_an_end_token() -> None:
    """The caller may name any token as one that ends a text, which then adds no bytes."""
    vocab = Vocabulary.from_tokenizer(by_hand(decoders.ByteLevel()), eos=AB)
    assert vocab.encode(b"abc") == [ABC]
    assert vocab.encode(b"ab") == [5, 6]


def test_the_tokenizer_is_copied_without_truncation_and_padding() -> None:
    tokenizer = by_hand(decoders.ByteLevel())
    tokenizer.enable_truncation(1)
    tokenizer.enable_padding(length=8)
    vocab = Vocabulary.from_tokenizer(tokenizer, eos=1)
    assert vocab.encode(b"abc") == [AB, C]
    assert len(tokenizer.encode("abc").ids) == 8
    assert not tokenizer.encode_special_tokens


def test_a_space_put_in_front_is_cut_off() -> None:
    spaces = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback()])
    tokenizer = by_hand(spaces, "▁", "<0x0A>", "▁ab", merges=(("▁", "ab"),))
    tokenizer.normalizer = normalizers.Prepend("▁")
    assert Vocabulary.from_tokenizer(tokenizer, eos=1).encode(b"abc") == [AB, C]


def test_a_piece_that_begins_with_a_line_break_is_no_obstacle() -> None:
    spaces = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback()])
    merges = (("▁", "ab"), ("\n", "ab"))
    more = ("▁", "▁ab", "\n", "\nab", "<0x02>")
    tokenizer = by_hand(spaces, *more, merges=merges)
    tokenizer.normalizer = normalizers.Prepend("▁")
    assert Vocabulary.from_tokenizer(tokenizer, eos=1).encode(b"abc") == [AB, C]


def test_unknown_tokens_never_spell() -> None:
    """`<unk>` reads as five characters to the tokenizer, and as nothing to the model's text."""
    vocab = Vocabulary.from_tokenizer(by_hand(decoders.ByteLevel()), eos=1)
    with pytest.raises(InputError, match="no tokens of the vocabulary spell"):
        vocab.encode("aé".encode())


def test_word_piece_bytes(word_piece: Tokenizer) -> None:
    vocab = Vocabulary.from_tokenizer(word_piece, eos=1)
    table = {"the": b" the", "##s": b"s", ".": b".", "{": b" {", "[UNK]": b""}
    assert {t: vocab.tokens[word_piece.token_to_id(t)] for t in table} == table


def test_from_transformers(byte_level: Tokenizer) -> None:
    fast = PreTrainedTokenizerFast(
        tokenizer_object=byte_level, eos_token="</s>", additional_special_tokens=["<tool call>"]
    )
    vocab = Vocabulary.from_tokenizer(fast, size=512)
    assert vocab.eos == (1,)
    assert vocab.size == 512
    assert vocab.tokens[-1] == b""
    assert byte_level.token_to_id("<tool call>") in vocab.special
    assert vocab.decode(vocab.encode("Grüße 🙂".encode())) == "Grüße 🙂".encode()
    assert Vocabulary.from_tokenizer(fast, eos=[0, 1]).eos == (0, 1)


def undecodable() -> Tokenizer:
    return Tokenizer(models.BPE({"a": 0}, []))


def with_decoder(decoder: decoders.Decoder) -> Tokenizer:
    tokenizer = undecodable()
    tokenizer.decoder = decoder
    return tokenizer


@pytest.mark.parametrize(
    ("tokenizer", "arguments", "param", "message"),
    [
        (object(), {}, "tokenizer", "object is not a fast tokenizer"),
        (undecodable(), {}, "tokenizer", "has no decoder"),
        (with_decoder(decoders.BPEDecoder()), {}, "tokenizer", "'BPEDecoder'"),
        (with_decoder(decoders.CTC()), {}, "tokenizer", "'CTC'"),
        (with_decoder(decoders.Strip(" ", 1, 0)), {}, "tokenizer", "'Strip'"),
        (with_decoder(decoders.ByteLevel()), {"eos": ()}, None, None),
        (with_decoder(decoders.ByteLevel()), {}, "eos", "pass its ids as eos"),
        (with_decoder(decoders.ByteLevel()), {"eos": 1}, "eos", "eos id 1"),
        (with_decoder(decoders.ByteLevel()), {"size": 0}, "size", "smaller than the tokenizer"),
        (Tokenizer(models.BPE()), {}, "tokenizer", "vocabulary is empty"),
    ],
)
def test_tokenizers_that_are_refused(
    tokenizer: object, arguments: dict[str, object], param: str | None, message: str | None
) -> None:
    if message is None:
        assert Vocabulary.from_tokenizer(tokenizer, **arguments).tokens == (b"a",)
        return
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        Vocabulary.from_tokenizer(tokenizer, **arguments)
    assert caught.value.param == param


# --- a real one


def test_tekken() -> None:
    vocab = tekken()
    assert (vocab.size, vocab.words, vocab.eos) == (131_072, 4_096, (TEKKEN_EOS,))
    assert len(vocab.special) == 1_000
    assert vocab.tokens[1_000 : 1_000 + 256] == tuple(bytes([byte]) for byte in range(256))
    for text in TEXTS:
        assert vocab.decode(vocab.encode(text.encode())) == text.encode()


def test_special_tokens_are_known_by_name() -> None:
    vocabulary = Vocabulary([b"a", b"<|end|>", b"<|tool|>", b""], special=[2, 3], eos=1)
    assert vocabulary.special_tokens == {"<|end|>": 1, "<|tool|>": 2}
    assert vocabulary.tokens == (b"a", b"", b"", b"")


def test_a_token_that_is_no_text_is_never_taken_for_a_special_one() -> None:
    """The machine spells special tokens with bytes that no text has: a token with just these bytes,
    which some vocabularies hold, is not offered where the special token must come."""
    tool = 300
    tokens = [*(bytes([byte]) for byte in range(256)), b"<eos>", *[b""] * 43, b"<|tool|>"]
    imitation = [special.spelling(tool), special.spelling(tool)[:2], special.spelling(tool) + b"a"]
    vocabulary = Vocabulary([*tokens, *imitation], special=[tool], eos=256)
    assert vocabulary.tokens[301:] == tuple(imitation)
    assert vocabulary.spellings[tool] == special.spelling(tool)
    assert vocabulary.spellings[301:] == (b"", b"", b"")
    elements = [{"type": "token", "token": "<|tool|>"}, {"type": "const_string", "value": "ab"}]
    grammar = compile_structural_tag(
        {"format": {"type": "sequence", "elements": elements}}, vocabulary
    )
    assert allowed(grammar.matcher()) == {tool}
    for token in (0xFF, *range(301, 304)):
        assert not grammar.matcher().accept(token)


@pytest.mark.parametrize("signs", [b'"', b",:", b"x", b"\xff", b""])
@settings(max_examples=50, deadline=None)
@given(tokens=st.lists(st.binary(max_size=4) | st.sampled_from([b"", b'a"', b',"', b":"])))
def test_the_tokens_that_hold_a_byte(signs: bytes, tokens: list[bytes]) -> None:
    vocabulary = Vocabulary([b"", *tokens, b"a", b'",:'], special=[len(tokens) + 2])
    assert vocabulary.with_bytes(signs) == [
        token_id
        for token_id, token in enumerate(vocabulary.tokens)
        if any(sign in token for sign in signs)
    ]
