"""What each step of docs/masks.md gains: one mask, computed in each of the ways described there.

    python benchmarks/mask_steps.py [--cases person,list] [--load idle] [--save]

The cases, texts and vocabulary (tekken) are the same as in masks.py. Every way computes the mask
before every token of every text, after all states have been built, and the rows are compared. Times
are medians over the positions of a case, in microseconds.

each token   the machine reads every token's bytes, a call for each
trie         the machine walks over the trie of all tokens
ready rows   inside a string, the row of the tokens that stay inside is ready, and the walk covers
             the tokens that leave it
row by name  the row of a configuration that was met before is copied
budget       row by name, if 2,000 tokens are left
last tokens  row by name, if only the tokens are left that the text needs from there
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.masks import BUDGET, CASES
from benchmarks.report import Report, some_of
from benchmarks.vocabularies import tekken, tekken_encoding
from maskwright import Grammar, Vocabulary, compile_json_schema
from maskwright.automaton.leaf.rows import DEAD
from maskwright.automaton.machine.exits import Configuration
from maskwright.automaton.machine.step import TOO_MANY, MachineArrays
from maskwright.mask.walk.row_table import packed
from maskwright.mask.walk.walk import NOTHING, UNMEASURED, PrecomputedMask

Row = npt.NDArray[np.int32]
T = TypeVar("T")


def each_token(
    arrays: MachineArrays, tokens: Sequence[bytes], here: Configuration
) -> tuple[list[int], int]:
    """The allowed tokens, each read by itself, and the number of bytes that were read."""
    allowed: list[int] = []
    read = 0
    for token, data in enumerate(tokens):
        leaf, _ = arrays.advance(here.leaf, here.node, data)
        read += arrays.bytes_read
        if data and (leaf != DEAD or (arrays.stopped and passes(arrays, data, here))):
            allowed.append(token)
    return allowed, read


def passes(arrays: MachineArrays, data: bytes, here: Configuration) -> bool:
    """Whether a token is allowed on whose way the text decides, whatever the text."""
    arrays.passed = 0
    leaf, node = here.leaf, here.node
    for byte in data:
        leaf, node = arrays.move(leaf, node, byte)
    leaf, node = arrays.settle(leaf, node)
    return leaf != DEAD and arrays.passed < TOO_MANY


class Ways:
    """The masks of one grammar in every way, with the number of steps that each took."""

    def __init__(self, grammar: Grammar) -> None:
        self.grammar = grammar
        self._arrays = grammar.recognizer.machine.arrays

    def each_token(self, here: Configuration) -> tuple[Row, int]:
        vocabulary = self.grammar.vocabulary
        found, read = each_token(self._arrays, vocabulary.tokens, here)
        allowed = np.zeros(vocabulary.size, np.bool_)
        allowed[found] = True
        return packed(allowed), read

    def build(self, here: Configuration) -> None:
        """Build every state that the ways need at a configuration."""
        self.grammar.walker.successors(here)
        self.each_token(here)
        while self._arrays.lacking:
            with self.grammar.recognizer.tables.lock:
                self.grammar.recognizer.machine.serve_requests()
            self.each_token(here)

    def trie(self, here: Configuration) -> tuple[int, int]:
        return self._walk(here, NOTHING)

    def ready_rows(self, here: Configuration) -> tuple[int, int]:
        return self._walk(here, self.grammar.walker.precomputed(here))

    def _walk(self, here: Configuration, precomputed: PrecomputedMask) -> tuple[int, int]:
        """The number of the row, and the number of trie nodes visited."""
        walk = self.grammar.recognizer.walk
        number = walk.find_row(here.leaf, here.node, precomputed, UNMEASURED, False, None)
        assert number >= 0, "everything has been built"
        return number, walk.scratch.visited


def positions(grammar: Grammar, tokens: list[int]) -> list[tuple[Configuration, bytes]]:
    """The configuration before each token, with the text so far."""
    found: list[tuple[Configuration, bytes]] = []
    here, text = grammar.recognizer.start, b""
    for token in tokens:
        found.append((here, text))
        data = grammar.vocabulary.tokens[token]
        following = grammar.recognizer.advance(here, data, text)
        if following is None:
            raise ValueError(f"token {token} of a text that matches is refused")
        here, text = following, text + data
    return found


def timed(action: Callable[[], T]) -> tuple[float, T]:
    """The time of the faster of two runs in microseconds, and the result."""
    started = perf_counter()
    result = action()
    first = perf_counter() - started
    started = perf_counter()
    result = action()
    return min(first, perf_counter() - started) * 1e6, result


def measure(report: Report, case: str, schema: dict[str, Any], texts: list[list[int]]) -> None:
    vocabulary: Vocabulary = tekken()
    grammar = compile_json_schema(schema, vocabulary)
    ways = Ways(grammar)
    fill = grammar.budgets.fill
    table = grammar.recognizer.tables.rows
    spent: dict[str, list[float]] = {}
    read: list[int] = []
    visited: list[int] = []
    places = [place for text in texts for place in positions(grammar, text)]
    out = np.zeros(vocabulary.words, np.int32)
    for here, text in places:
        ways.build(here)
        position = grammar.recognizer.position(here)
        final = grammar.walker.row(here)
        naive, (row, bytes_read) = timed(lambda here=here: ways.each_token(here))
        walked, (same, nodes) = timed(lambda here=here: ways.trie(here))
        ready, (again, _) = timed(lambda here=here: ways.ready_rows(here))
        if not (same == again == final and np.array_equal(row, table[final] & ~ends(grammar))):
            raise AssertionError(f"the ways differ in {case} behind {text!r}")
        known, _ = timed(lambda row=position.row: table.write(row, out))
        needed = grammar.budgets.costs.tokens_needed(here, text)
        ample, _ = timed(lambda position=position, text=text: fill(position, BUDGET, out, text, ()))
        row_of = {"each token": naive, "trie": walked, "ready rows": ready, "row by name": known}
        row_of["budget"] = ample
        if needed:
            row_of["last tokens"], _ = timed(
                lambda position=position, text=text, left=needed: fill(
                    position, left, out, text, ()
                )
            )
        for way, micros in row_of.items():
            spent.setdefault(way, []).append(micros)
        read.append(bytes_read)
        visited.append(nodes)
    configurations = {here for here, _ in places}
    arrays = grammar.recognizer.tables.leaves.rows
    report.add(
        case,
        masks=len(places),
        configurations=len(configurations),
        rows=len({grammar.walker.row(here) for here in configurations}),
        **{f"{way} us": statistics.median(micros) for way, micros in spent.items()},
        **{"bytes read": int(statistics.median(read))},
        **{"nodes visited": int(statistics.median(visited))},
        **{"each token us mean": statistics.fmean(spent["each token"])},
        **{"trie us mean": statistics.fmean(spent["trie"])},
        **{"ready rows us mean": statistics.fmean(spent["ready rows"])},
        **{"leaf states": grammar.recognizer.tables.leaves.count},
        **{
            "leaf states built": int(
                (arrays.base[: grammar.recognizer.tables.leaves.count] >= 0).sum()
            )
        },
        **{"leaf rows": int(arrays.base[: grammar.recognizer.tables.leaves.count].max()) + 1},
    )


def ends(grammar: Grammar) -> Row:
    """The mask that allows only the end tokens."""
    out = np.zeros(grammar.vocabulary.words, np.int32)
    for token in grammar.vocabulary.eos:
        out[token >> 5] |= np.int32(np.uint32(1 << (token & 31)).astype(np.int32))
    return out


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--cases", type=some_of(CASES), default=list(CASES), help="names, with commas"
    )
    parser.add_argument(
        "--load", default="unknown", help="other load on the machine, as a note in the rows"
    )
    parser.add_argument("--save", action="store_true", help="append the rows to results/")
    options = parser.parse_args()
    encoding = tekken_encoding()
    report = Report("mask_steps", vocabulary="tekken", load=options.load)
    for case in options.cases:
        schema, values = CASES[case]
        measure(
            report,
            case,
            schema,
            [encoding.encode(json.dumps(v, ensure_ascii=False)) for v in values],
        )
    report.finish(save=options.save)


if __name__ == "__main__":
    main()
