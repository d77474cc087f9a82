"""Where a rule is defined in the text of a grammar."""

from __future__ import annotations

import re


def rule_start(text: str, name: str) -> int | None:
    """The character at which the definition of a rule or terminal begins; None if the text doesn't
    show one, as for a rule that is imported."""
    pattern = rf"^[ \t]*[?!]?(<?{re.escape(name)}>?)(?![\w-])[^\n:=]*(?:::?=|:|=)"
    found = re.search(pattern, text, re.MULTILINE)
    return None if found is None else found.start(1)
