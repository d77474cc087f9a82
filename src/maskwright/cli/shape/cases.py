"""Run test cases of shapes: texts to accept, texts to reject, and beginnings of texts.

FILES are YAML or JSON: an object with `shape` (a file beside the test file, a name that ships, or
the shape itself) and lists `accept`, `reject` and `prefix`; or a list of such objects. A list has
texts, or an object texts by name. What is no text in it, such as an object, stands for its JSON.
Further fields are `name`, `kind` and `property_order`, as the options of `check`.

With `--watch`, the cases are run again whenever one of the files changes, until Ctrl-C.

Exit code: 0 if every case is as expected; 1 if one isn't; 2 if a file or a shape can't be used.
"""

from __future__ import annotations

from dataclasses import dataclass

from maskwright.cli.options import JSON_HELP
from maskwright.settings import argument, option


@dataclass(frozen=True, slots=True)
class CasesOptions:
    """What `maskwright test` is given."""

    files: list[str] = argument("Files with test cases, in YAML or JSON.")
    report: str | None = option(
        None, "File to which a report in JUnit's XML is written.", flag="--junit"
    )
    watch: bool = option(False, "Run the cases again whenever a file changes.", flag="--watch")
    as_json: bool = option(False, JSON_HELP, flag="--json")
