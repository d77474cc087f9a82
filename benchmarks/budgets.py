"""What a mask costs within the budget that a server passes, over many answers to one request.

    python benchmarks/budgets.py [--cases person,map] [--answers 50] [--tokens 1000] [--save]

Each answer is a random walk over the tekken vocabulary (131,072 entries) that seldom ends what it
is in, as a small model that doesn't know when to stop: it invents names, nests and fills strings
with words until the budget makes it close the text. Every mask is computed within the tokens that
are left; forced tokens are taken without one, as in the engine. A second matcher of the grammar,
compiled separately, takes the same tokens and computes each mask without a budget.

The times are processor time, so that other load on the machine hardly matters. `first` are the
masks of the first tenth of the answers, `later` the masks of the others, `last` the later ones with
fewer than 60 tokens left. `memory` is what the process has grown by during the later answers.
An answer that isn't complete within its budget ends the script with an error.
"""

from __future__ import annotations

import argparse
import resource
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from statistics import fmean
from time import process_time
from typing import Any, Final

import numpy as np
import numpy.typing as npt

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.report import Report, percentile, some_of
from benchmarks.vocabularies import tekken
from maskwright import (
    Grammar,
    Vocabulary,
    compile_grammar,
    compile_json_schema,
    compile_structural_tag,
    compile_tools,
)

PERSON: Final[dict[str, Any]] = {
    "properties": {
        "name": {"title": "Name", "type": "string"},
        "age": {"title": "Age", "type": "integer"},
    },
    "required": ["age", "name"],
    "type": "object",
}
MAP: Final = '{"type": "object", "additionalProperties": {"type": "string"}}'
LAST: Final = 60
"""Tokens before the end of the budget whose masks have a column of their own."""


def forced_function(format: str) -> Callable[[Vocabulary], Grammar]:
    tool = {"type": "function", "function": {"name": "person", "parameters": PERSON}}
    choice = {"type": "function", "function": {"name": "person"}}
    return lambda vocab: compile_tools([tool], choice, vocab, format=format)


def tagged(vocab: Vocabulary) -> Grammar:
    content = {"type": "json_schema", "json_schema": PERSON}
    tag = {"type": "tag", "begin": "<person>", "content": content, "end": "</person>"}
    return compile_structural_tag({"type": "structural_tag", "format": tag}, vocab)


CASES: Final[dict[str, Callable[[Vocabulary], Grammar]]] = {
    "person": lambda vocab: compile_json_schema(PERSON, vocab),
    "map": lambda vocab: compile_json_schema(MAP, vocab),
    "counted": lambda vocab: compile_json_schema({"type": "object", "minProperties": 3}, vocab),
    **{
        f"tool {format}": forced_function(format)
        for format in ("json", "hermes", "llama3_json", "granite")
    },
    "lark": lambda vocab: compile_grammar(f'start: "<" %json {MAP} ">"', vocab, dialect="lark"),
    "tag": tagged,
}


@dataclass(slots=True)
class Times:
    """Microseconds of masks."""

    within: list[float] = field(default_factory=list[float])
    without: list[float] = field(default_factory=list[float])
    last: list[float] = field(default_factory=list[float])


class Writer:
    """Chooses tokens at random: mostly whitespace, words and digits, seldom what ends anything."""

    def __init__(self, vocab: Vocabulary) -> None:
        self._random = Random()
        ends = set(b'"}]\\')
        self._words = np.array([bool(text) and not set(text) & ends for text in vocab.tokens])

    def begin(self, seed: int) -> None:
        """Begin an answer."""
        self._random.seed(seed)

    def choose(self, mask: npt.NDArray[np.int32]) -> int:
        bits = np.unpackbits(mask.view(np.uint8), bitorder="little")[: len(self._words)]
        calm = np.flatnonzero(bits & self._words)
        if len(calm) and self._random.random() > 0.02:
            return int(self._random.choice(calm))
        return int(self._random.choice(np.flatnonzero(bits)))


def write(grammar: Grammar, plain: Grammar, writer: Writer, budget: int, times: Times) -> None:
    """One answer, with the times of its masks."""
    matcher, other = grammar.matcher(), plain.matcher()
    row = np.zeros(grammar.vocabulary.words, np.int32)
    while not matcher.complete:
        forced = matcher.forced_tokens()
        if forced and budget - len(forced) >= matcher.min_tokens:
            tokens = forced
        else:
            begun = process_time()
            other.fill_mask(row)
            between = process_time()
            matcher.fill_mask(row, budget)
            spent = 1e6 * (process_time() - between)
            times.without.append(1e6 * (between - begun))
            times.within.append(spent)
            if budget < LAST:
                times.last.append(spent)
            tokens = [writer.choose(row)]
        for token in tokens:
            assert matcher.accept(token)
            assert other.accept(token)
        budget -= len(tokens)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--cases", type=some_of(CASES), default=list(CASES), help="names, with commas"
    )
    parser.add_argument("--answers", type=int, default=50, help="answers to each request")
    parser.add_argument("--tokens", type=int, default=1_000, help="the budget of an answer")
    parser.add_argument("--save", action="store_true", help="append the rows to results/")
    options = parser.parse_args()
    vocab = tekken()
    report = Report("budgets", vocabulary="tekken", tokens=options.tokens)
    writer = Writer(vocab)
    for case in options.cases:
        grammar, plain = CASES[case](vocab), CASES[case](vocab)
        first, later = Times(), Times()
        early = max(1, options.answers // 10)
        held = 0
        for seed in range(options.answers):
            if seed == early:
                held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            writer.begin(seed)
            write(grammar, plain, writer, options.tokens, first if seed < early else later)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - held if held else 0
        ordered = sorted(later.within or first.within)
        report.add(
            case,
            answers=options.answers,
            masks=len(first.within) + len(later.within),
            **{"first mean us": fmean(first.within)},
            **{"later mean us": fmean(ordered), "later p50 us": percentile(ordered, 50)},
            **{"later p99 us": percentile(ordered, 99), "later max us": ordered[-1]},
            **{"last mean us": fmean(later.last or first.last)},
            **{"without mean us": fmean(later.without or first.without)},
            **{"memory MB": grown / 1024},
        )
    report.finish(save=options.save)


if __name__ == "__main__":
    main()
