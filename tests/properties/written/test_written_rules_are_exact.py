"""Masks of grammars drawn at random and written as Lark or GBNF, against the naive reading."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from maskwright.errors import UnsatisfiableGrammarError
from maskwright.mask import Grammar, compile_grammar
from tests.matching import allowed
from tests.properties.naive_rules import NaiveRules, draw_rules
from tests.properties.test_rules_are_exact import EOS, VOCAB
from tests.properties.written.written_rules import gbnf, lark
from tests.walks.samples import sampled

DIALECTS: dict[Any, Callable[[NaiveRules], str]] = {"lark": lark, "gbnf": gbnf}


def check(seed: int, dialect: Any, texts: int) -> None:
    """Compare the masks after the first texts, shortest first, and walk within budgets."""
    random = Random(seed)
    rules = draw_rules(random)
    written = DIALECTS[dialect](rules)
    if rules.start not in rules.alive:
        with pytest.raises(UnsatisfiableGrammarError):
            compile_grammar(written, VOCAB, dialect=dialect)
        return
    grammar = compile_grammar(written, VOCAB, dialect=dialect)
    waiting = [(b"", grammar.matcher())]
    seen = {b""}
    for text, matcher in waiting:
        mask = allowed(matcher)
        assert mask == expected(rules, text), (written, text)
        for token in sorted(mask - {EOS}, key=lambda each: (len(VOCAB.tokens[each]), each)):
            following = text + VOCAB.tokens[token]
            if following not in seen and len(following) <= 6 and len(seen) < texts:
                seen.add(following)
                after = matcher.copy()
                assert after.accept(token)
                waiting.append((following, after))
    for _ in range(3):
        walk_within_budget(grammar, rules, random)


def expected(rules: NaiveRules, text: bytes) -> set[int]:
    """The tokens after which the text begins a text of the grammar, and the end token after a
    whole one."""
    tokens = enumerate(VOCAB.tokens)
    right = {number for number, token in tokens if token and rules.judge(text + token)[1]}
    return right | {EOS} if rules.judge(text)[0] else right


def walk_within_budget(grammar: Grammar, rules: NaiveRules, random: Random) -> None:
    """A text whose every token is drawn from a mask with a budget ends in time, and is right."""
    matcher = grammar.matcher()
    text = b""
    for left in range(matcher.min_tokens + random.randrange(6), 0, -1):
        mask = allowed(matcher, left)
        token = random.choice(sorted(mask))
        if token == EOS:
            break
        assert matcher.accept(token)
        text += VOCAB.tokens[token]
    assert matcher.accepting
    assert rules.judge(text)[0]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("seed", sampled(range(2000, 2100), 4))
def test_written_grammars(seed: int, dialect: str) -> None:
    check(seed, dialect, texts=10)


@pytest.mark.slow
@pytest.mark.parametrize("dialect", DIALECTS)
def test_many_written_grammars(dialect: str) -> None:
    for seed in range(10_000, 14_000):
        check(seed, dialect, texts=25)
