"""What is said at the end of a reasoning section that has had all its tokens."""

from __future__ import annotations

import re
from typing import Any

import pytest

from maskwright import BudgetError, Grammar, Matcher, Vocabulary, compile_tools
from maskwright.errors import InputError
from maskwright.mask import CaptureEnded, RegexResponse
from tests.matching import BYTES, EVERY_BYTE, allowed, matches

LAST = "\nEnough."
END = "</think>"


def compiled(
    tokens: int = 3, last: str = LAST, vocab: Vocabulary = EVERY_BYTE, **options: Any
) -> Grammar:
    given: dict[str, Any] = {"reasoning": "begun", "reasoning_marks": ("<think>", END), **options}
    return compile_tools(
        [],
        "none",
        vocab,
        reasoning_tokens=tokens,
        reasoning_last=last,
        response=RegexResponse("So"),
        **given,
    )


def after(grammar: Grammar, text: str) -> Matcher:
    """A matcher that has accepted a text, each byte a token."""
    matcher = grammar.matcher()
    for byte in text.encode():
        assert matcher.accept(byte), text
    return matcher


def spelled(matcher: Matcher, budget: int | None = None) -> str:
    return "".join(map(chr, sorted(allowed(matcher, budget))))


def test_it_is_said_once_all_tokens_are_there() -> None:
    matcher = after(compiled(), "abc")
    for character in LAST:
        assert spelled(matcher) == character
        assert matcher.next_bytes() == character.encode()
        assert matcher.accept(ord(character))
    for character in f"{END}So":
        assert character in spelled(matcher)
        assert matcher.accept(ord(character))
    assert matcher.accepting
    ended = [each for each in matcher.events(final=True) if isinstance(each, CaptureEnded)]
    assert ended[0] == CaptureEnded("reasoning", f"abc{LAST}")


@pytest.mark.parametrize("text", ["", "a", "ab"])
def test_a_section_with_fewer_tokens_ends_without_it(text: str) -> None:
    matcher = after(compiled(), text)
    assert len(spelled(matcher)) > 100
    assert after(compiled(), f"{text}{END}So").accepting
    assert after(compiled(), f"{text}{END}\nSo").accepting


def test_a_mark_that_has_begun_is_ended() -> None:
    matcher = after(compiled(), "ab<")
    assert "/" in spelled(matcher)
    assert after(compiled(), f"ab{END}So").accepting
    assert not matches(compiled(), f"ab{END[:-1]}So")


def test_it_comes_after_the_rest_of_a_character() -> None:
    matcher = compiled(2).matcher()
    assert [matcher.accept(byte) for byte in "aé".encode()] == [True] * 3
    assert spelled(matcher) == LAST[0]
    within = compiled(2).matcher()
    assert [within.accept(byte) for byte in b"a" + "é".encode()[:1]] == [True] * 2
    assert set(spelled(within)) == {chr(byte) for byte in range(0x80, 0xC0)}


def test_it_is_forced_text() -> None:
    matcher = after(compiled(), "abc")
    tokens = matcher.forced_tokens()
    assert bytes(tokens).decode() == LAST
    assert all(map(matcher.accept, tokens))
    assert bytes(matcher.forced_tokens()).decode() == END


@pytest.mark.parametrize("budget", range(10, 40))
@pytest.mark.parametrize("first", ["abc", "ab", ""])
def test_a_budget_that_does_not_suffice_leaves_it_out(first: str, budget: int) -> None:
    """Whatever the tokens are, the text is completed within the budget, with it where it fits."""
    matcher, text = after(compiled(), first), first
    for left in range(budget, 0, -1):
        if matcher.accepting:
            break
        token = min(allowed(matcher, left) - {ord("<")} or {ord("<")})
        assert matcher.accept(token)
        text += chr(token)
    assert matcher.accepting, text
    said = len(first) + budget >= len("abc") + len(LAST) + len(END) + len("So")
    assert (LAST in text) is said
    assert re.fullmatch(f"{END}\\n{{0,2}}So", text[text.index(END) :])


def test_a_budget_for_nothing_is_refused() -> None:
    with pytest.raises(BudgetError) as caught:
        spelled(after(compiled(), "abc"), len(END) + 1)
    assert caught.value.needed == len(END) + len("So")


def test_tokens_of_the_tokenizer_say_it() -> None:
    vocab = Vocabulary([*BYTES, b"\nEn", b"ough", b".</", b"\n", b""], eos=260)
    matcher = compiled(vocab=vocab).matcher()
    assert all(map(matcher.accept, b"abc"))
    said = b""
    while len(said) < len(LAST):
        [token] = allowed(matcher)
        said += vocab.tokens[token]
        assert matcher.accept(token)
    assert said == LAST.encode()
    assert allowed(matcher) == {ord("<")}


def test_forks_and_steps_back_keep_it() -> None:
    matcher = after(compiled(), "abc")
    twin = matcher.copy()
    assert twin.accept(ord(LAST[0]))
    assert spelled(twin) == LAST[1]
    twin.rollback(1)
    assert spelled(twin) == spelled(matcher) == LAST[0]
    twin.rollback(1)
    assert len(spelled(twin)) > 100
    twin.reset()
    assert twin.accept_bytes(b"x" * 99) == 99  # one token
    assert len(spelled(twin)) > 100


def test_marks_that_are_special_tokens() -> None:
    vocab = Vocabulary([*BYTES, b"<think>", b"</think>", b""], special=[256, 257], eos=258)
    matcher = compiled(vocab=vocab).matcher()
    assert all(map(matcher.accept, b"abc"))
    for byte in LAST.encode():
        assert allowed(matcher) == {byte}
        assert matcher.accept(byte)
    assert allowed(matcher) == {257}
    assert all(map(matcher.accept, [257, *b"So"]))
    assert matcher.accepting
    short = compiled(vocab=vocab).matcher()
    assert all(map(short.accept, b"abc"))
    assert allowed(short, 3) == {257}
    assert all(map(short.accept, [257, *b"So"]))


def test_no_tokens_at_all_leave_nothing_to_be_said() -> None:
    grammar = compiled(0)
    assert matches(grammar, f"{END}So")
    assert not matches(grammar, f"{LAST}{END}So")


def test_a_section_that_the_model_begins() -> None:
    grammar = compiled(reasoning="optional")
    assert spelled(after(grammar, "<think>abc")) == LAST[0]
    assert after(grammar, f"<think>abc{LAST}{END}So").accepting
    assert after(grammar, "So").accepting


def test_it_does_not_hold_the_end() -> None:
    with pytest.raises(InputError, match="holds its end") as caught:
        compiled(last=f"So {END} it is")
    assert caught.value.param == "reasoning_last"
    with pytest.raises(InputError, match="holds its end"):
        compiled(last="xab", reasoning_marks=("b", "aba"))
