"""What masks cost on larger vocabularies, and on one of sentencepiece's kind.

    python benchmarks/vocabulary_sizes.py [--cases person,list] [--rounds 5] [--load idle] [--save]

The schemas and texts are the five of masks.py; each vocabulary cuts the texts into its own tokens.
The vocabularies are tekken (131,072 entries), tekken with further ranks of its file and made-up
words up to 200,019 entries, and 32,000 of tekken's texts in the form of a sentencepiece vocabulary
(the 256 bytes first, and otherwise whole characters only). The vocabularies take turns. `first` is
a text that a newly compiled grammar reads for the first time, `again` the second time. `ratio` is
the median divided by tekken's.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections import defaultdict
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, Final

import numpy as np

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.masks import CASES
from benchmarks.report import Report, some_of
from benchmarks.vocabularies import sentencepiece_like, tekken, tekken_extended
from maskwright import Vocabulary, compile_json_schema

VOCABULARIES: Final = {
    "tekken": tekken,
    "tekken, 200,019": tekken_extended,
    "sentencepiece, 32,000": sentencepiece_like,
}

Times = dict[tuple[str, str], list[float]]


def measure(vocab: Vocabulary, schema: dict[str, Any], values: list[Any], times: Times) -> None:
    """Compile one schema and read all of its texts twice; times are in microseconds."""
    mask = np.zeros(vocab.words, np.int32)
    started = process_time()
    grammar = compile_json_schema(schema, vocab)
    grammar.matcher().fill_mask(mask)
    times["first mask", "first"].append((process_time() - started) * 1e6)
    for when in ("first", "again"):
        for value in values:
            matcher = grammar.matcher()
            for token in vocab.fewest(json.dumps(value, ensure_ascii=False).encode()):
                started = perf_counter()
                matcher.fill_mask(mask)
                accepted = matcher.accept(token)
                times["mask and accept", when].append((perf_counter() - started) * 1e6)
                assert accepted


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--cases", type=some_of(CASES), default=list(CASES), help="names, with commas"
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--load", default="idle", help="other load on the machine, as a note in the rows"
    )
    parser.add_argument("--save", action="store_true")
    options = parser.parse_args()
    found: dict[str, Times] = {}
    made: dict[str, tuple[Vocabulary, float]] = {}
    for name, make in VOCABULARIES.items():
        vocab = make()
        compile_json_schema({"const": 1}, Vocabulary([b"1", b""], eos=1)).matcher()
        started = process_time()
        compile_json_schema({"const": 1}, vocab)
        made[name] = vocab, process_time() - started
        found[name] = defaultdict(list)
        measure(vocab, {}, [1], defaultdict(list))
    for _ in range(options.rounds):
        for schema, values in map(CASES.__getitem__, options.cases):
            for name, (vocab, _) in made.items():
                measure(vocab, schema, values, found[name])
    report = Report("vocabulary_sizes", load=options.load)
    for name, (vocab, seconds) in made.items():
        report.add(name, size=vocab.size, what="laid out", **{"us p50": seconds * 1e6})
        for (what, when), samples in found[name].items():
            median = statistics.median(samples)
            ratio = median / statistics.median(found["tekken"][what, when])
            figures = {"n": len(samples), "us p50": median, "ratio": ratio}
            report.add(name, size=vocab.size, what=f"{what}, {when}", **figures)
    report.finish(save=options.save)


if __name__ == "__main__":
    main()
