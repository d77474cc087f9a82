"""Arguments of tools that have been compiled before: the same tools come with many requests."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from threading import Lock
from typing import Any, Final, NamedTuple

from maskwright.grammar.rules.tree import Expression
from maskwright.grammar.schema.tree import Json, ReportEntry

ROOM: Final = 1 << 21
"""Characters of the schemas that are kept, as JSON; parsed they take some 15 bytes for each."""


class Arguments(NamedTuple):
    """What stands for a tool's arguments, the rules in it, and what was done with its keywords."""

    expression: Expression
    rules: Mapping[str, Expression]
    enforced: tuple[ReportEntry, ...]
    annotations: tuple[ReportEntry, ...]


class _Known(NamedTuple):
    schema: Json
    arguments: Arguments
    size: int


class KnownTools:
    """Of one vocabulary. Those that were asked for longest ago are forgotten first."""

    def __init__(self, room: int = ROOM) -> None:
        self._left = room
        self._known: OrderedDict[tuple[str, Hashable], _Known] = OrderedDict()
        self._lock = Lock()

    def get(
        self, schema: dict[str, Any] | bool, options: Hashable, compute: Callable[[], Arguments]
    ) -> Arguments:
        """What `compute` gave for an equal schema and equal options, or gives now."""
        try:
            text = json.dumps(schema, ensure_ascii=False)
        except (TypeError, ValueError, RecursionError):
            return compute()  # no JSON: that is told there
        key = (text, options)
        with self._lock:
            known = self._known.get(key)
            if known is not None and known.schema == schema:  # keys that are no strings differ
                self._known.move_to_end(key)
                return known.arguments
        arguments = compute()
        with self._lock:
            self._keep(key, _Known(json.loads(text), arguments, len(text)))
        return arguments

    def _keep(self, key: tuple[str, Hashable], known: _Known) -> None:
        before = self._known.pop(key, None)
        self._left += before.size if before else 0
        self._known[key] = known
        self._left -= known.size
        while self._left < 0:
            _, oldest = self._known.popitem(last=False)
            self._left += oldest.size
