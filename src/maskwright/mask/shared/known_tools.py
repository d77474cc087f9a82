"""A cache of the compiled arguments of tools, because many requests come with equal tools."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from threading import Lock
from typing import Any, Final

from maskwright.grammar.rules.tree import Expression
from maskwright.grammar.schema.document import is_json
from maskwright.grammar.schema.tree import Json, ReportEntry
from maskwright.immutable import Immutable

ROOM: Final = 1 << 21
"""Most characters of all schemas as JSON. A parsed schema takes some 15 bytes for each."""


class Arguments(Immutable):
    """The expression of a tool's arguments, its rules, and the report on the schema's keywords."""

    expression: Expression
    rules: Mapping[str, Expression]
    enforced: tuple[ReportEntry, ...]
    annotations: tuple[ReportEntry, ...]
    possible: bool = True
    """Whether some object satisfies the schema."""
    intricate: bool = False
    """Whether the schema has keywords that may exceed a limit even in small numbers."""


class _Known(Immutable):
    schema: Json
    arguments: Arguments
    size: int


class KnownTools:
    """The cache of one vocabulary. The least recently used entries are dropped first."""

    def __init__(self, room: int = ROOM) -> None:
        self._left = room
        self._known: OrderedDict[tuple[str, Hashable], _Known] = OrderedDict()
        self._lock = Lock()

    def get(
        self, schema: dict[str, Any] | bool, options: Hashable, compute: Callable[[], Arguments]
    ) -> Arguments:
        """Return the result of `compute` for an equal schema and equal options, or compute it."""
        try:
            text = json.dumps(schema, ensure_ascii=False)
        except (TypeError, ValueError, RecursionError):
            return compute()  # not JSON, for which this raises an error
        if not is_json(schema):
            return compute()  # though its text is that of others
        key = (text, options)
        with self._lock:
            known = self._known.get(key)
            if known is not None and known.schema == schema:  # differs if names are no strings
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
