"""How the tokens of answers were chosen, kept for a while."""

from __future__ import annotations

import math
from typing import Any

import pytest

from maskwright.sampling import Alternative, TokenScore
from maskwright.server.guarantees import records as module
from maskwright.server.guarantees.records import SECONDS, Records
from maskwright.vocab import Vocabulary

VOCABULARY = Vocabulary([b"a", b"b", b"c", b"<end>"], eos=3)


def score(token: int, *, kept: float = 1.0, forced: bool = False, **raw: float) -> TokenScore:
    """A score whose alternatives, by name, were wanted and masked."""
    top = tuple(
        Alternative(VOCABULARY.tokens.index(name.encode()), math.log(share), None)
        for name, share in raw.items()
    )
    top = (*top, Alternative(token, -1.0, -0.5))
    return TokenScore(token, -1.0, -0.5, kept, -0.5, 2, 2, top, forced, "")


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def explained(records: Records, id: str = "x", choice: int = 0) -> Any:
    return records.explained(None, id, choice)


def test_an_answer_is_explained() -> None:
    records = Records(VOCABULARY)
    scores = [score(0, kept=0.5, b=0.4, c=0.1), score(3, kept=0.9, forced=True, c=0.05)]
    records.keep(None, "x", 0, scores)
    body = explained(records)
    assert body["counts"] == {"tokens": 2, "forced": 1}
    assert body["kept"] == {"mean": 0.7, "least": 0.5}
    assert [(each["text"], each["steps"]) for each in body["wanted"]] == [("b", 1), ("c", 2)]
    assert body["wanted"][0]["probability"] == pytest.approx(0.4)
    assert body["wanted"][1]["probability"] == pytest.approx(0.15)
    first, last = body["steps"]
    assert (first["text"], first["forced"], first["kept"]) == ("a", False, 0.5)
    assert [each["text"] for each in first["wanted"]] == ["b", "c"]
    assert (last["text"], last["forced"]) == ("<end>", True)


def test_choices_are_kept_apart() -> None:
    records = Records(VOCABULARY)
    records.keep(None, "x", 1, [score(1)])
    assert explained(records) is None
    assert explained(records, choice=1)["steps"][0]["text"] == "b"
    assert explained(records, "y", 1) is None
    assert records.explained("another key", "x", 1) is None


def test_an_answer_without_tokens() -> None:
    records = Records(VOCABULARY)
    records.keep(None, "x", 0, [])
    assert explained(records)["kept"] == {"mean": None, "least": None}


def test_answers_are_forgotten_after_a_while() -> None:
    clock = Clock()
    records = Records(VOCABULARY, clock)
    records.keep(None, "x", 0, [score(0)])
    clock.now = SECONDS - 1
    records.keep(None, "y", 0, [score(0)])
    assert explained(records) is not None
    clock.now = SECONDS + 1
    assert explained(records) is None
    assert explained(records, "y") is not None


def test_the_oldest_answers_are_forgotten_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_TOKENS", 5)
    records = Records(VOCABULARY)
    for name in "abc":
        records.keep(None, name, 0, [score(0)] * 2)
    assert explained(records, "a") is None
    assert explained(records, "b") is not None
    records.keep(None, "b", 0, [score(0)] * 3)  # an id that a client uses again
    assert explained(records, "c") is not None
    assert explained(records, "b")["counts"]["tokens"] == 3
