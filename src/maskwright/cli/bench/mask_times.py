"""What compiling a shape and its masks take, for several engines in turns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Final, NamedTuple

import numpy as np

from maskwright.cli.bench.engines import MaskEngine, RefusedShapeError, TextReader
from maskwright.cli.input.shapes import (
    GrammarArgument,
    RegexArgument,
    SchemaArgument,
    Shape,
    compile_quietly,
)
from maskwright.cli.output.progress import Tell
from maskwright.errors import MaskwrightError
from maskwright.mask import Grammar
from maskwright.vocab import Vocabulary

TRIVIAL: Final[dict[type, tuple[Shape, bytes]]] = {
    SchemaArgument: (
        SchemaArgument({"type": "object", "properties": {"a": {"type": ["string", "integer"]}}}),
        b'{"a": "b"}',
    ),
    RegexArgument: (RegexArgument("[a-z]+ [0-9]{2}"), b"ab 12"),
    GrammarArgument: (GrammarArgument('start: "a" /[b-z]+/', "lark"), b"ab"),
}
"""A shape of each kind and a text of it, which is measured before others and not told: it loads
code that a running server has loaded."""


@dataclass(slots=True)
class RoundTimes:
    """What one engine took to compile a shape once and to read all texts with it. Seconds."""

    compiling: float
    first_mask: float
    """From the compiled shape to the mask of the first token."""
    masks: list[float] = field(default_factory=list[float])
    """The mask of each token of each text."""
    masks_within: list[float] = field(default_factory=list[float])
    """The mask of each token under the budget that its text has left, after all masks without a
    budget. Empty for an engine that has no budgets."""


@dataclass(slots=True)
class EngineTimes:
    """The readings of one engine, in order. `refused`: why it has none."""

    engine: str
    readings: list[RoundTimes] = field(default_factory=list[RoundTimes])
    refused: str | None = None


def token_texts(vocabulary: Vocabulary, texts: Sequence[bytes]) -> list[list[int]]:
    """The tokens of texts, each with an end token if the vocabulary has one."""
    return [[*vocabulary.encode(text), *vocabulary.eos[:1]] for text in texts]


class MeasuredText(NamedTuple):
    """The tokens of a text, and a budget under which each mask allows the next of them, which is
    hardly larger than needed."""

    tokens: Sequence[int]
    budget: int


def with_budgets(grammar: Grammar, texts: Sequence[Sequence[int]]) -> list[MeasuredText]:
    """Texts with their budgets. What completes a text takes more tokens at some places than the
    text goes on to have, since it is counted along the fewest bytes.

    `grammar` is one whose masks aren't measured: counting finds out much of what they need. A text
    that isn't allowed has a budget as far as it is."""
    found: list[MeasuredText] = []
    for tokens in texts:
        matcher = grammar.matcher()
        budget = max(len(tokens), matcher.min_tokens)
        for at, token in enumerate(tokens, 1):
            if not matcher.accept(token):
                break
            budget = max(budget, at + matcher.min_tokens)
        found.append(MeasuredText(tokens, budget))
    return found


def measure(
    engines: Sequence[MaskEngine],
    vocabulary: Vocabulary,
    shape: Shape,
    texts: Sequence[MeasuredText],
    rounds: int,
    tell: Tell = lambda _: None,
) -> list[EngineTimes]:
    """The times of all engines, which take turns, so that other load on the machine slows all of
    them. In each of `rounds` rounds the shape is compiled again and all texts are read. Raises the
    errors of Maskwright's compilers; what another engine raises is told as `refused`. `tell` is
    called with what is measured next."""
    found = [EngineTimes(engine.name) for engine in engines]
    for number in range(1, rounds + 1):
        for engine, times in zip(engines, found, strict=True):
            tell(f"round {number} of {rounds}: {engine.name}")
            if times.refused is None:
                try:
                    times.readings.append(_read(engine, vocabulary, shape, texts))
                except MaskwrightError:
                    raise
                except Exception as error:  # each engine has errors of its own
                    times.refused = str(error).strip() or type(error).__name__
                    times.readings.clear()
    return found


def warm_up(engines: Sequence[MaskEngine], vocabulary: Vocabulary, shape: Shape) -> None:
    """Have engines load their code, by a trivial shape of the kind of `shape`."""
    trivial, text = TRIVIAL[type(shape)]
    grammar = compile_quietly(trivial, vocabulary)
    measure(engines, vocabulary, trivial, with_budgets(grammar, token_texts(vocabulary, [text])), 1)


def _read(
    engine: MaskEngine, vocabulary: Vocabulary, shape: Shape, texts: Sequence[MeasuredText]
) -> RoundTimes:
    """Raises RefusedShapeError, also for a text that isn't allowed."""
    begin = perf_counter()
    compiled = engine.compile(shape)
    done = perf_counter()
    reader = engine.start(compiled)
    reader.fill()
    reading = RoundTimes(done - begin, perf_counter() - done)
    for number, text in enumerate(texts, 1):
        reader = engine.start(compiled)
        for at, token in enumerate(text.tokens):
            begin = perf_counter()
            reader.fill()
            reading.masks.append(perf_counter() - begin)
            if not reader.accept(token):
                spelling = vocabulary.tokens[token].decode("utf-8", "backslashreplace")
                raise RefusedShapeError(
                    f"{spelling!r}, token {at + 1} of text {number}, isn't allowed"
                )
    for text in texts:
        _read_within(engine.start(compiled), text, reading.masks_within)
    return reading


def _read_within(reader: TextReader, text: MeasuredText, times: list[float]) -> None:
    """Read a text again, with budgets that are hardly larger than it needs."""
    if reader.fill_within is None:
        return
    for at, token in enumerate(text.tokens):
        begin = perf_counter()
        reader.fill_within(text.budget - at)
        times.append(perf_counter() - begin)
        reader.accept(token)


def microseconds(masks: Sequence[float]) -> dict[str, float]:
    """The average, the percentiles 50 and 99, and the longest of times in seconds."""
    times = 1e6 * np.array(masks)
    p50, p99 = np.percentile(times, (50, 99)).tolist()
    figures = {"mean": float(times.mean()), "p50": p50, "p99": p99, "most": float(times.max())}
    return {name: round(value, 3) for name, value in figures.items()}
