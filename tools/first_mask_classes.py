"""List the classes, modules and functions of maskwright that take part in one first mask.

    python tools/first_mask_classes.py [--list]

A schema with three properties is compiled, and its first mask computed, while a profile hook
(`sys.setprofile`) notes each Python function of the package that is called:

- classes: those with a method, property or generated initialiser that runs, where it is defined; a
  tuple or data class that is only made and read is a record, and is counted apart;
- records: named tuples and data classes of the package that are made, but whose methods never run
  (values that msgspec makes run no Python function, and are not seen);
- modules and functions: those that run, compiled code and imports left out.

The vocabulary is laid out before, once in a process. What
compiling the schema takes is printed beside it, for comparison; it comes before the mask.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import FrameType
from typing import Any, Final

import numpy as np

import maskwright
from maskwright import Grammar, Vocabulary, compile_json_schema

PACKAGE: Final = str(Path(maskwright.__file__).parent) + os.sep
SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "age": {"type": "integer"},
        "active": {"type": "boolean"},
    },
    "required": ["name", "age", "active"],
    "additionalProperties": False,
}
TOKENS: Final = (b'{"', b'":', b'","', b'"}', b"true", b"false", b"name", b"age", b"active", b"12")


@dataclass
class Touched:
    """What ran while something was done, each by module and name; a function as `module:name`."""

    classes: set[str] = field(default_factory=set[str])
    records: set[str] = field(default_factory=set[str])
    modules: set[str] = field(default_factory=set[str])
    functions: set[str] = field(default_factory=set[str])

    def __and__(self, other: Touched) -> Touched:
        """What ran both times."""
        kinds = ((getattr(self, each.name), getattr(other, each.name)) for each in fields(self))
        return Touched(*(one & two for one, two in kinds))

    def note(self, frame: FrameType, event: str, _: Any) -> None:
        """The profile hook."""
        if event != "call":
            return
        code = frame.f_code
        if code.co_filename == "<string>":  # generated: the initialiser of a record
            self._note_record(frame)
            return
        if not code.co_filename.startswith(PACKAGE) or code.co_name == "<module>":
            return
        module = code.co_filename.removeprefix(PACKAGE).removesuffix(".py").replace(os.sep, ".")
        self.modules.add(module)
        self.functions.add(f"{module}:{code.co_qualname}")
        outer, _, _ = code.co_qualname.partition(".<locals>")
        owner, _, _ = outer.rpartition(".")
        if owner:
            self.classes.add(f"{module}.{owner}")

    def _note_record(self, frame: FrameType) -> None:
        here = frame.f_locals
        made = here.get("_cls") or type(here.get("self"))
        if isinstance(made, type) and made.__module__.startswith("maskwright."):
            module = made.__module__.removeprefix("maskwright.")
            self.records.add(f"{module}.{made.__qualname__}")


def touched(action: Callable[[], object]) -> Touched:
    """What takes part in an action."""
    found = Touched()
    sys.setprofile(found.note)
    try:
        action()
    finally:
        sys.setprofile(None)
    found.records -= found.classes
    return found


def vocabulary() -> Vocabulary:
    """All bytes, some longer tokens, and an end token."""
    single = tuple(bytes([byte]) for byte in range(256))
    return Vocabulary((*single, *TOKENS, b""), eos=256 + len(TOKENS))


def first_mask() -> tuple[Touched, Touched]:
    """What takes part in compiling the schema, and in its first mask."""
    grammars: list[Grammar] = []
    vocab = vocabulary()
    out = np.zeros(vocab.words, np.int32)
    unrelated = {"type": "object", "properties": {"other": {"type": "null"}}}
    compile_json_schema(unrelated, vocabulary()).matcher().fill_mask(out)

    def compiled() -> None:
        grammars.append(compile_json_schema(SCHEMA, vocab))

    compiling = touched(compiled)
    matcher = grammars[0].matcher()
    return compiling, touched(lambda: matcher.fill_mask(out))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--list", action="store_true", help="print the functions too")
    options = parser.parse_args()
    for title, found in zip(("compiling", "first mask"), first_mask(), strict=True):
        kinds = ["classes", "records", "modules", "functions"]
        sizes = ", ".join(f"{len(getattr(found, kind))} {kind}" for kind in kinds)
        print(f"{title}: {sizes}")
        if title == "compiling":
            continue
        for kind in kinds if options.list else kinds[:3]:
            print(f"\n{kind}")
            for name in sorted(getattr(found, kind)):
                print(f"  {name}")


if __name__ == "__main__":
    main()
