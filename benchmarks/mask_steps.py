"""What each step of docs/masks.md gains: one mask, computed in the ways that led to the final one.

    python benchmarks/mask_steps.py [--load idle] [--save]

The cases, texts and vocabulary (tekken) are those of masks.py. Every way computes the same mask, at
every token of every text, with all states built beforehand; the rows are compared. Times are
medians over the positions of a case, in microseconds.

each token   every token's bytes through the machine, in compiled code
trie         the machine walked over the trie of all tokens
ready rows   in a string: the row of what stays inside, and a walk over what leaves it
row by name  the row of a configuration that was met before, copied out
budget       the same, told that 2,000 tokens are left
last tokens  the same, told that no token more is left than the text needs from there
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt
from numba import njit

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.masks import BUDGET, CASES  # noqa: E402  (the path)
from benchmarks.report import Report  # noqa: E402
from benchmarks.vocabularies import tekken, tekken_encoding  # noqa: E402
from maskwright import Grammar, Vocabulary, compile_json_schema  # noqa: E402
from maskwright.automaton.leaf import DEAD, LeafArrays  # noqa: E402
from maskwright.automaton.machine import Configuration, MachineArrays  # noqa: E402
from maskwright.automaton.step import move, settle  # noqa: E402
from maskwright.mask.walk import MOST_DYNAMIC, Scratch, walk  # noqa: E402

NONE: Final = np.zeros(0, np.int32)
Row = npt.NDArray[np.int32]
T = TypeVar("T")


@njit(cache=True)
def each_token(
    leaves: LeafArrays,
    machine: MachineArrays,
    data: np.ndarray,
    starts: np.ndarray,
    leaf: int,
    node: int,
    out: np.ndarray,
) -> int:
    """The oracle in compiled code: sets the bits of the allowed tokens, returns the bytes read."""
    read = 0
    for token in range(len(starts) - 1):
        at, stop = starts[token], starts[token + 1]
        if at == stop:
            continue
        here, below = leaf, node
        machine.counts[8] = 0
        while at < stop and here != DEAD:
            here, below = move(leaves, machine, here, below, data[at])
            at += 1
            read += 1
        if here != DEAD:
            here, below = settle(leaves, machine, here, below)
        if here != DEAD and machine.counts[8] <= MOST_DYNAMIC:
            out[token >> 5] |= np.int32(1) << np.int32(token & 31)
    return read


class Ways:
    """One grammar's masks in every way; each returns the row and the steps it took."""

    def __init__(self, grammar: Grammar) -> None:
        self.grammar = grammar
        vocabulary = grammar.vocabulary
        self._data = np.frombuffer(b"".join(vocabulary.tokens), np.uint8)
        self._starts = np.cumsum([0, *map(len, vocabulary.tokens)])
        self._scratch = Scratch.of_height(vocabulary.trie.height)

    def each_token(self, here: Configuration) -> tuple[Row, int]:
        out = np.zeros(self.grammar.vocabulary.words, np.int32)
        tables = self.grammar.space.leaves.arrays, self.grammar.machine.arrays
        return out, each_token(*tables, self._data, self._starts, *here, out)

    def build(self, here: Configuration) -> None:
        """Build whatever the ways need at a configuration."""
        machine = self.grammar.machine
        self.grammar.following(here)
        self.each_token(here)
        while machine.arrays.counts[1] or machine.arrays.counts[2]:
            with self.grammar.space.lock:
                machine.supply()
            self.each_token(here)

    def trie(self, here: Configuration) -> tuple[Row, int]:
        out = np.zeros(self.grammar.vocabulary.words, np.int32)
        tables = self.grammar.space.leaves.arrays, self.grammar.machine.arrays
        trie = self.grammar.vocabulary.trie
        return out, walk(*tables, trie, self._scratch, *here, out, NONE, NONE)


def positions(grammar: Grammar, tokens: list[int]) -> list[tuple[Configuration, bytes]]:
    """The configuration before each token, with the text so far."""
    found: list[tuple[Configuration, bytes]] = []
    here, text = grammar.start, b""
    for token in tokens:
        found.append((here, text))
        data = grammar.vocabulary.tokens[token]
        following = grammar.advance(here, data, text)
        if following is None:
            raise ValueError(f"token {token} of a text that matches is refused")
        here, text = following, text + data
    return found


def timed(action: Callable[[], T]) -> tuple[float, T]:
    """The shorter of two runs, in microseconds, and what it gave."""
    best = float("inf")
    for _ in range(2):
        started = perf_counter()
        result = action()
        best = min(best, (perf_counter() - started) * 1e6)
    return best, result


def measure(report: Report, case: str, schema: dict[str, Any], texts: list[list[int]]) -> None:
    vocabulary: Vocabulary = tekken()
    grammar = compile_json_schema(schema, vocabulary)
    ways = Ways(grammar)
    fill = grammar.budgets.fill
    spent: dict[str, list[float]] = {}
    read: list[int] = []
    visited: list[int] = []
    places = [place for text in texts for place in positions(grammar, text)]
    out = np.zeros(vocabulary.words, np.int32)
    for here, text in places:
        ways.build(here)
        naive, (row, bytes_read) = timed(lambda here=here: ways.each_token(here))
        walked, (same, nodes) = timed(lambda here=here: ways.trie(here))
        ready, final = timed(lambda here=here: grammar.allowed(here))
        if not (np.array_equal(row, same) and np.array_equal(row, final & ~ends(grammar))):
            raise AssertionError(f"the ways differ in {case} behind {text!r}")
        grammar.row(here)
        rows = grammar.space.table.rows
        known, _ = timed(lambda here=here, rows=rows: np.copyto(out, rows[grammar.row(here)]))
        needed = grammar.budgets.tokens_needed(here, text)
        ample, _ = timed(lambda here=here, text=text: fill(here, BUDGET, out, text))
        row_of = {"each token": naive, "trie": walked, "ready rows": ready, "row by name": known}
        row_of["budget"] = ample
        if needed:
            row_of["last tokens"], _ = timed(
                lambda here=here, text=text, needed=needed: fill(here, needed, out, text)
            )
        for way, micros in row_of.items():
            spent.setdefault(way, []).append(micros)
        read.append(bytes_read)
        visited.append(nodes)
    configurations = {here for here, _ in places}
    arrays = grammar.space.leaves.arrays
    report.add(
        case,
        masks=len(places),
        configurations=len(configurations),
        rows=len({grammar.row(here) for here in configurations}),
        **{f"{way} us": statistics.median(micros) for way, micros in spent.items()},
        **{"bytes read": int(statistics.median(read))},
        **{"nodes visited": int(statistics.median(visited))},
        **{"each token us mean": statistics.fmean(spent["each token"])},
        **{"trie us mean": statistics.fmean(spent["trie"])},
        **{"ready rows us mean": statistics.fmean(spent["ready rows"])},
        **{"leaf states": grammar.space.leaves.count},
        **{"leaf states built": int((arrays.base[: grammar.space.leaves.count] >= 0).sum())},
        **{"leaf rows": int(arrays.base[: grammar.space.leaves.count].max()) + 1},
    )


def ends(grammar: Grammar) -> Row:
    """The row of the end tokens."""
    out = np.zeros(grammar.vocabulary.words, np.int32)
    for token in grammar.vocabulary.eos:
        out[token >> 5] |= np.int32(np.uint32(1 << (token & 31)).astype(np.int32))
    return out


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--load", default="unknown", help="what else the machine did")
    parser.add_argument("--save", action="store_true", help="append the rows to results/")
    options = parser.parse_args()
    encoding = tekken_encoding()
    report = Report("mask_steps", packages=("numba",), vocabulary="tekken", load=options.load)
    for case, (schema, values) in CASES.items():
        measure(
            report,
            case,
            schema,
            [encoding.encode(json.dumps(v, ensure_ascii=False)) for v in values],
        )
    report.finish(save=options.save)


if __name__ == "__main__":
    main()
