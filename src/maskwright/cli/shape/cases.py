"""Run test cases of shapes: texts to accept, texts to reject, and beginnings of texts.

FILES are YAML or JSON: an object with `shape` (a file beside the test file, a name that ships, or
the shape itself) and lists `accept`, `reject` and `prefix`; or a list of such objects. A list has
texts, or an object texts by name. What is no text in it, such as an object, stands for its JSON.
Further fields are `name`, `kind` and `property_order`, as the options of `check`.

With `--watch`, the cases are run again whenever one of the files changes, until Ctrl-C.

Exit code: 0 if every case is as expected; 1 if one isn't; 2 if a file or a shape can't be used.
"""

from __future__ import annotations

from collections.abc import Iterator
from os.path import isfile  # of what is too long for the name of a file, it says no
from pathlib import Path
from typing import Any, get_args

import yaml

from maskwright.cli.input.opened import open_shape
from maskwright.cli.input.texts import bytes_of
from maskwright.cli.output.appearance import coloured, shown_json
from maskwright.cli.process.watching import again_on_change
from maskwright.cli.shape.options import CasesOptions
from maskwright.errors import InputError
from maskwright.grammar.schema.options import PropertyOrder
from maskwright.workbench.cases import CaseGroup, CaseResult, junit, read_groups, run_group
from maskwright.workbench.choices import Kind


def run(options: CasesOptions) -> int:
    def work() -> int:
        return _run(options.files, options.report, options.as_json)

    if options.watch:
        again_on_change(work, lambda: _watched(options.files))
    return work()


def _run(files: list[str], report: str | None, as_json: bool) -> int:
    results: list[CaseResult] = []
    for file in files:
        for group in read_groups(_document(file), file):
            found = run_group(group, _opened(group, file).read)
            results += found
            for name, case, fault in found if not as_json else ():
                if fault:
                    head = coloured("FAILED", "red")
                    print(f"{head} {name}: {case.expected} {case.name}: {fault}", flush=True)
    if report is not None:
        Path(report).write_text(junit(results, ", ".join(files)), encoding="utf-8")
    failed = sum(bool(result.fault) for result in results)
    if as_json:
        cases = [
            {"group": group, **case._asdict(), "passed": not fault, "fault": fault}
            for group, case, fault in results
        ]
        print(shown_json({"cases": cases, "failed": failed}))
    else:
        verdict = f"{len(results) - failed} of {len(results)} cases as expected"
        print(coloured(verdict, "red" if failed else "green"), flush=True)
    return 1 if failed else 0


def _document(file: str) -> Any:
    text = bytes_of(file)
    try:
        return yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        raise InputError(f"{file}{place}: {error.problem}", param="files") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: {error}", param="files") from None


def _opened(group: CaseGroup, file: str) -> Any:
    """The shape of a group; a file is looked for beside the file of the cases."""
    for field, given, known in (
        ("kind", group.kind, get_args(Kind)),
        ("property_order", group.property_order, get_args(PropertyOrder)),
    ):
        if given not in known:
            raise InputError(f"{file}: {field} is one of {', '.join(known)}, not {given!r}")
    beside = Path(file).parent / group.shape
    is_file = isfile(beside)
    shape = str(beside) if is_file else group.shape
    return open_shape(shape, group.kind, group.property_order)  # type: ignore[arg-type]


def _watched(files: list[str]) -> Iterator[Path]:
    """The files, and the files beside them that may be shapes."""
    for file in map(Path, files):
        yield file
        yield from file.parent.iterdir()
