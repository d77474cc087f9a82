"""The official JSON Schema test suite: which tests of each draft get the right answer?

    python benchmarks/conformance.py                    table of drafts
    python benchmarks/conformance.py --draft draft7 --files --list
    python benchmarks/conformance.py --order schema
    python benchmarks/conformance.py --update           write tests/conformance/counts.json

Each test is an instance that a schema accepts or not. The schema is compiled once, with properties
in any order (or with `--order schema`, where a value is accepted if some order of its members is)
and flexible whitespace, and the instance's JSON is given to it byte by byte, both with
non-ASCII characters as they are and as escapes; a test is right if both get the suite's answer.
Documents that the suite refers to are registered in advance.

refused  the schema isn't compiled; but to refuse as unsatisfiable is right if no test is valid
invalid accepted, valid refused  the wrong answer
failed  an error that is no refusal, or more than ten seconds of processor time

Required tests, optional ones and those of formats are counted apart.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import signal
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice, permutations, product
from pathlib import Path
from typing import Any, Final, Literal, get_args

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.report import Report, need
from maskwright import Grammar, Vocabulary, compile_json_schema
from maskwright.automaton.value.progress import PropertyOrder
from maskwright.errors import InputError, UnsatisfiableSchemaError
from maskwright.mask.compile.json_schema import DraftName

DATA: Final = ROOT.parent / "shared" / "data"
SUITE: Final = "json-schema-test-suite.jsonl.gz"
REMOTES: Final = "json-schema-test-suite-remotes.json"
COUNTS: Final = ROOT / "tests" / "conformance" / "counts.json"
BYTES: Final = Vocabulary([bytes([byte]) for byte in range(256)])
LIMIT_S: Final = 10.0
MOST_ORDERS: Final = 1_000
"""Orders of the members of one instance that are tried."""
DRAFTS: Final[dict[str, DraftName]] = {f"draft{name}": name for name in get_args(DraftName)}

Answer = Literal["right", "refused", "invalid accepted", "valid refused", "failed"]
ANSWERS: Final[tuple[Answer, ...]] = (
    "right",
    "refused",
    "invalid accepted",
    "valid refused",
    "failed",
)


@dataclass(frozen=True, slots=True)
class Group:
    """A schema of the suite with its tests."""

    draft: str
    file: str
    description: str
    schema: Any
    tests: tuple[dict[str, Any], ...]

    @property
    def part(self) -> str:
        """Required, optional, or formats."""
        folder, _, rest = self.file.partition("/")
        return "required" if not rest else "formats" if rest.startswith("format/") else folder


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one test, and why."""

    group: Group
    test: str
    answer: Answer
    reason: str = ""


def main() -> None:
    options = parse_options()
    groups = [
        group
        for group in read_suite(need(DATA / SUITE))
        if (not options.draft or group.draft == options.draft) and options.file in group.file
    ]
    load = os.getloadavg()[0]
    documents = json.loads(need(DATA / REMOTES).read_text(encoding="utf-8"))
    verdicts = [verdict for group in groups for verdict in judge(group, documents, options.order)]
    if options.list:
        for verdict in verdicts:
            if verdict.answer != "right":
                print(shown(verdict))
    report = Report("conformance", ("numba",), load_at_start=round(load, 1))
    for name, counts in by_part(verdicts, files=options.files).items():
        total = sum(counts.values())
        percent = round(100 * counts["right"] / total, 1)
        report.add(name, tests=total, **counts, **{"right_%": percent})
    report.finish(save=options.save)
    if options.update:
        if options.draft or options.file or options.order != "any":
            raise SystemExit("--update counts the whole suite: leave other options out")
        write_counts(verdicts, COUNTS)


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--draft", choices=DRAFTS)
    parser.add_argument("--file", default="", help="only files whose name contains this")
    parser.add_argument("--order", choices=get_args(PropertyOrder), default="any")
    parser.add_argument("--files", action="store_true", help="a row for every file")
    parser.add_argument("--list", action="store_true", help="print each test that isn't right")
    parser.add_argument("--update", action="store_true", help="write the counts that CI compares")
    parser.add_argument("--save", action="store_true", help="append the rows to results/")
    return parser.parse_args()


def read_suite(path: Path) -> list[Group]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    return [Group(**{**line, "tests": tuple(line["tests"])}) for line in lines]


def judge(group: Group, documents: dict[str, Any], order: PropertyOrder = "any") -> list[Verdict]:
    """A verdict for every test of a schema."""
    try:
        with limited(LIMIT_S):
            grammar = compiled(group, documents, order)
    except Exception as error:
        return [refusal(group, test, error) for test in group.tests]
    return [walked(group, test, grammar, order) for test in group.tests]


def compiled(group: Group, documents: dict[str, Any], order: PropertyOrder) -> Grammar:
    """The grammar of a schema, read as one of its draft even where it doesn't say so.

    Its required tests take formats as annotations, the optional ones want them enforced.
    """
    return compile_json_schema(
        group.schema,
        BYTES,
        property_order=order,
        whitespace="flexible",
        draft=DRAFTS[group.draft],
        documents=documents,
        formats="annotate" if group.part == "required" else "enforce",
    )


def refusal(group: Group, test: dict[str, Any], error: Exception) -> Verdict:
    """What it means for a test that its schema raised an error."""
    answer: Answer = "refused" if isinstance(error, InputError) else "failed"
    if isinstance(error, UnsatisfiableSchemaError):
        satisfiable = any(other["valid"] for other in group.tests)
        answer = "valid refused" if test["valid"] else "refused" if satisfiable else "right"
    return Verdict(group, test["description"], answer, f"{type(error).__name__}: {error}")


def walked(group: Group, test: dict[str, Any], grammar: Grammar, order: PropertyOrder) -> Verdict:
    """The answer to an instance, in both of its spellings."""
    wrong: Answer = "valid refused" if test["valid"] else "invalid accepted"
    data = [test["data"]]
    if order == "schema":
        data = list(islice(reordered(test["data"]), MOST_ORDERS))
    for ascii in (False, True):
        texts = [json.dumps(each, ensure_ascii=ascii) for each in data]
        try:
            with limited(LIMIT_S):
                accepted = any(accepts(grammar, text.encode()) for text in texts)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            return Verdict(group, test["description"], "failed", reason)
        if accepted != test["valid"]:
            return Verdict(group, test["description"], wrong, texts[0])
    return Verdict(group, test["description"], "right")


def reordered(value: Any) -> Iterator[Any]:
    """The value with the members of its objects in every order."""
    if isinstance(value, list):
        for items in product(*(list(reordered(each)) for each in value)):
            yield list(items)
    elif isinstance(value, dict):
        for names in permutations(value):
            for inner in product(*(list(reordered(value[name])) for name in names)):
                yield dict(zip(names, inner, strict=True))
    else:
        yield value


def accepts(grammar: Grammar, text: bytes) -> bool:
    """Whether a grammar over bytes has this text; the ids of tokens are the bytes."""
    matcher = grammar.matcher()
    return all(matcher.accept(byte) for byte in text) and matcher.accepting


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise `TimeoutError` inside when it takes more processor time; in the main thread only."""

    def stop(number: int, frame: object) -> None:
        raise TimeoutError(f"more than {seconds:g} s")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def shown(verdict: Verdict) -> str:
    group = verdict.group
    schema = json.dumps(group.schema, ensure_ascii=False)
    return (
        f"{group.draft} {group.file}: {group.description}: {verdict.test}\n"
        f"  {verdict.answer}: {verdict.reason}\n  {schema[:400]}"
    )


def by_part(verdicts: Iterable[Verdict], *, files: bool) -> dict[str, dict[Answer, int]]:
    """Counts by draft and part, with `files` by file instead."""
    counts: dict[str, Counter[Answer]] = {}
    for verdict in verdicts:
        group = verdict.group
        name = f"{group.draft} {group.file if files else group.part}"
        counts.setdefault(name, Counter())[verdict.answer] += 1
    return {name: {answer: counts[name][answer] for answer in ANSWERS} for name in sorted(counts)}


def write_counts(verdicts: Iterable[Verdict], path: Path) -> None:
    """A line a file: the answers that aren't nought."""
    counts = by_part(verdicts, files=True)
    lines = [
        f"{json.dumps(name)}: {json.dumps({answer: n for answer, n in row.items() if n})}"
        for name, row in counts.items()
    ]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
