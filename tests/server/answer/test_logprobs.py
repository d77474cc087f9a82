"""Entries of tokens beside the text they are of, however both are cut."""

from __future__ import annotations

import random

import pytest

from maskwright.engine import TokenScore
from maskwright.engine.request.emission import Emitter
from maskwright.engine.request.stops import StopAutomaton
from maskwright.sampling import Alternative
from maskwright.server.answer.logprobs import LEAST, ScoreReader, TokenPlaces
from maskwright.server.answer.parts import Part, Reasoning, TextPart
from maskwright.server.json import Json
from maskwright.vocab import Vocabulary

TOKENS = [b"a", b"bc", b"\xf0\x9f", b"\x98\x80", "né".encode(), b"END", b"\xff", b"<|end|>"]
VOCAB = Vocabulary(TOKENS, special=[7], eos=7)


def score(token: int, raw: float = -1.0, top: tuple[Alternative, ...] = ()) -> TokenScore:
    return TokenScore(token, raw, raw + 0.5, 0.6, 0.0, 1, 2, top, False, "")


def read_cut(
    ids: list[int], stops: tuple[str, ...], cuts: list[int], *, every: bool = False
) -> tuple[str, list[Json]]:
    """The text and entries, with the tokens coming in pieces that end at `cuts`."""
    emitter = Emitter(StopAutomaton(stops) if stops else None)
    reader, text, entries = ScoreReader(VOCAB, "raw", every=every), "", []
    for start, end in zip([0, *cuts], [*cuts, len(ids)], strict=True):
        piece = "".join(emitter.push(VOCAB.tokens[token]) for token in ids[start:end])
        if end == len(ids):
            piece += emitter.finish()
        text += piece
        scores, final = [score(token) for token in ids[start:end]], end == len(ids)
        entries += reader.read(piece, ids[start:end], scores, final=final)
        assert joined(entries).decode(errors="replace").startswith(text)
    return text, entries


def joined(entries: list[Json]) -> bytes:
    return b"".join(bytes(entry["bytes"]) for entry in entries)


@pytest.mark.parametrize(
    ("ids", "stops", "expected"),
    [
        ([0, 1, 7], (), [0, 1]),  # an end token has no text
        ([0, 2, 3, 1], (), [0, 2, 3, 1]),
        ([0, 1, 5], ("END",), [0, 1]),
        ([0, 1, 5], ("cEND",), [0, 1]),  # the stop string begins inside a token
        ([0, 5, 0], ("ENDb",), [0, 5, 0]),  # held back, and then it was none
        ([4, 2], (), [4, 2]),  # half a character at the end
        ([6, 0], (), [6, 0]),  # a byte that is none
        ([7], (), []),
        ([0, 2, 7], (), [0, 2]),
    ],
)
def test_entries_are_those_of_the_text(
    ids: list[int], stops: tuple[str, ...], expected: list[int]
) -> None:
    rng = random.Random(1)
    for _ in range(20):
        cuts = sorted(rng.sample(range(1, len(ids)), rng.randrange(len(ids)))) if ids else []
        text, entries = read_cut(ids, stops, cuts)
        assert [bytes(entry["bytes"]) for entry in entries] == [TOKENS[i] for i in expected]
        again, every = read_cut(ids, stops, cuts, every=True)
        assert (again, every[: len(entries)]) == (text, entries)
        names = ["<|end|>" if token == 7 else VOCAB.tokens[token] for token in ids]
        assert [one["token"] for one in every] == [
            name if isinstance(name, str) else name.decode(errors="replace") for name in names
        ]
        if "�" not in text and not stops:
            assert joined(entries) == text.encode()


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        (["a", "bc", "d"], [0, 1, 3]),
        (["é", b"\xf0\x9f", b"\x98\x80", "x"], [0, 1, 1, 2]),
        ([b"\xf0", b"\x9f", b"\x98", b"\x80x", "y"], [0, 0, 0, 0, 2]),
        (["a", b"\xe6\x9d", "foun", "d"], [0, 1, 2, 6]),  # a broken character is one
        ([b"\xe6", b"\xe6\x9d", b"\xb1", "a"], [0, 1, 1, 2]),
        ([b"\xe6", b"\x41", "b"], [0, 1, 2]),
        ([b"\xe0", b"\x80", "b"], [0, 1, 2]),  # 0x80 may not come here
        ([b"\xff", "b"], [0, 1]),
        (["\ufffd", "b"], [0, 1]),
        ([b"\xef", b"\xbf\xbd", "b"], [0, 0, 1]),
        (["a", b"\xe6", b""], [0, 1, 2]),  # what comes after it may be the end
    ],
)
def test_where_tokens_begin(pieces: list[str | bytes], expected: list[int]) -> None:
    data = [piece.encode() if isinstance(piece, str) else piece for piece in pieces]
    for before in (0, 7):
        places = TokenPlaces(before)
        assert [places.next(piece) - before for piece in data] == expected
    whole = b"".join(data).decode(errors="replace")
    for piece, at in zip(pieces, expected, strict=True):
        assert not isinstance(piece, str) or whole.startswith(piece, at)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([TextPart("a", 0), TextPart("bc", 1)], [[7, 0], [7, 1]]),
        ([Reasoning("a"), TextPart("bc", 1)], [[1]]),  # the control token ends the reasoning
        ([TextPart("a", 0), Reasoning("bc")], [[7, 0]]),
        ([TextPart("ab", 0), TextPart("c", 2)], [[7, 0, 7, 1], []]),
    ],
)
def test_entries_of_parts(parts: list[Part], expected: list[list[int]]) -> None:
    reader, ids = ScoreReader(VOCAB, "raw"), [7, 0, 7, 1]
    reader.read("abc", ids, [score(token) for token in ids], final=True)
    placed = reader.place(parts)
    assert placed == parts
    found = [part.logprobs for part in placed if isinstance(part, TextPart)]
    assert [[bytes(one["bytes"]) for one in each] for each in found] == [
        [VOCAB.tokens[token] for token in each] for each in expected
    ]


@pytest.mark.parametrize("scale", ["raw", "masked"])
def test_an_entry(scale) -> None:
    top = (Alternative(7, -0.1, None), Alternative(0, -2.0, -1.5), Alternative(2, -1e6, -1e6))
    (entry,) = ScoreReader(VOCAB, scale).read("a", [0], [score(0, -2.0, top)], final=False)
    raw = scale == "raw"
    assert entry == {
        "token": "a",
        "logprob": -2.0 if raw else -1.5,
        "bytes": [97],
        "top_logprobs": [
            {"token": "<|end|>", "logprob": -0.1 if raw else LEAST, "bytes": []},
            {"token": "a", "logprob": -2.0 if raw else -1.5, "bytes": [97]},
            {"token": "�", "logprob": LEAST, "bytes": [0xF0, 0x9F]},
        ],
    }
