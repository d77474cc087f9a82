"""The examples of docs/integrations.md, as written there."""

from __future__ import annotations

import re

from tests.source_tree import ROOT

DOCUMENT = ROOT / "docs" / "integrations.md"


def examples() -> list[tuple[str, str, str]]:
    """Each fenced text of the document: the section that it is in, its language, and the text."""
    found: list[tuple[str, str, str]] = []
    for section in DOCUMENT.read_text().split("\n## ")[1:]:
        title = section.partition("\n")[0]
        fences = re.findall(r"^```(\w*)\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
        found += [(title, language, text) for language, text in fences]
    return found


def example(section: str, language: str) -> str:
    """The one example of a section in a language."""
    [text] = [text for *place, text in examples() if place == [section, language]]
    return text
