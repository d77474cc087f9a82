"""What `maskwright check` has found, in the formats that other programs read."""

from __future__ import annotations

import json
from collections.abc import Iterable
from importlib.metadata import version
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from maskwright.workbench.findings.finding import Severity

UNUSABLE: Final = "unusable"
"""The rule of shapes that can't be used."""
_GITHUB: Final[dict[Severity, str]] = {"error": "error", "warning": "warning", "note": "notice"}


class PlacedFinding(NamedTuple):
    """A finding with its place: the file, and line and column in it where they are known."""

    file: str | None
    severity: Severity
    rule: str
    message: str
    line: int | None
    column: int | None


def github_lines(findings: Iterable[PlacedFinding]) -> list[str]:
    """A command of GitHub's workflows for each finding, which it shows beside the line."""
    lines: list[str] = []
    for each in findings:
        properties = {"file": each.file, "line": each.line, "col": each.column, "title": each.rule}
        told = ",".join(
            f"{name}={_property(str(value))}" for name, value in properties.items() if value
        )
        lines.append(f"::{_GITHUB[each.severity]} {told}::{_data(each.message)}")
    return lines


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def sarif(findings: Iterable[PlacedFinding]) -> str:
    """The findings as a document of SARIF 2.1.0, which code scanning reads."""
    results = [_result(each) for each in findings]
    rules = sorted({str(result["ruleId"]) for result in results})
    driver = {
        "name": "maskwright",
        "version": version("maskwright"),
        "rules": [{"id": rule, "name": rule} for rule in rules],
    }
    document = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }
    return json.dumps(document, ensure_ascii=False, indent=2)


def _result(finding: PlacedFinding) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "level": finding.severity,
        "message": {"text": finding.message},
    }
    if finding.file is None:
        return result
    place: dict[str, Any] = {"artifactLocation": {"uri": quote(finding.file)}}
    if finding.line is not None:
        place["region"] = {"startLine": finding.line, "startColumn": finding.column or 1}
    return {**result, "locations": [{"physicalLocation": place}]}
