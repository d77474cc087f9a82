"""Masks under a budget, remembered and forgotten."""

from itertools import count
from random import Random

import pytest

from maskwright import Grammar, Limits, compile_json_schema
from maskwright.mask.shared import budget_cache
from tests.matching import EVERY_BYTE, allowed

WORDS = {"type": "array", "items": {"type": "string", "maxLength": 9}, "minItems": 1}


def new(*, unique: bool) -> Grammar:
    """One that knows nothing of others: no others have its limits."""
    limits = Limits(work=next(_works))
    schema = WORDS | {"uniqueItems": unique}
    return compile_json_schema(schema, EVERY_BYTE, whitespace="compact", limits=limits)


_works = count(700_000)


@pytest.mark.parametrize("unique", [False, True])
@pytest.mark.parametrize("most", [budget_cache.MOST_ROW_BYTES, 8 * EVERY_BYTE.words * 4])
def test_what_is_remembered_is_what_would_be_found(
    unique: bool, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Texts that end where the budget does; again and again, against grammars that know nothing.
    Where items must differ, the text decides, and nothing is remembered."""
    monkeypatch.setattr(budget_cache, "MOST_ROW_BYTES", most)
    grammar, random = new(unique=unique), Random(1)
    cut = 0
    for number in range(8):
        matcher, left = grammar.matcher(), 12
        fresh = new(unique=unique).matcher()
        while not matcher.complete:
            mask = allowed(matcher, budget=left)
            assert mask == allowed(fresh, budget=left), f"text {number}, {left} left"
            cut += mask != allowed(fresh)
            token = random.choice(sorted(mask & set(b'[]",ab')))
            assert matcher.accept(token)
            assert fresh.accept(token)
            left -= 1
            assert grammar.budgets.size <= most
    assert cut > 10
    assert (grammar.budgets.size > 0) is not unique
