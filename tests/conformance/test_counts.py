"""The official JSON Schema test suite: the committed counts may only get better.

`python benchmarks/conformance.py --update` writes them anew.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from benchmarks.conformance import (
    COUNTS,
    REMOTES,
    SUITE,
    Answer,
    Group,
    Verdict,
    by_part,
    judge,
    read_suite,
)
from maskwright.grammar.schema.options import PropertyOrder

SharedData = Callable[[str], Path]
STRIDE = 3
COMMITTED: dict[str, dict[Answer, int]] = json.loads(COUNTS.read_text(encoding="utf-8"))


def sampled(groups: list[Group]) -> list[Group]:
    """All required files of the newest draft, and every third of the others."""
    names = sorted({(group.draft, group.file) for group in groups})
    others = [name for name in names if name[0] != "draft2020-12" or "/" in name[1]]
    chosen = set(names) - set(others) | set(others[::STRIDE])
    return [group for group in groups if (group.draft, group.file) in chosen]


def worse(verdicts: Iterable[Verdict]) -> list[str]:
    """The files with fewer right answers, or more wrong ones, than the committed counts."""
    found: list[str] = []
    for name, counts in by_part(verdicts, files=True).items():
        before = COMMITTED.get(name, {})
        if counts["right"] < before.get("right", 0):
            found.append(f"{name}: {counts['right']} right, they were {before.get('right', 0)}")
        found += [
            f"{name}: {counts[answer]} {answer}, they were {before.get(answer, 0)}"
            for answer in ("invalid accepted", "valid refused", "failed")
            if counts[answer] > before.get(answer, 0)
        ]
    return found


def judged(
    shared_data: SharedData,
    choose: Callable[[list[Group]], list[Group]],
    order: PropertyOrder = "any",
) -> list[Verdict]:
    documents = json.loads(shared_data(REMOTES).read_text(encoding="utf-8"))
    groups = choose(read_suite(shared_data(SUITE)))
    return [verdict for group in groups for verdict in judge(group, documents, order)]


def declaring(groups: list[Group]) -> list[Group]:
    """The schemas that declare properties, or refer to a document that may."""
    return [g for g in groups if re.search(r'"(properties|\$ref)"', json.dumps(g.schema))]


def test_no_invalid_instance_is_accepted() -> None:
    """But by optional tests, of which some contradict each other's drafts."""
    accepted = {name for name, row in COMMITTED.items() if row.get("invalid accepted")}
    assert {name for name in accepted if " optional/" not in name or "/format/" in name} == set()


def test_a_sample_is_as_good_as_its_committed_counts(shared_data: SharedData) -> None:
    assert worse(judged(shared_data, sampled)) == []


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_whole_suite_is_as_good_as_the_committed_counts(shared_data: SharedData) -> None:
    verdicts = judged(shared_data, lambda groups: groups)
    assert worse(verdicts) == []
    totals = {name: sum(row.values()) for name, row in by_part(verdicts, files=True).items()}
    assert totals == {name: sum(row.values()) for name, row in COMMITTED.items()}


def test_the_order_of_properties_changes_no_answer(shared_data: SharedData) -> None:
    answers = [judged(shared_data, declaring, order) for order in ("any", "schema")]
    assert sum(verdict.answer == "right" for verdict in answers[0]) > 1_000
    assert [
        f"{one.group.draft} {one.group.file}: {one.group.description}: {one.test}: {other.answer}"
        for one, other in zip(*answers, strict=True)
        if one.answer != other.answer
    ] == []


def test_a_worse_answer_is_found() -> None:
    group = Group("draft7", "type.json", "", True, ())
    verdict = Verdict(group, "", "invalid accepted")
    assert worse([verdict] * 1000) != []
