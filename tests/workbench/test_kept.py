"""Grammars that were last compiled."""

from __future__ import annotations

from functools import partial
from typing import Any

from maskwright.mask import compile_regex
from maskwright.processes import Build
from maskwright.vocab import Vocabulary
from maskwright.workbench.explanation import MOST_KEPT, kept_grammar
from maskwright.workbench.reading import byte_vocabulary


def build(pattern: str) -> Build:
    return Build(compile_regex, (pattern,), {})


def test_equal_builds_share_a_grammar() -> None:
    vocabulary = byte_vocabulary()
    first = kept_grammar(build("kept-1"), vocabulary)
    assert kept_grammar(build("kept-1"), vocabulary) is first
    assert kept_grammar(build("kept-2"), vocabulary) is not first
    assert kept_grammar(build("kept-1"), byte_vocabulary()) is not first


def test_the_grammar_that_was_longest_unused_is_dropped() -> None:
    vocabulary = byte_vocabulary()
    first = kept_grammar(build("old"), vocabulary)
    second = kept_grammar(build("older"), vocabulary)
    for number in range(MOST_KEPT - 1):
        assert kept_grammar(build("old"), vocabulary) is first
        kept_grammar(build(f"new-{number}"), vocabulary)
    assert kept_grammar(build("old"), vocabulary) is first
    assert kept_grammar(build("older"), vocabulary) is not second


def failing(attempts: list[int], _: Vocabulary) -> Any:
    attempts.append(1)
    raise ValueError


def test_errors_are_not_kept() -> None:
    vocabulary = byte_vocabulary()
    for _ in range(2):
        try:
            kept_grammar(partial(failing, []), vocabulary)
        except ValueError:
            continue
        raise AssertionError
