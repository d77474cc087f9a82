"""The keywords and settings by which a text isn't allowed, found by leaving each of them out.

A keyword or setting is a reason if the text is allowed further without it; those whose absence
allows the most of it are returned. Where several forbid the text at once, so that leaving out one
changes nothing, those that forbid it by themselves are returned.
"""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from maskwright.errors import InputError, LimitError
from maskwright.grammar.schema.drafts import BY_NAME, KEYWORDS
from maskwright.grammar.schema.tree import Json
from maskwright.vocab import Vocabulary
from maskwright.workbench.pointer import local_target, pointer_of, reference_tokens, value_at
from maskwright.workbench.schema.variants import Variants

MOST_VARIANTS: Final = 100
"""Schemas that are compiled in search of reasons."""
MOST_SECONDS: Final = 2.0
"""Processor time of the thread that searches after which no further one is."""
MOST_SHOWN: Final = 200
"""Characters of a keyword's value that are shown."""

RELAXED: Final[Mapping[str, str]] = {
    "property_order": "any",
    "whitespace": "flexible",
    "integers": "any",
    "numbers": "any",
    "escapes": "any",
    "additional_properties": "allow",
}
"""The options of `compile_json_schema` and `compile_tools` that make texts narrower than their
schema, with the values that don't."""

_DEFAULTS: Final = {"property_order": "schema"}
"""Their defaults, where these are others than the values above."""

_TOGETHER: Final[Mapping[str, tuple[str, ...]]] = {
    "if": ("then", "else"),
    "contains": ("minContains", "maxContains"),
}
"""Keywords that mean nothing without the one before them, and are left out with it."""
_NEEDED: Final[Mapping[str, tuple[str, ...]]] = {
    "additionalProperties": ("properties", "patternProperties"),
    "items": ("prefixItems",),
    "additionalItems": ("items",),
    "contains": ("minContains", "maxContains"),
    "minContains": ("contains",),
    "maxContains": ("contains",),
    "if": ("then", "else"),
}
"""Keywords without which one has another meaning."""


_DEPENDENT: Final = frozenset(name for names in _TOGETHER.values() for name in names)
_KEYWORDS: Final = frozenset(name for names in KEYWORDS.values() for name in names)
"""Names that assert something in some draft."""
_HOLDERS: Final = frozenset(
    {
        "$ref",
        "additionalItems",
        "additionalProperties",
        "allOf",
        "items",
        "patternProperties",
        "prefixItems",
        "properties",
    }
)
"""Keywords whose schemas apply whenever the keyword does."""


class Reason(NamedTuple):
    """One keyword (`pointer` is its own) or setting, and its value as JSON text."""

    pointer: str | None
    name: str
    value: str


class ReasonSearch:
    """Looks for the reasons why the schemas of a shape forbid a text at its byte number
    `accepted`."""

    def __init__(
        self, variants: Variants, text: bytes, accepted: int, vocabulary: Vocabulary
    ) -> None:
        self._variants = variants
        self._schema = variants.schemas()
        self._roots = variants.roots(text)
        self._options = dict(variants.options)
        self._text = text
        self._accepted = accepted
        self._vocabulary = vocabulary
        self._left = MOST_VARIANTS
        self._end = time.thread_time() + MOST_SECONDS
        self.is_complete = True
        """Whether it is known of each variant how far it allows the text: none was left out for
        want of time, and none took too long itself."""

    def find(self, pointers: tuple[str, ...]) -> list[Reason]:
        """Return the reasons: among the settings, the keywords of the schemas at `pointers` of each
        schema that the text may be about, and the keywords of the schemas around them."""
        settings = self._settings()
        places = tuple(root + pointer for root in self._roots for pointer in pointers)
        near = [*self._keywords(places)]
        around = [*self._keywords(self._around(places))]
        keywords = [*dict.fromkeys([*near, *around])]
        return self._furthest(keywords, settings) or self._alone(near) or self._alone(around)

    def _settings(self) -> dict[Reason, int]:
        """How far the text is allowed without each setting."""
        reached: dict[Reason, int] = {}
        everything = {**self._options, **RELAXED}
        if self._reach(self._schema, everything) <= self._accepted:
            return reached
        for name, relaxed in RELAXED.items():
            value = self._options.get(name, _DEFAULTS.get(name, relaxed))
            if value != relaxed:
                reason = Reason(None, name, json.dumps(value))
                reached[reason] = self._reach(self._schema, {**self._options, name: relaxed})
        if max(reached.values(), default=0) > self._accepted or not self.is_complete:
            return reached
        return dict.fromkeys(reached, self._accepted + 1)  # they forbid it together

    def _keywords(self, pointers: tuple[str, ...]) -> Iterator[tuple[str, str]]:
        """Yield the keywords (pointer of the schema, name) at pointers, and where they refer to."""
        waiting, seen = [*pointers], set[str]()
        while waiting:
            pointer = waiting.pop(0)
            here = value_at(self._schema, pointer)
            if pointer in seen or not isinstance(here, dict):
                continue
            seen.add(pointer)
            if (target := local_target(here)) is not None:
                waiting.append(self._root_of(pointer) + target)
            all_of = here.get("allOf")
            if isinstance(all_of, list):
                waiting += [f"{pointer}/allOf/{at}" for at in range(len(all_of))]
            yield from ((pointer, name) for name in here if name in _KEYWORDS - _DEPENDENT)

    def _furthest(
        self, keywords: list[tuple[str, str]], settings: dict[Reason, int]
    ) -> list[Reason]:
        """Return what allows the text furthest by being left out. A keyword that only holds other
        schemas is no reason if a keyword in these is one."""
        reached = dict(settings)
        at: dict[Reason, tuple[str, str]] = {}
        for pointer, name in keywords:
            reason = self._reason(pointer, name)
            at[reason] = (pointer, name)
            reached[reason] = self._reach_without(pointer, name)
        best = max(reached.values(), default=0)
        if best <= self._accepted:
            return []
        found = [reason for reason, reach in reached.items() if reach == best]
        exact = [one for one in found if one not in at or not self._has_children(*at[one])]
        if exact:
            return exact
        within = [place for reason in found for place in self._children(*at[reason])]
        known = {*keywords}
        deeper = [each for each in self._keywords(tuple(within)) if each not in known]
        return self._furthest(deeper, {}) or self._alone([*keywords, *deeper]) or found

    def _reach_without(self, pointer: str, name: str) -> int:
        """How far the text is allowed without a keyword."""
        options = self._options
        if name == "additionalProperties":  # which would be closed by default
            options = {**options, "additional_properties": "allow"}
        dropped = [(pointer, each) for each in (name, *_TOGETHER.get(name, ()))]
        return self._reach(self._without(dropped), options)

    def _has_children(self, pointer: str, name: str) -> bool:
        return next(self._children(pointer, name), None) is not None

    def _children(self, pointer: str, name: str) -> Iterator[str]:
        """Yield the pointers of the schemas in a keyword that apply together with the schema
        itself; of properties, those whose names are in the text."""
        if name not in _HOLDERS:
            return
        place = pointer + pointer_of(name)
        match value_at(self._schema, place):
            case str() as target if target.startswith("#"):
                yield self._root_of(pointer) + target[1:]
            case list() as schemas:
                yield from (f"{place}/{at}" for at in range(len(schemas)))
            case dict() as schemas if name in BY_NAME:
                names = [each for each in schemas if json.dumps(each).encode() in self._text]
                yield from (place + pointer_of(each) for each in names)
            case dict():
                yield place
            case _:
                pass

    def _alone(self, keywords: list[tuple[str, str]]) -> list[Reason]:
        """Return the keywords that forbid the text without the others; none if the text isn't
        allowed without all of them either, as where it is no JSON."""
        found: list[Reason] = []
        if self._reach(self._without(keywords), {**self._options, **RELAXED}) <= self._accepted:
            return found
        options = {**self._options, "additional_properties": "allow"}
        for pointer, name in keywords:
            if self._has_children(pointer, name):
                continue
            kept = {(pointer, each) for each in (name, *_NEEDED.get(name, ()))}
            others = [each for each in keywords if each not in kept and each[1] not in _HOLDERS]
            if self._reach(self._without(others), options) <= self._accepted and self.is_complete:
                found.append(self._reason(pointer, name))
        return found

    def _without(self, keywords: Iterable[tuple[str, str]]) -> Json:
        """Return the schema without some keywords (pointer of the schema, name)."""
        variant = copy.deepcopy(self._schema)
        for pointer, name in keywords:
            here = value_at(variant, pointer)
            if isinstance(here, dict):
                here.pop(name, None)
        return variant

    def _reach(self, schema: Json, options: Mapping[str, Any]) -> int:
        """Return how many bytes of the text are allowed; 0 for a schema that can't be compiled, or
        where there is no time left."""
        if self._left == 0 or time.thread_time() >= self._end:
            self.is_complete = False
            return 0
        self._left -= 1
        try:
            grammar = self._variants.compile(schema, options, self._vocabulary)
            return grammar.matcher().accept_bytes(self._text)
        except LimitError:
            self.is_complete = False
            return 0
        except InputError:
            return 0

    def _root_of(self, pointer: str) -> str:
        """Return the pointer of the schema in which a place is."""
        return next(root for root in self._roots if f"{pointer}/".startswith(f"{root}/"))

    def _around(self, pointers: tuple[str, ...]) -> tuple[str, ...]:
        """Return the pointers of all schemas around some, the innermost first."""
        found: dict[str, None] = {}
        for pointer in pointers:
            root = self._root_of(pointer)
            for inner in _prefixes(pointer.removeprefix(root)):
                found[root + inner] = None
        return tuple(sorted(found, key=lambda each: -each.count("/")))

    def _reason(self, pointer: str, name: str) -> Reason:
        here = value_at(self._schema, pointer)
        assert isinstance(here, dict)
        value = json.dumps(here[name], ensure_ascii=False)
        shown = value if len(value) <= MOST_SHOWN else f"{value[: MOST_SHOWN - 1]}…"
        return Reason(pointer + pointer_of(name), name, shown)


def _prefixes(pointer: str) -> Iterator[str]:
    """Yield the pointers of the schemas around the one at a pointer, the outermost first."""
    at, steps = 0, reference_tokens(pointer)
    while at < len(steps):
        yield pointer_of(*steps[:at])
        has_name = steps[at] in BY_NAME or (steps[at + 1 : at + 2] and steps[at + 1].isdigit())
        at += 2 if has_name else 1
