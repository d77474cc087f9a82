"""Masks over vocabularies of each kind: against each token tried, and the tokenizer's own cut.

Sentencepiece of both kinds with byte fallback, special tokens in the middle of the ids, several end
tokens, tokens with equal bytes, unused and padded ids, long tokens, tokens that end within a
character, and tokens that end two names or items at once.
"""

from __future__ import annotations

import json
from functools import cache
from random import Random
from typing import Any

import pytest
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers
from tokenizers.trainers import BpeTrainer, UnigramTrainer
from transformers import PreTrainedTokenizerFast

from maskwright import Grammar, Vocabulary, compile_grammar, compile_json_schema, compile_regex
from tests.matching import BYTES, allowed, shortest_ending, vocabulary
from tests.properties.judge import Judge
from tests.vocab.texts import CORPUS

FALLBACK = [f"<0x{byte:02X}>" for byte in range(256)]
HEAD = ["<unk>", "<s>", "</s>", *FALLBACK, "<unused0>", "<unused1>"]
NAMES = ("identifier", "is active", "x", "name of the mask")
TEXTS = [*CORPUS, *(json.dumps(dict.fromkeys(NAMES, True), indent=n) for n in (None, 0, 2))]
PADDING = 37


def finished(tokenizer: Tokenizer) -> Tokenizer:
    """With sentencepiece's treatment of spaces, and its special tokens."""
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    tokenizer.decoder = decoders.Sequence(
        [
            decoders.Replace("▁", " "),
            decoders.ByteFallback(),
            decoders.Fuse(),
            decoders.Strip(" ", 1, 0),
        ]
    )
    tokenizer.add_special_tokens([AddedToken(name, special=True) for name in ("<s>", "</s>")])
    return tokenizer


def sentencepiece_bpe() -> Tokenizer:
    trained = Tokenizer(models.BPE())
    trained.normalizer = normalizers.Replace(" ", "▁")
    trained.pre_tokenizer = pre_tokenizers.Split("▁", "merged_with_next")
    trained.train_from_iterator(TEXTS, BpeTrainer(vocab_size=500, show_progress=False))
    model = json.loads(trained.to_str())["model"]
    vocab = {token: number for number, token in enumerate(HEAD)}
    for token in sorted(model["vocab"], key=model["vocab"].__getitem__):
        vocab.setdefault(token, len(vocab))
    merges = [tuple(merge) for merge in model["merges"]]
    bpe = models.BPE(vocab, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    return finished(Tokenizer(bpe))


def sentencepiece_unigram() -> Tokenizer:
    trained = Tokenizer(models.Unigram())
    trained.normalizer = normalizers.Replace(" ", "▁")
    trainer = UnigramTrainer(vocab_size=400, unk_token="<unk>", show_progress=False)
    trained.train_from_iterator(TEXTS, trainer)
    learned = json.loads(trained.to_str())["model"]["vocab"]
    pieces = [(piece, -20.0) for piece in HEAD]
    pieces += [(piece, score) for piece, score in learned if piece not in HEAD]
    return finished(Tokenizer(models.Unigram(pieces, 0, byte_fallback=True)))


TOKENIZERS = {"bpe": sentencepiece_bpe, "unigram": sentencepiece_unigram}


@cache
def tokenizer_of(name: str) -> Tokenizer:
    return TOKENIZERS[name]()


@cache
def vocabulary_of(name: str) -> Vocabulary:
    if name == "odd":
        return odd()
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer_of(name), eos_token="</s>")
    return Vocabulary.from_tokenizer(fast, size=len(fast) + PADDING)


def odd() -> Vocabulary:
    """Special tokens among the bytes, three of which end a text; long tokens, parts of characters,
    equal tokens."""
    smile = "😀".encode()
    more = [
        *(b" " * 128, b" " * 64, "é".encode() * 100, b"a" * 200),
        *(smile[:2], smile[2:] + b'"', b'"' + smile[:3], "é".encode()[:1], "é".encode()[1:]),
        *(b"a", b"a", b"true", b"true", b'": "', b'","', b"", b""),
    ]
    tokens = [*BYTES[:100], b"<s>", b"</s>", *BYTES[100:], *more, *[b""] * PADDING, b"<eot>"]
    return Vocabulary(tokens, special=[100], eos=[len(tokens) - 1, 101, 102 + 156 + len(more)])


PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 12}, "true": {"type": "boolean"}},
    "required": ["name", "true"],
    "additionalProperties": False,
}
SCHEMAS: list[Any] = [
    PERSON,
    {"type": "array", "items": {"enum": ["é", "groß", "a b", "😀x", 1, None]}, "maxItems": 4},
    {"type": "string", "pattern": "^[a-zé ]{2,9}$"},
    {"type": "integer", "minimum": -5, "maximum": 1200},
    {},
    {"type": "object", "additionalProperties": {"type": "number"}},
    {"const": {"a b": [" ", "  é"]}},
]
PATTERNS = [r" ?(the|The) [a-z]+é?", "(😀|😁)*end", r"[^\n]{0,30}", r"\s{100,300}x", "a{150,}é"]
GRAMMARS = ['start: item ("," " "* item)*\nitem: /[a-zé]+/ | "(" start ")"']


def compiled(case: Any, vocab: Vocabulary) -> Grammar:
    if case in GRAMMARS:
        return compile_grammar(case, vocab)
    return compile_regex(case, vocab) if case in PATTERNS else compile_json_schema(case, vocab)


@pytest.mark.parametrize("name", [*TOKENIZERS, "odd"])
@pytest.mark.parametrize("case", [*SCHEMAS, *PATTERNS, *GRAMMARS], ids=str)
def test_masks_are_the_tokens_that_can_be_accepted(name: str, case: Any) -> None:
    vocab = vocabulary_of(name)
    grammar = compiled(case, vocab)
    random = Random(1)
    matcher, text = grammar.matcher(), b""
    for _ in range(12):
        mask = allowed(matcher)
        assert mask, "there is always a way on"
        ends = set(vocab.eos) if matcher.accepting else set()
        assert mask & vocab.special == ends, "all end tokens, or none"
        for token in range(vocab.size):
            ahead = matcher.copy()
            assert ahead.accept(token) == (token in mask), vocab.tokens[token]
            by_bytes = matcher.copy()
            data = vocab.tokens[token]
            if data:
                whole = by_bytes.accept_bytes(data) == len(data)
                assert whole == (token in mask), data
        fitting = allowed(matcher, matcher.min_tokens + 1)
        assert fitting <= mask
        assert fitting
        ahead = matcher.copy()
        for token in matcher.forced_tokens():
            assert token in allowed(ahead)
            assert ahead.accept(token)
        token = random.choice(sorted(mask))
        before = matcher.state
        assert matcher.accept(token)
        matcher.rollback(1)
        assert matcher.state == before
        assert matcher.accept(token)
        text += vocab.tokens[token]
        if matcher.terminated:
            break
    assert vocab.decode(t for t in vocab.fewest(text)) == text
    while not matcher.accepting and not matcher.terminated:
        assert matcher.accept(min(allowed(matcher, matcher.min_tokens)))


def test_several_end_tokens_end_a_text_alike() -> None:
    vocab = vocabulary_of("odd")
    assert len({token // 32 for token in vocab.eos}) == 3, "in different words of the mask"
    matcher = compile_regex("ab?", vocab).matcher()
    assert not allowed(matcher) & set(vocab.eos)
    assert matcher.accept_bytes(b"a")
    assert allowed(matcher) == {ord("b"), *vocab.eos}
    for token in vocab.eos:
        ended = matcher.copy()
        assert ended.accept(token)
        assert ended.terminated
        assert allowed(ended) == set()
    assert matcher.accept_bytes(b"b")
    assert matcher.complete
    assert allowed(matcher) == set(vocab.eos)
    assert allowed(matcher, budget=1) == set(vocab.eos)


CROSSING = vocabulary(
    *('"a":1,"', '"a":1,"a":', '"a":1,"b":', 'a":1,"a":1', '":1,"a":1,"', '":1,"b":1}'),
    *('1,"a":1,"a"', '{"a":1,"a":1}', '{"a":1,"b":1}', '{"a":{"a":', '"a":{"a":1},"a":1', 'b":1,"'),
    *(
        "1,1",
        "1,1]",
        "[1,1]",
        "[1,2]",
        ",1,1,",
        '"a","a"',
        '"a","b"',
        '","',
        ',"a","a"]',
        "[[1],[1]",
    ),
    *('{"a":1},{"a":1}', '{"a":1},{"b":1}', "1,12", "12,1"),
)
"""Tokens that end two names or two items at once, which are equal or not."""

DISTINCT: list[Any] = [
    {"type": "object"},
    {"type": "object", "additionalProperties": {"const": 1}, "minProperties": 2},
    {"type": "object", "properties": {"a": {"type": "object"}}, "additionalProperties": {}},
    {
        "type": "object",
        "propertyNames": {"pattern": "^[ab]+$"},
        "additionalProperties": {"const": 1},
    },
    {"type": "array", "uniqueItems": True},
    {"type": "array", "uniqueItems": True, "items": {"type": "integer"}, "minItems": 3},
    {"type": "array", "uniqueItems": True, "items": {"enum": [1, 2, 12, "a", "b", [1], {"a": 1}]}},
    {"type": "array", "uniqueItems": True, "items": {"type": "string"}},
]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("schema", DISTINCT, ids=str)
def test_a_token_may_end_two_names_only_where_they_differ(schema: Any, seed: int) -> None:
    """Each token that is allowed leads to a text that is right; each other one is refused."""
    grammar = compile_json_schema(schema, CROSSING, whitespace="compact")
    judge = Judge(schema)
    random = Random(seed)
    long = {token for token, text in enumerate(CROSSING.tokens) if len(text) > 1}
    for _ in range(4):
        matcher, text = grammar.matcher(), b""
        for _ in range(7):
            mask = allowed(matcher)
            for token, data in enumerate(CROSSING.tokens):
                ahead = matcher.copy()
                assert ahead.accept(token) == (token in mask), (text, data)
                if token in mask & long:
                    whole = text + data + shortest_ending(ahead)
                    assert judge(whole), f"{data!r} is allowed behind {text!r}"
            likely = sorted(mask & long) * 5 + sorted(mask - set(CROSSING.eos))
            if not likely:
                break
            token = random.choice(likely)
            assert matcher.accept(token)
            text += CROSSING.tokens[token]


@pytest.mark.parametrize("whitespace", ["compact", "spaced", "pretty"])
@pytest.mark.parametrize("name", TOKENIZERS)
def test_forced_tokens_are_sentencepieces_own_cut(name: str, whitespace: Any) -> None:
    """Of the text behind a word; the space that it puts before a text is none of the tokens'."""
    schema = {
        "type": "object",
        "properties": {name: {"type": "boolean"} for name in NAMES},
        "required": list(NAMES),
        "additionalProperties": False,
    }
    tokenizer, vocab = tokenizer_of(name), vocabulary_of(name)
    separators = (",", ":") if whitespace == "compact" else None
    indent = 2 if whitespace == "pretty" else None
    text = json.dumps(dict.fromkeys(NAMES, True), separators=separators, indent=indent)
    word = tokenizer.encode("dog", add_special_tokens=False).ids
    whole = tokenizer.encode("dog" + text, add_special_tokens=False).ids
    assert whole[: len(word)] == word
    tokens = whole[len(word) :]
    matcher = compile_json_schema(schema, vocab, whitespace=whitespace, escapes="needed").matcher()
    found = 0
    for at, token in enumerate(tokens):
        forced = matcher.forced_tokens()
        assert forced == tokens[at : at + len(forced)]
        found += len(forced)
        assert matcher.accept(token)
    assert found
    assert matcher.complete
    assert vocab.decode(tokens).decode() == text
