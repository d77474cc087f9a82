"""Tokens with which a completion can certainly be written."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from maskwright import Vocabulary
from maskwright.mask.shared.leaf_bounds import CertainTokens


@given(
    st.lists(st.text("ab", min_size=2, max_size=4).map(str.encode), max_size=5),
    st.text("ab", max_size=9).map(str.encode),
)
def test_the_price_of_a_text_bounds_each_of_its_endings(tokens: list[bytes], data: bytes) -> None:
    vocab = Vocabulary([*tokens, b"a", b"b"])
    price = CertainTokens(vocab).price(data)
    assert price == max(len(vocab.fewest(data[at:])) for at in range(len(data) + 1))


def test_tokens_that_may_end_two_items_neither_count_nor_spell() -> None:
    tokens = [b'"', b",", b"a", b'","a"', b'"a', b'"a"', b'"a":"a']
    vocab = Vocabulary(tokens)
    certain = CertainTokens(vocab)
    assert certain.uncertain == {b'","a"'}
    spelled = vocab.spelled(b'"a","a"', certain.texts)
    assert [tokens[each] for each in spelled] == [b'"a"', b",", b'"a"']
    assert certain.price(b'"a","a"') == 4
