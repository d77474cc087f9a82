"""The keys under which costs are remembered: what of a text decides how it is completed.

Mostly that is the configuration alone, and less than all of it: names that an object's schema
doesn't list, once they have been read, make no difference if the object can be completed without
further ones. So texts that differ in these names alone share what was found for one of them.

Where items must differ, or further names have to be found while a name is being read, the text
decides too, and its digest is part of the key.
"""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import Final

from maskwright.automaton.leaf.keys import (
    Continuation,
    Escape,
    Hex,
    Limited,
    LiteralState,
    LowHex,
    LowSurrogate,
    Partial,
    Spaced,
    Text,
)
from maskwright.automaton.machine.exits import Configuration
from maskwright.automaton.value.level import Level, LevelPhase
from maskwright.grammar.regular.terms import EMPTY, Regular, Tagged, Words
from maskwright.mask.recognizer import Recognizer
from maskwright.mask.shared.budget_cache import Place

_DECODER: Final = json.JSONDecoder()
_NAMING: Final = (LevelPhase.FIRST, LevelPhase.NAME)


class Places:
    """The places of one machine's configurations. Not thread-safe: the lock of the vocabulary's
    tables guards it."""

    def __init__(self, recognizer: Recognizer) -> None:
        self._recognizer = recognizer
        self._machine = recognizer.machine
        self._has_every_byte = recognizer.tables.has_every_byte
        self._contexts = recognizer.shared.contexts
        self._known: dict[Configuration, Configuration] = {}
        self._plain: dict[int, int] = {-1: -1}
        """By node: the node without names that make no difference, as far as it is a frame."""
        self._by_text: dict[int, tuple[bool, bool]] = {-1: (False, True)}
        """By node: whether items are remembered on a level, and whether every object on one can be
        completed by the names that its schema lists."""

    def of(self, here: Configuration, prefix: bytes) -> Place:
        """The place of a configuration after the text `prefix`."""
        if self.depends_on_text(here):
            return here, blake2b(prefix, digest_size=16).digest()
        return self.plain(here)

    def depends_on_text(self, here: Configuration) -> bool:
        """Whether the text makes a difference to how it is completed from `here`: an item of an
        array around must differ from others, or a name is being read that is not the last one
        which the object needs."""
        if self._levels_below(here.node)[0]:
            return True
        name = self._name(here.leaf)
        if name is None or all(other is EMPTY for other in name.parts[1:]):
            return False
        level = self._level(here.node)
        return level is not None and level.phase in _NAMING and not level.needs_no_names(1)

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
        leaf, node = here
        if self._levels_below(node)[0]:
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
        return found if self._reads_listed_names(here, found) else below

    def _reads_listed_names(self, here: Configuration, plain: Configuration) -> bool:
        """Whether the shortest completion of `plain`, a configuration without the names read, is
        one of `here` too: its first name is a listed one, or the name that is being read ends."""
        level, key = self._level(here.node), self._machine.leaves.keys[here.leaf]
        assert level is not None
        if level.phase is LevelPhase.NEXT and not isinstance(key, Spaced | LiteralState):
            return True  # there is no comma yet: only listed names follow
        text = self._recognizer.shared.completion.find(plain, b"")
        assert text is not None
        begun, rest = "", text.decode()
        if isinstance(key, Text):
            name = self._name(here.leaf)
            if name is None or not isinstance(words := name.parts[0], Words):
                return True
            begun, rest = words.table.strings[words.low][: words.depth], '"' + rest
        elif "" in level.names_read:
            return False
        else:
            rest = rest.lstrip()
            if not rest.startswith('"'):
                return True  # the object ends
        added, _ = _DECODER.raw_decode(rest)
        return added == "" or begun + added in level.names_listed

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
        if not self._levels_below(target.node)[1]:
            return False
        level = self._level(target.node)
        # After a comma a name may come that the token has just used up.
        return here.node == target.node or level is None or level.bracket != "{"

    # Nodes

    def _level(self, node: int) -> Level | None:
        machine = self._machine
        return machine.contexts.level(int(machine.arrays.node_context[node]))

    def _levels_below(self, node: int) -> tuple[bool, bool]:
        known = self._by_text.get(node)
        if known is None:
            remembers, settled = self._levels_below(int(self._machine.arrays.node_parent[node]))
            level = self._level(node)
            if level is not None:
                remembers = remembers or level.remembers_items
                settled = settled and level.needs_no_names()
            known = self._by_text[node] = remembers, settled
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
            case Text(term=term) | Partial(term=term) | Escape(term=term) | Hex(term=term):
                return _named(term)
            case LowSurrogate(term=term) | LowHex(term=term):
                return _named(term)
            case Continuation(target=target) | Limited(target=target):
                return self._name(target)
            case _:
                return None


def _named(term: Regular) -> Tagged | None:
    return term if isinstance(term, Tagged) and term.named else None
