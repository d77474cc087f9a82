"""Digests of blocks: what they cover."""

from maskwright.engine.kv.block_keys import block_keys, next_key, root_key


def test_a_key_covers_every_token_before_it_and_the_salt() -> None:
    tokens = list(range(40))
    keys = block_keys(tokens, 4, "salt")
    assert len(keys) == len(set(keys)) == 10
    for place in range(40):
        other = block_keys([*tokens[:place], 99, *tokens[place + 1 :]], 4, "salt")
        assert other[: place // 4] == keys[: place // 4]
        assert not set(other[place // 4 :]) & set(keys)
    assert not set(block_keys(tokens, 4, "other")) & set(keys)
    assert not set(block_keys(tokens, 8, "salt")) & set(keys)


def test_only_whole_blocks_have_keys() -> None:
    assert block_keys([1, 2, 3], 4, "") == []
    assert block_keys([1, 2, 3, 4, 5], 4, "") == [next_key(root_key(""), [1, 2, 3, 4])]
