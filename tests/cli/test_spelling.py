from __future__ import annotations

import pytest

from maskwright.cli.arguments import nearest

FLAGS = ("--port", "--tpot", "--kv-bytes", "--kv-disk", "--kv-disk-bytes", "--name")


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("--prot", "--port"),  # and not --tpot, which is as like it
        ("--tpto", "--tpot"),
        ("--por", "--port"),
        ("--kv-di", "--kv-disk"),
        ("--kv-byte", "--kv-bytes"),
        ("--kvbytes", "--kv-bytes"),
        ("--nmae", "--name"),
        ("--xyz", None),
        ("", "--port"),
    ],
)
def test_the_word_that_was_meant(word: str, meant: str | None) -> None:
    assert nearest(word, FLAGS) == meant


def test_nothing_is_like_a_word_where_nothing_is_known() -> None:
    assert nearest("--port", ()) is None
