"""The demo model on held-out extraction: how many outputs are valid and how many values exact, with
the schema enforced and without.

    python benchmarks/demo_model.py [--model DIR] [--count 500] [--save]

A value is exact if the output has an equal value of the same type at its place. In an output that
is no JSON every value counts as wrong. The templates and vocabularies of the examples are not those
of the training (examples/demo_model/corpus.py). Decoding is greedy.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jsonschema

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.report import Report
from examples.demo_model.corpus import Example, extraction
from maskwright import compile_json_schema
from maskwright.engine import Engine, EngineConfig, Request
from maskwright.models import DEMO_PATH, LoadedModel, load
from maskwright.sampling import SamplingParams

SEED = 2_000_003
MAX_TOKENS = 700


@dataclass(slots=True)
class Score:
    """Counts over the examples of one kind."""

    examples: int = 0
    valid: int = 0
    values: int = 0
    exact: int = 0
    whole: int = 0
    by_type: dict[str, list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0]))

    def add(self, example: Example, text: str) -> None:
        """Count one output."""
        assert example.schema is not None
        try:
            found = json.loads(text)
            valid = jsonschema.Draft202012Validator(example.schema).is_valid(found)
        except json.JSONDecodeError:
            found, valid = None, False
        expected, got = dict(leaves(example.value)), dict(leaves(found))
        right = 0
        for place, value in expected.items():
            same = place in got and _same(got[place], value)
            right += same
            kind = self.by_type[type(value).__name__]
            kind[0] += 1
            kind[1] += same
        self.examples += 1
        self.valid += valid
        self.values += len(expected)
        self.exact += right
        self.whole += valid and found == example.value

    def row(self) -> dict[str, float | int]:
        """The shares, in percent."""
        return {
            "examples": self.examples,
            "valid_%": round(100 * self.valid / self.examples, 1),
            "values": self.values,
            "exact_values_%": round(100 * self.exact / self.values, 1),
            "exact_objects_%": round(100 * self.whole / self.examples, 1),
        }


def leaves(value: Any, place: tuple[str | int, ...] = ()) -> Iterator[tuple[Any, Any]]:
    """Every scalar of a JSON value with its place."""
    match value:
        case dict():
            for key, inner in value.items():
                yield from leaves(inner, (*place, key))
        case list():
            for index, inner in enumerate(value):
                yield from leaves(inner, (*place, index))
        case _:
            yield place, value


def _same(found: Any, expected: Any) -> bool:
    """Whether two values are equal; 1 equals 1.0, but a boolean never equals a number."""
    return found == expected and isinstance(found, bool) == isinstance(expected, bool)


def outputs(
    engine: Engine, loaded: LoadedModel, examples: list[Example], *, constrained: bool
) -> list[str]:
    """The greedy output for every example, all of them queued at once."""
    generations = []
    for example in examples:
        schema = json.dumps(example.schema, separators=(",", ":"), ensure_ascii=False)
        prompt = loaded.render_chat(list(example.messages), response_schema=schema)
        grammar = compile_json_schema(example.schema, loaded.vocab) if constrained else None
        limit = min(MAX_TOKENS, loaded.decoder.max_positions - len(prompt))
        params = SamplingParams(temperature=0.0)
        generations.append(engine.submit(Request(prompt, params, limit, grammar=grammar)))
    return [generation.result().text for generation in generations]


def main() -> None:
    """Evaluate the model and print the scores."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=DEMO_PATH)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--save", action="store_true")
    options = parser.parse_args()
    examples = [extraction(SEED, index) for index in range(options.count)]
    loaded = load(options.model)
    report = Report("demo_model", ("torch", "transformers"), model=loaded.name)
    with Engine(loaded, EngineConfig(max_waiting=len(examples) + 1, max_running=32)) as engine:
        for constrained in (True, False):
            start = time.perf_counter()
            texts = outputs(engine, loaded, examples, constrained=constrained)
            seconds = time.perf_counter() - start
            scores: dict[str, Score] = defaultdict(Score)
            for example, text in zip(examples, texts, strict=True):
                scores["all"].add(example, text)
                scores[example.task].add(example, text)
            for task, score in sorted(scores.items()):
                report.add(task, constraint="schema" if constrained else "none", **score.row())
            for kind, (count, exact) in sorted(scores["all"].by_type.items()):
                share = round(100 * exact / count, 1)
                constraint = "schema" if constrained else "none"
                report.add(
                    f"{kind} values",
                    constraint=constraint,
                    values=count,
                    **{"exact_values_%": share},
                )
            print(f"{len(examples)} examples in {seconds:.0f} s")
    report.finish(save=options.save)


if __name__ == "__main__":
    main()
