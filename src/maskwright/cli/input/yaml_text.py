"""Shapes that are written in YAML: the JSON that a text stands for, and where in it values stand.

Scalars are read as YAML 1.2's core schema has them, which is that of JSON: `no` and `2024-01-01`
are strings, and so is every key.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, ClassVar, Final

import yaml

from maskwright.errors import GrammarError
from maskwright.grammar.schema.document import float_of, object_of
from maskwright.workbench.pointer import ValueSpan, pointer_of

MOST_VALUES: Final = 1_000_000
"""Values that a text in YAML may stand for, aliases written out."""

_TAG: Final = "tag:yaml.org,2002:"
_RESOLVERS: Final = (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789"),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", "-+.0123456789"),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("merge", r"<<", "<"),
)
"""The scalars that are no strings: kind, pattern, first characters."""


class _Loader(yaml.SafeLoader):
    """A loader of JSON's values alone."""

    yaml_implicit_resolvers: ClassVar[Any] = {}

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        self.flatten_mapping(node)
        pairs = [(key.value, self.construct_object(value, deep=True)) for key, value in node.value]
        return object_of(pairs)


def _number(loader: Any, node: Any) -> int | float:
    text = node.value.replace("_", "x")  # which Python's numbers may have, and these may not
    try:
        return int(text, 0)
    except ValueError:
        return int(text) if re.fullmatch(r"[-+]?[0-9]+", text) else float_of(text)


for _kind, _pattern, _first in _RESOLVERS:
    _Loader.add_implicit_resolver(  # pyright: ignore[reportUnknownMemberType]
        _TAG + _kind, re.compile(rf"^(?:{_pattern})$"), list(_first)
    )
_Loader.add_constructor(_TAG + "int", _number)
_Loader.add_constructor(_TAG + "float", _number)
_Loader.add_constructor(_TAG + "map", _Loader.construct_mapping)


def read_yaml(text: str) -> Any:
    """What a text in YAML stands for. Raises `GrammarError` with line and column of what is no
    YAML."""
    try:
        loader = _Loader(text)
        document: Any = loader.get_single_node()
        if document is None:
            return None
        _count_values(document, text, {})
        return loader.construct_document(document)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        at = 0 if mark is None else min(mark.index, len(text))
        reason = f"not valid YAML: {error.problem}"
        raise GrammarError(reason, text=text, position=at) from None
    except yaml.YAMLError as error:
        raise GrammarError(f"not valid YAML: {error}", text=text, position=0) from None
    except (ValueError, RecursionError):
        reason = "not valid YAML, or nested too deep"
        raise GrammarError(reason, text=text, position=0) from None


def _count_values(node: Any, text: str, known: dict[int, int]) -> int:
    """How many values a node stands for, itself included: aliases of aliases may stand for any
    number of them, and all would be read. Those of a node are counted once, by its identity."""
    if id(node) in known:
        return known[id(node)]
    known[id(node)] = 0  # an alias of something around it, which is refused when it is built
    below: list[Any] = []
    if isinstance(node, yaml.MappingNode):
        below = [value for _, value in node.value]
    elif isinstance(node, yaml.SequenceNode):
        below = node.value
    count = known[id(node)] = 1 + sum(_count_values(each, text, known) for each in below)
    if count > MOST_VALUES:
        raise GrammarError(
            f"with its aliases written out, this has more than {MOST_VALUES:,} values",
            text=text,
            position=node.start_mark.index,
        )
    return count


def yaml_spans(text: str) -> dict[str, ValueSpan]:
    """The places of all values of a valid text in YAML, by JSON Pointer. Of equal names the last
    counts. What an alias stands for is at the alias' anchor."""
    return dict(_spans(yaml.compose(text, _Loader), "", None, ()))


def _spans(
    node: Any, pointer: str, name_at: int | None, around: tuple[int, ...]
) -> Iterator[tuple[str, ValueSpan]]:
    yield pointer, ValueSpan(node.start_mark.index, node.end_mark.index, name_at)
    if id(node) in around:  # an alias of something around it
        return
    inside = (*around, id(node))
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            at = key.start_mark.index
            yield from _spans(value, pointer + pointer_of(str(key.value)), at, inside)
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            yield from _spans(value, f"{pointer}/{index}", None, inside)
