"""Masks of grammars drawn at random, against the naive reading of their rules."""

from __future__ import annotations

from random import Random

import pytest

from maskwright.errors import UnsatisfiableGrammarError
from maskwright.mask import Matcher
from maskwright.mask.compile.rules import compile_rules
from tests.matching import allowed, position, vocabulary
from tests.properties.naive_rules import NaiveRules, draw_rules
from tests.walks.samples import sampled

TOKENS = ("aa", "ab", "ba", "aba", "bb", "aé", "éa", "éb", "bbab", b"\xa9a", b"b\xc3", b"a\xc3")
VOCAB = vocabulary(*TOKENS, alphabet=b"ab\xc3\xa9")
EOS = VOCAB.eos[0]
SINGLE = vocabulary(alphabet=b"ab\xc3\xa9")


def check_masks(rules: NaiveRules, texts: int, longest: int) -> int:
    """Compare the masks behind the first `texts` texts, shortest first, of at most `longest` bytes;
    returns how many were compared."""
    if rules.start not in rules.alive:
        with pytest.raises(UnsatisfiableGrammarError):
            compile_rules(rules.real(), VOCAB)
        return 0
    grammar = compile_rules(rules.real(), VOCAB)
    seen = {b""}
    queue: list[tuple[bytes, Matcher]] = [(b"", grammar.matcher())]
    rows: dict[str, set[int]] = {}
    for compared, (text, matcher) in enumerate(queue, start=1):
        mask = allowed(matcher)
        right = {
            t for t, token in enumerate(VOCAB.tokens) if token and rules.judge(text + token)[1]
        }
        if rules.judge(text)[0]:
            right.add(EOS)
        assert mask == right, (
            f"behind {text!r}: {[VOCAB.tokens[t] for t in mask - right]} too many, "
            f"{[VOCAB.tokens[t] for t in right - mask]} missing"
        )
        assert rows.setdefault(position(matcher), mask) == mask
        if compared >= texts:
            break
        for token in sorted(mask - {EOS}, key=lambda t: (len(VOCAB.tokens[t]), t)):
            following = text + VOCAB.tokens[token]
            if following not in seen and len(following) <= longest:
                seen.add(following)
                after = matcher.copy()
                assert after.accept(token)
                queue.append((following, after))
    return compared


@pytest.mark.parametrize("seed", sampled(range(60), 24))
def test_masks_of_rules_drawn_at_random(seed: int) -> None:
    check_masks(draw_rules(Random(seed)), texts=25, longest=6)


def walk_with_budget(rules: NaiveRules, random: Random) -> None:
    """A text whose every token is drawn from a mask with a budget ends in time, and is right."""
    matcher = compile_rules(rules.real(), VOCAB).matcher()
    budget = matcher.min_tokens + random.randrange(6)
    text = b""
    while budget:
        mask = allowed(matcher, budget)
        assert mask <= allowed(matcher)
        token = random.choice(sorted(mask))
        if token == EOS:
            break
        assert matcher.accept(token)
        text += VOCAB.tokens[token]
        budget -= 1
    assert matcher.accepting
    assert rules.judge(text)[0]


def check_shortest(rules: NaiveRules, random: Random, deepest: int) -> None:
    """Behind each byte of a text drawn at random, no ending is shorter than the one known.

    Where every token is a byte, the tokens needed are the bytes of the shortest ending."""
    matcher = compile_rules(rules.real(), SINGLE).matcher()
    text = b""
    for _ in range(6):
        needed = matcher.min_tokens
        assert (needed == 0) is matcher.accepting
        assert not _ends_within(rules, text, min(needed - 1, deepest))
        following = sorted(allowed(matcher) - set(SINGLE.eos))
        if not following:
            break
        token = random.choice(following)
        assert matcher.accept(token)
        text += SINGLE.tokens[token]


def _ends_within(rules: NaiveRules, text: bytes, most: int) -> bool:
    """Whether at most `most` bytes complete the text."""
    if most < 0 or not rules.judge(text)[1]:
        return False
    if rules.judge(text)[0]:
        return True
    return any(_ends_within(rules, text + byte, most - 1) for byte in SINGLE.tokens if byte)


@pytest.mark.parametrize("seed", sampled(range(60, 100), 20))
def test_texts_within_budgets_end_in_time(seed: int) -> None:
    random = Random(seed)
    rules = draw_rules(random)
    if rules.start in rules.alive:
        for _ in range(4):
            walk_with_budget(rules, random)
        check_shortest(rules, random, deepest=3)
