"""The keys under which costs are remembered: what of a text decides how it is completed.

Mostly that is the configuration alone, and less than all of it: names that an object's schema
doesn't list, once they have been read, make no difference if the object can be completed without
further ones. So texts that differ in these names alone share what was found for one of them.

Where items must differ, or further names have to be found while a name is being read, the text
decides too, and its digest is part of the key.
"""

from __future__ import annotations

import json
from enum import Enum
from hashlib import blake2b
from typing import Final

from maskwright.automaton.leaf.keys import Begun, LiteralState, Skipped, Spaced, Text
from maskwright.automaton.machine.exits import Configuration
from maskwright.automaton.value.last_value import closing_quote
from maskwright.automaton.value.level import Level, LevelPhase
from maskwright.grammar.regular.terms import EMPTY, Regular, Tagged, Words
from maskwright.mask.recognizer import Recognizer
from maskwright.mask.shared.budget_cache import Place

_NAMING: Final = (LevelPhase.FIRST, LevelPhase.NAME)


class _NextName(Enum):
    """The next name in a completion."""

    LISTED = "one that the schema lists, or none"
    OWN = "the one that is being read, as far as it goes; it may be empty"
    OTHER = "another one"


class Places:
    """The places of one machine's configurations. Not thread-safe: the lock of the vocabulary's
    tables guards it."""

    def __init__(self, recognizer: Recognizer) -> None:
        self._recognizer = recognizer
        self._machine = recognizer.machine
        self._has_every_byte = recognizer.tables.parts.has_every_byte
        self._contexts = recognizer.machine.contexts
        self._known: dict[Configuration, Configuration] = {}
        self._plain: dict[int, int] = {-1: -1}
        """By node: the node without names that make no difference, as far as it is a frame."""
        self._remembering: dict[int, bool] = {-1: False}
        """By node: whether items are remembered on a level."""

    def of(self, here: Configuration, prefix: bytes) -> Place:
        """The place of a configuration after the text `prefix`."""
        if self.depends_on_text(here) or self.repeats_name(here, prefix):
            return here, blake2b(prefix, digest_size=16).digest()
        return self.plain(here)

    def depends_on_text(self, here: Configuration) -> bool:
        """Whether the text makes a difference to how it is completed from `here`: an item of an
        array around must differ from others, or a name is being read that is not the last one
        which the object needs."""
        if self._remembers_items(here.node):
            return True
        name = self._name(here.leaf)
        if name is None or all(other is EMPTY for other in name.parts[1:]):
            return False
        level = self._level(here.node)
        return level is not None and level.phase in _NAMING and not level.needs_no_names(1)

    def repeats_name(self, here: Configuration, prefix: bytes) -> bool:
        """Whether the completion of a configuration, as if all names were new that contexts don't
        remember, repeats a name of the text `prefix`."""
        if not self.may_repeat_names(here):
            return False
        with self._recognizer:
            completion = self._recognizer.shared.completion
            return completion.repeats_name(self.plain(here), prefix)

    def depends_on_names(self, here: Configuration) -> bool:
        """Whether other names that have been read may make a difference to the completion of a
        configuration: names that contexts remember, or names that the text has."""
        return self.plain(here) != here or self.may_repeat_names(here)

    def may_repeat_names(self, here: Configuration) -> bool:
        """Whether names have been read on the innermost level that only the text has."""
        level = None if here.node < 0 else self._level(here.node)
        return level is not None and level.has_unremembered_names

    def plain(self, here: Configuration) -> Configuration:
        """The configuration without the names that make no difference. Where the vocabulary lacks
        bytes they do: completions are then spelled by detours, which may use any name."""
        if not self._has_every_byte:
            return here
        known = self._known.get(here)
        if known is None:
            known = self._known[here] = self._find_plain(here)
        return known

    def _find_plain(self, here: Configuration) -> Configuration:
        leaf, node = here.leaf, here.node
        if self._remembers_items(node):
            return here  # names are part of items that must differ
        arrays = self._machine.arrays
        context = int(arrays.node_context[node])
        parent = self._plain_node(int(arrays.node_parent[node]))
        below = Configuration(leaf, self._node(context, parent, node))
        plain = self._contexts.without_names(context)
        if plain == context:
            return below
        other = self._contexts.leaf_without_names(context, leaf)
        if other is None:
            return below
        found = Configuration(other, self._node(plain, parent, node))
        level, begun = self._level(node), self._begun(leaf)
        assert level is not None
        match self._next_name(level, found):
            case _NextName.LISTED:
                return found
            case _NextName.OWN if self._is_beyond(leaf) or (begun or "") not in level.names_read:
                return found
            case _:
                return below

    def _next_name(self, level: Level, here: Configuration) -> _NextName:
        """The next name on a level in the shortest completion of a configuration on it, which has
        no names that aren't listed."""
        key, begun = self._machine.leaves.keys[here.leaf], self._begun(here.leaf)
        if level.phase is LevelPhase.NEXT and not isinstance(key, Spaced | LiteralState):
            return _NextName.LISTED  # there is no comma yet: only names that are required follow
        if self._is_beyond(here.leaf):
            return _NextName.OWN
        text = self._recognizer.shared.completion.as_if_new(here, b"")
        assert text is not None
        rest = text.lstrip() if begun is None else b'"' + text  # no UTF-8 with special tokens
        if not rest.startswith(b'"'):
            return _NextName.LISTED  # the object ends
        added = json.loads(rest[: closing_quote(rest)].decode())
        if (begun or "") + added in level.names_listed:
            return _NextName.LISTED
        return _NextName.OTHER if added else _NextName.OWN

    def _is_beyond(self, leaf: int) -> bool:
        """Whether a name is being read that is none of those that its term distinguishes."""
        name = self._name(leaf)
        return name is not None and name.parts[0] is EMPTY

    def _begun(self, leaf: int) -> str | None:
        """What has been read of a name that may still become a listed one."""
        key, name = self._machine.leaves.keys[leaf], self._name(leaf)
        if name is None or not isinstance(key, Text):
            return None
        words = name.parts[0]
        return words.table.strings[words.low][: words.depth] if isinstance(words, Words) else None

    def has_names(self, here: Configuration) -> bool:
        """Whether names have been read on the innermost level that its schema doesn't list."""
        level = self._level(here.node)
        return level is not None and bool(level.names_read)

    def shares_costs(self, here: Configuration, target: Configuration) -> bool:
        """Whether every token that leads from `here` to `target` leaves as much to be read, by
        whatever names and items it has ended on the way: it is enough to look at one of them."""
        if not self._has_every_byte:
            return False
        if self.depends_on_text(here) or self.depends_on_text(target):
            return False
        if not self._is_settled(target.node, here.node):
            return False
        # After a comma a name may come that the token has just used up.
        return here.node == target.node or not self.needs_new_name(target)

    def needs_new_name(self, here: Configuration) -> bool:
        """Whether the completion of a configuration begins with a name, or the rest of one, that
        the schema of its object doesn't list: it has to differ from the names that have been
        read."""
        level = self._level(here.node)
        if level is None or level.bracket != "{":
            return False
        name = self._name(here.leaf)
        if name is not None and not isinstance(self._machine.leaves.keys[here.leaf], Text):
            # Within a character whose rest the completion writes: any name may come of it.
            return any(part is not EMPTY for part in name.parts[1:])
        return self._next_name(level, here) is not _NextName.LISTED

    # Nodes

    def _is_settled(self, node: int, before: int) -> bool:
        """Whether every object on a level of `node` can be completed by the names that its schema
        lists, but for the levels around the innermost one of `before`, which are as they were."""
        arrays = self._machine.arrays
        around: set[int] = set()
        while (before := int(arrays.node_parent[before])) >= 0:
            around.add(before)
        while node >= 0 and node not in around:
            level = self._level(node)
            if level is not None and not level.needs_no_names():
                return False
            node = int(arrays.node_parent[node])
        return True

    def _level(self, node: int) -> Level | None:
        return self._contexts.level(int(self._machine.arrays.node_context[node]))

    def _remembers_items(self, node: int) -> bool:
        """Whether items are remembered on a level."""
        known = self._remembering.get(node)
        if known is None:
            known = self._remembers_items(int(self._machine.arrays.node_parent[node]))
            level = self._level(node)
            known = self._remembering[node] = known or (level is not None and level.remembers_items)
        return known

    def _plain_node(self, node: int) -> int:
        known = self._plain.get(node)
        if known is None:
            arrays = self._machine.arrays
            parent = self._plain_node(int(arrays.node_parent[node]))
            context = self._contexts.without_names(int(arrays.node_context[node]))
            known = self._plain[node] = self._node(context, parent, node)
        return known

    def _node(self, context: int, parent: int, node: int) -> int:
        """The node of a context over `parent`, which `node` is if nothing has changed."""
        arrays = self._machine.arrays
        if int(arrays.node_parent[node]) == parent and int(arrays.node_context[node]) == context:
            return node
        if parent == -1:
            return self._machine.root(context)
        return self._recognizer.node(context, parent)

    # Leaves

    def _name(self, leaf: int) -> Tagged | None:
        """The names that are being read at a leaf state, None if none is."""
        match self._machine.leaves.keys[leaf]:
            case Text(term=term) | Begun(term=term):
                return _named(term)
            case Skipped(target=target):
                return self._name(target)
            case _:
                return None


def _named(term: Regular) -> Tagged | None:
    return term if isinstance(term, Tagged) and term.named else None
