"""The public names of a package: they stand once, in its `__init__.pyi`, and are imported when they
are first asked for."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Final

_NAME: Final = re.compile(r"^from ([\w.]+) import (\w+) as \2$", re.MULTILINE)
_ALL: Final = re.compile(r"^from maskwright\.([\w.]+) import \*", re.MULTILINE)


def public_names(package: str) -> dict[str, str]:
    """The module in which each public name of a package stands, by name, sorted. `package`: the
    path of its `__init__.py`. The file beside it, which checkers of types read, has a line for each
    name, and may take all names of another package."""
    stub = Path(package).with_suffix(".pyi").read_text(encoding="utf-8")
    found = {name: module for module, name in _NAME.findall(stub)}
    for inner in _ALL.findall(stub):
        found |= public_names(str(Path(__file__).parent.joinpath(*inner.split("."), "__init__.py")))
    return dict(sorted(found.items()))


def importer(package: str, names: dict[str, str], known: dict[str, Any]) -> Callable[[str], Any]:
    """The `__getattr__` of a package, which puts what it imports into `known`, its globals."""

    def find(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = known[name] = getattr(import_module(names[name]), name)
        return value

    return find
