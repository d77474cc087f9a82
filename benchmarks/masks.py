"""What one mask costs on five schemas, for Maskwright and for llguidance.

    python benchmarks/masks.py [--cases person,list] [--rounds 5] [--load idle] [--save]

For each schema, the time from the schema to the first mask is measured, then the time of mask and
accept for every token of texts that match it, all through the public Python APIs and on the tekken
vocabulary (131,072 entries). The engines take turns schema by schema, so that other load on the
machine slows all of them. `first` is the first round in a process that has compiled one trivial
schema; `later` are the other rounds, which compile the schema again each time; `again` are the
texts read a second time with that grammar. With `budget` every mask is computed within a budget of
2,000 tokens, as in a server; llguidance has no such option.

maskbench.py measures thousands of schemas, but needs data that is not in the repository.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from time import perf_counter
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.peers.engines import ENGINES, Engine, Maskwright, Walk, allows
from benchmarks.report import Report, figures, some_of
from benchmarks.vocabularies import tekken, tekken_encoding
from maskwright import Grammar, Vocabulary

BUDGET: Final = 2_000


class WithBudget(Maskwright):
    """Maskwright, with the number of tokens left given at every mask."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__(vocabulary, "schema")

    def start(self, compiled: Grammar) -> Walk:
        matcher = compiled.matcher()
        left = itertools.count(BUDGET, -1)

        def fill() -> None:
            matcher.fill_mask(self.mask, next(left))

        return Walk(fill, matcher.accept, lambda: matcher.accepting)


COMPARED: Final = {
    "maskwright": ENGINES["maskwright"],
    "maskwright, budget": WithBudget,
    "llguidance": ENGINES["llguidance"],
}


def _object(properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    closed = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**closed, "required": list(properties), **more}


STRING: Final = {"type": "string"}
ADDRESS: Final = _object(
    {"street": STRING, "city": STRING, "zip": {"pattern": "^[0-9]{5}$", **STRING}}
)
NODE: Final = _object(
    {"value": {"type": "integer"}, "next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}}
)

CASES: Final[dict[str, tuple[dict[str, Any], list[Any]]]] = {
    "person": (
        _object(
            {
                "name": {"type": "string", "minLength": 1, "maxLength": 60},
                "age": {"type": "integer", "minimum": 0, "maximum": 150},
                "email": {"type": ["string", "null"]},
                "addresses": {"type": "array", "items": ADDRESS, "maxItems": 3},
            }
        ),
        [
            {"name": "Ada Lovelace", "age": 36, "email": None, "addresses": []},
            {
                "name": "Grete Hermann",
                "age": 83,
                "email": "grete@example.org",
                "addresses": [{"street": "Große Straße 1", "city": "Bremen", "zip": "28195"}],
            },
        ],
    ),
    "tool call": (
        {
            "anyOf": [
                _object({"tool": {"const": "search"}, "query": STRING}),
                _object({"tool": {"const": "weather"}, "city": STRING, "days": {"maximum": 14}}),
                _object({"tool": {"enum": ["stop", "wait"]}}),
            ]
        },
        [
            {"tool": "search", "query": "grammar constrained decoding"},
            {"tool": "weather", "city": "Århus", "days": 3},
            {"tool": "wait"},
        ],
    ),
    "open object": (
        {
            "type": "object",
            "properties": {"id": STRING},
            "additionalProperties": {"type": "number"},
        },
        [{"id": "x-17", "width": 2.5, "height": 1e3, "depth of the shelf": -4}],
    ),
    "list": (NODE, [{"value": 1, "next": {"value": 22, "next": {"value": 333, "next": None}}}]),
    "any JSON": ({}, [{"a": [1, 2.5, {"b": None}], "c": 'text with "quotes" and\nlines'}]),
}


@dataclass(slots=True)
class Times:
    compile_ms: list[float] = field(default_factory=list[float])
    mask_us: list[float] = field(default_factory=list[float])


def measure(
    engine: Engine, schema: dict[str, Any], texts: list[list[int]], times: Times, again: Times
) -> None:
    """Compile one schema and read all its texts, then read them all again."""
    started = perf_counter()
    compiled = engine.compile(schema)
    engine.start(compiled).fill()
    times.compile_ms.append((perf_counter() - started) * 1e3)
    for tokens, found in [*((text, times) for text in texts), *((text, again) for text in texts)]:
        walk = engine.start(compiled)
        for token in tokens:
            started = perf_counter()
            walk.fill()
            accepted = allows(engine.mask, token) and walk.accept(token)
            found.mask_us.append((perf_counter() - started) * 1e6)
            if not accepted:
                raise ValueError(f"token {token} of a text that matches is refused")
        if not walk.accepting():
            raise ValueError("a text that matches is not complete at its end")


def rounds(cases: Sequence[str], count: int) -> Iterator[tuple[str, str, str, Times]]:
    """The times of every case and engine in `count` rounds: (case, engine, when, times), where
    `when` is first, later or again."""
    vocabulary = tekken()
    encoding = tekken_encoding()
    engines = {name: make(vocabulary) for name, make in COMPARED.items()}
    for engine in engines.values():
        measure(engine, {"const": 1}, [], Times(), Times())
    found: dict[tuple[str, str, str], Times] = defaultdict(Times)
    for at in range(count):
        for case in cases:
            schema, values = CASES[case]
            spelled = [json.dumps(value, ensure_ascii=False) for value in values]
            texts = [encoding.encode(text) for text in spelled]
            for name, engine in engines.items():
                times = found[case, name, "later" if at else "first"]
                measure(engine, schema, texts, times, found[case, name, "again"])
    for key, times in found.items():
        yield (*key, times)


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
    measured = rounds(options.cases, options.rounds)
    report = Report("masks", ("numpy", "llguidance"), vocabulary="tekken", load=options.load)
    for case, engine, when, times in sorted(measured, key=itemgetter(0, 2, 1)):
        first = statistics.median(times.compile_ms) if times.compile_ms else None
        report.add(
            case, engine=engine, round=when, first_mask_ms=first, **figures(times.mask_us, "us")
        )
    report.finish(save=options.save)


if __name__ == "__main__":
    main()
