"""What is noted of the text that has gone out for each choice."""

from __future__ import annotations

import pytest

from maskwright.server import exchange as exchange_module
from maskwright.server.exchange import KEY, Exchange, Sent, exchange_of

NOTED: list[tuple[list[tuple[float, int, int]], dict[int, Sent]]] = [
    # time, choice and tokens of each text that is sent; what is known then
    ([], {}),
    ([(1.0, 0, 2)], {0: Sent(1.0, 1.0, 2)}),
    ([(1.0, 0, 2), (3.0, 0, 9)], {0: Sent(1.0, 3.0, 2)}),  # tokens with the first text
    ([(1.0, 1, 2), (2.0, 0, 1), (5.0, 1, 7)], {0: Sent(2.0, 2.0, 1), 1: Sent(1.0, 5.0, 2)}),
]


@pytest.mark.parametrize(("texts", "expected"), NOTED)
def test_first_and_last_text_of_each_choice(
    texts: list[tuple[float, int, int]],
    expected: dict[int, Sent],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    noted = Exchange("req_1")
    for time, index, tokens in texts:
        monkeypatch.setattr(exchange_module.time, "monotonic", lambda now=time: now)
        noted.note_sent(index, tokens)
    assert noted.sent == expected


def test_the_exchange_of_a_scope() -> None:
    noted = Exchange("req_1")
    assert exchange_of({KEY: noted}) is noted
    assert noted.sent is not Exchange("req_1").sent
