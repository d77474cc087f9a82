"""Many tools in one request: the time to the first mask, and the time of each mask in a call.

    python benchmarks/tools.py [--counts 1,20,200] [--formats json,hermes] [--save]

The vocabulary is tekken's. Times to the first mask are in milliseconds: "cold" is the first time
that a process sees the tools (after compiled code has been loaded and the vocabulary's tables have
been built), "again" is a further compilation of them, and "kept" is a further request to a server,
which keeps grammars. The times of a mask with its token accepted are in microseconds, over one call
within a budget of 2,000 tokens, as models of the family write it.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import sys
from pathlib import Path
from time import perf_counter
from typing import Any, Final, cast

import numpy as np

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.report import Report, percentile, some_of
from benchmarks.vocabularies import tekken, tekken_encoding
from maskwright import Grammar, Vocabulary, compile_tools
from maskwright.grammar.tools.formats import tool_format
from maskwright.processes import Build
from maskwright.server.observe.metrics import Metrics
from maskwright.server.recipes import GrammarStore, Recipe
from tests.mask.compile.offered_tools import many_tools

COUNTS: Final = (1, 20, 200)
BUDGET: Final = 2_000
FORMATS: Final = ("json", "hermes", "llama3_json")
ARGUMENTS: Final = {"id": "ab-12", "limit": 7, "mode": "fast", "tags": ["new", "a b"]}


def first_mask(offered: list[Any], choice: str, vocab: Vocabulary, format: str) -> float:
    begun = perf_counter()
    grammar = compile_tools(offered, choice, vocab, format=format)
    grammar.matcher().fill_mask(np.zeros(vocab.words, np.int32))
    return 1e3 * (perf_counter() - begun)


def kept(offered: list[Any], vocab: Vocabulary, format: str) -> float:
    """Milliseconds to the first mask of a request that the server has seen before."""
    store = GrammarStore(1 << 30, Metrics(cast(Any, None), "none"), vocab)
    recipe = Recipe("tools", Build(compile_tools, (offered, "auto"), {"format": format}), "tools")

    async def ask() -> float:
        (await store.get(recipe))[1].matcher().mask(BUDGET)
        begun = perf_counter()
        (await store.get(recipe))[1].matcher().mask(BUDGET)
        return 1e3 * (perf_counter() - begun)

    return asyncio.run(ask())


def call(format: str) -> str:
    """A call of the first tool, in a model family's format."""
    text = "".join((*tool_format(format).begin, *tool_format(format).call))
    name, arguments = "get_user_0", json.dumps(ARGUMENTS)
    return text.replace("$name", name).replace("$arguments", arguments)


def steps(grammar: Grammar, tokens: list[int]) -> list[float]:
    """Microseconds of each mask, within the budget that a server passes, with the acceptance of the
    next token."""
    matcher, row = grammar.matcher(), np.zeros(grammar.vocabulary.words, np.int32)
    found: list[float] = []
    for at, token in enumerate(tokens):
        begun = perf_counter()
        matcher.fill_mask(row, BUDGET - at)
        accepted = matcher.accept(token)
        found.append(1e6 * (perf_counter() - begun))
        assert accepted, "the call is a text of the grammar"
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--counts", default=",".join(map(str, COUNTS)), help="numbers of tools")
    parser.add_argument(
        "--formats", type=some_of(FORMATS), default=list(FORMATS), help="how calls are written"
    )
    parser.add_argument("--save", action="store_true", help="append the rows to results/")
    options = parser.parse_args()
    vocab, encode = tekken(), tekken_encoding()
    first_mask(many_tools(1), "auto", vocab, "granite")  # loads what is compiled
    gc.collect()
    gc.freeze()  # as the server does
    report = Report("tools")
    for format in options.formats:
        tokens = encode.encode(call(format))
        for count in map(int, options.counts.split(",")):
            offered = many_tools(count)
            for choice in ("required", "auto"):
                cold = first_mask(offered, choice, vocab, format)
                again = sorted(first_mask(offered, choice, vocab, format) for _ in range(5))
                grammar = compile_tools(offered, choice, vocab, format=format)
                new, known = sorted(steps(grammar, tokens)), sorted(steps(grammar, tokens))
                report.add(
                    f"{format}, {count} tools, {choice}",
                    cold_ms=cold,
                    again_ms=percentile(again, 50),
                    kept_ms=kept(offered, vocab, format),
                    **{"new p50 us": percentile(new, 50), "new p99 us": percentile(new, 99)},
                    **{"known p50 us": percentile(known, 50)},
                )
    report.finish(save=options.save)


if __name__ == "__main__":
    main()
