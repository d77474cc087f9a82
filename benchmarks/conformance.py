"""The official JSON Schema test suite: which tests of each draft get the right answer?

    python benchmarks/conformance.py                    a row for each draft
    python benchmarks/conformance.py --draft draft7 --files --list
    python benchmarks/conformance.py --order schema
    python benchmarks/conformance.py --update           write tests/conformance/counts.json

Each test is an instance that is valid under a schema or not. The schema is compiled once, with
flexible whitespace and with properties in any order (with `--order schema` an instance counts as
accepted if some order of its members is accepted). The matcher reads the instance's JSON byte by
byte, once with non-ASCII characters and once with escapes in their place. The answer is right if
both spellings get the suite's answer. Documents that the suite refers to are registered in advance.

refused   the schema isn't compiled; refusing it as unsatisfiable is right if no instance is valid
invalid accepted, valid refused   the wrong answer
failed    an error that is no refusal, or more than ten seconds of processor time

Required tests, optional tests and tests of formats are counted separately.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import signal
import sys
from collections import Counter
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice, permutations, product
from pathlib import Path
from typing import Any, Final, Literal, get_args

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.report import Report, need
from maskwright import Grammar, Vocabulary, compile_json_schema
from maskwright.errors import InputError, UnsatisfiableSchemaError
from maskwright.grammar.schema.options import DraftName, PropertyOrder

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
    """The answer to one test, and the reason if it isn't right."""

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
    report = Report("conformance", load_at_start=round(load, 1))
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
    return [Group(**(line | {"tests": tuple(line["tests"])})) for line in lines]


def judge(group: Group, documents: dict[str, Any], order: PropertyOrder = "any") -> list[Verdict]:
    """The verdict on every test of a schema."""
    try:
        with limited(LIMIT_S):
            grammar = compiled(group, documents, order)
    except Exception as error:
        return [refusal(group, test, error) for test in group.tests]
    return [walked(group, test, grammar, order) for test in group.tests]


def compiled(group: Group, documents: dict[str, Any], order: PropertyOrder) -> Grammar:
    """The grammar of a schema, which is read by the rules of its draft even if it names none.

    Formats are annotations for the required tests, and enforced for the others, as the suite says.
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
    """The verdict on a test whose schema raised an error when it was compiled."""
    answer: Answer = "refused" if isinstance(error, InputError) else "failed"
    if isinstance(error, UnsatisfiableSchemaError):
        satisfiable = any(other["valid"] for other in group.tests)
        answer = "valid refused" if test["valid"] else "refused" if satisfiable else "right"
    return Verdict(group, test["description"], answer, f"{type(error).__name__}: {error}")


def walked(group: Group, test: dict[str, Any], grammar: Grammar, order: PropertyOrder) -> Verdict:
    """The verdict on an instance in both of its spellings."""
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
    """Whether a grammar over single bytes accepts this text; the id of each token is its byte."""
    matcher = grammar.matcher()
    return all(matcher.accept(byte) for byte in text) and matcher.accepting


@contextmanager
def limited(seconds: float) -> Generator[None]:
    """Raise `TimeoutError` in the block after so many seconds of processor time. Only the main
    thread can use it."""

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
    """Numbers of answers by draft and part, or by draft and file with `files`."""
    counts: dict[str, Counter[Answer]] = {}
    for verdict in verdicts:
        group = verdict.group
        name = f"{group.draft} {group.file if files else group.part}"
        counts.setdefault(name, Counter())[verdict.answer] += 1
    return {name: {answer: counts[name][answer] for answer in ANSWERS} for name in sorted(counts)}


def write_counts(verdicts: Iterable[Verdict], path: Path) -> None:
    """Write a line for each file of the suite, with the answers that occur."""
    counts = by_part(verdicts, files=True)
    lines = [
        f"{json.dumps(name)}: {json.dumps({answer: n for answer, n in row.items() if n})}"
        for name, row in counts.items()
    ]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
