"""Masks of grammars drawn at random, against the naive reading of their rules."""

from __future__ import annotations

from random import Random

import pytest

from maskwright.errors import UnsatisfiableGrammarError
from maskwright.mask import Matcher
from maskwright.mask.compile_rules import compile_rules
from tests.matching import allowed, position, vocabulary
from tests.properties.naive_rules import NaiveRules, draw_rules

TOKENS = ("aa", "ab", "ba", "aba", "bb", "aé", "éa", "éb", "bbab", b"\xa9a", b"b\xc3", b"a\xc3")
VOCAB = vocabulary(*TOKENS, alphabet=b"ab\xc3\xa9")
EOS = VOCAB.eos[0]


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
                after = matcher.fork()
                assert after.accept(token)
                queue.append((following, after))
    return compared


@pytest.mark.parametrize("seed", range(60))
def test_masks_of_rules_drawn_at_random(seed: int) -> None:
    check_masks(draw_rules(Random(seed)), texts=25, longest=6)
