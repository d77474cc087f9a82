"""The shortest text that completes a configuration.

In the middle of a leaf, `leaf_exits` finds the ways out of it; from there on, the contexts on the
stack know what is still missing.
"""

from __future__ import annotations

import json
from collections.abc import Hashable

from maskwright.automaton.finish.leaf_exits import LeafExits
from maskwright.automaton.leaf.keys import BesideValue, ChoiceState, Entry, Opened, Text
from maskwright.automaton.machine.exits import BLOCKED, DONE, DYNAMIC, Configuration, apply_exit
from maskwright.automaton.machine.machine import Machine
from maskwright.automaton.value.last_value import closing_quote, last_value, string_start
from maskwright.automaton.value.names_read import TextNames
from maskwright.errors import TooLongError
from maskwright.limits import CHEAP, Limits, spend


class CompletionSearch:
    """Shortest completions of one machine's configurations. What depends on the configuration alone
    is computed once.

    Raises `LimitError` if the search within a leaf takes too long.
    """

    def __init__(self, machine: Machine, text_names: TextNames, limits: Limits) -> None:
        self._machine = machine
        self._contexts = machine.contexts
        self._text_names = text_names
        self._exits = LeafExits(machine, limits)
        self._tails: dict[tuple[int, Hashable], bytes | None] = {}
        """What completes a text once a leaf has been left, by node and label, where that depends on
        nothing else."""
        self._known: dict[Configuration, bytes | None] = {}
        self._last: tuple[Configuration, bytes, bytes | None] | None = None
        """The last completion found for one text alone: several questions are asked about it."""
        self._by_names: dict[Configuration, bool] = {}
        """See `depends_on_names`."""
        self._by_text = False
        """Whether the result of the present search depends on the text so far, beside names."""
        self._names = False
        """Whether the present search leaves out the names that only the text has."""

    def find(self, here: Configuration, before: bytes) -> bytes | None:
        """The bytes that complete `here`, b"" if the text is complete; None if nothing does.

        `before` is the text so far, which matters only where names or items must differ.
        """
        found = self.as_if_new(here, before)
        if found is None or not self.repeats_name(here, before):
            return found
        return self._search(here, before, names=True)

    def is_known(self, here: Configuration) -> bool:
        """Whether the completion has been found, and doesn't depend on the text so far."""
        return here in self._known and not self.depends_on_names(here, b"")

    def as_if_new(self, here: Configuration, before: bytes) -> bytes | None:
        """The completion as if the text had no names but those that contexts remember."""
        if here in self._known:
            return self._known[here]
        if self._last is not None and self._last[:2] == (here, before):
            return self._last[2]
        found = self._search(here, before, names=False)
        if self._by_text:
            self._last = here, before, found
        else:
            self._known[here] = found
        return found

    # Names that only the text has

    def depends_on_names(self, here: Configuration, before: bytes) -> bool:
        """Whether a completion of `here` must not repeat names that only the text has; `before` is
        the text so far."""
        known = self._by_names.get(here)
        if known is None:
            context = self._context(here)
            known = self._text_names.matter(context)
            level = self._contexts.level(context)
            if not known and level is not None and level.has_unremembered_names:
                ending = self.as_if_new(here, before) or b""
                known = ending.lstrip()[:1] == b'"'  # a comma has been read
            self._by_names[here] = known
        return known

    def repeats_name(self, here: Configuration, before: bytes) -> bool:
        """Whether the completion of `here`, as if names were new, repeats a name of the text
        `before`."""
        if not self.depends_on_names(here, before):
            return False
        ending = self.as_if_new(here, before)
        if ending is None:
            return False
        start = self._name_start(here.leaf, self._context(here), before)
        text = (before[start:] + ending).lstrip()
        name = str(json.loads(text[: closing_quote(text)].decode()))
        return self._text_names.before(before, start).has(name)

    def name_rest(self, here: Configuration, before: bytes) -> bytes:
        """Within a name: what ends it in the completion of `here`, the quote included."""
        ending = self.as_if_new(here, before)
        assert ending is not None
        return ending[: closing_quote(b'"' + ending) - 1]

    def _context(self, here: Configuration) -> int:
        return int(self._machine.arrays.node_context[here.node])

    def _name_start(self, leaf: int, context: int, before: bytes) -> int:
        """Where the name begins that is being read, or that must come next."""
        is_before = isinstance(self._machine.leaves.keys[leaf], ChoiceState)
        if is_before or not self._text_names.matter(context):
            return len(before)
        return string_start(before, len(before))

    # The search

    def _search(self, here: Configuration, before: bytes, *, names: bool) -> bytes | None:
        """The completion of `here`. `names`: without the names that only the text has."""
        self._by_text, self._names = False, names
        return self._search_leaf(here.leaf, self._stack(here.node), here.node, before)

    def _search_leaf(
        self, leaf: int, stack: list[int], node: int | None, before: bytes
    ) -> bytes | None:
        """The completion of a leaf on top of `stack`, whose `node` is given if there is one."""
        key = self._machine.leaves.keys[leaf]
        if stack[0] == DONE:
            return b""
        if isinstance(key, Entry):
            return self._finish(stack, leaf, before)
        if isinstance(key, BesideValue):
            return self._beside_value(leaf, key, stack, before)
        best: bytes | None = None
        too_long: TooLongError | None = None
        exits = self._exits.of(leaf, stack[0])
        if self._names and self._text_names.matter(stack[0]):
            start = self._name_start(leaf, stack[0], before)
            members = self._text_names.before(before, start).members
            exits = self._exits.repeatedly(leaf, stack[0], 1 + members)
        best_rank = 0
        for each in exits:
            label, text, is_far, rank = each.label, each.text, each.is_far, each.rank
            if is_far and best is None and too_long is not None:
                break  # another name may be one spelled with escapes: thousands of states
            # The nearest exit isn't always the best: what follows it may be longer.
            if best is not None and (is_far or len(text) >= len(best)):
                if label is None:
                    break
                continue
            if label is None:
                continue
            try:
                tail = self._after_exit(stack, node, label, before + text)
            except TooLongError as error:
                too_long = error
                continue
            if tail is None:
                continue
            length = len(text) + len(tail)
            if best is None or (length, rank) < (len(best), best_rank):
                best, best_rank = text + tail, rank
        if too_long is not None and best is None:
            raise too_long
        return best

    def _beside_value(
        self, leaf: int, key: BesideValue, stack: list[int], before: bytes
    ) -> bytes | None:
        """The completion within a text that may also begin a JSON value, which then must not
        complete that text."""
        as_text = self._search_leaf(key.text, stack, None, before)
        value = self._value_begun(leaf, stack)
        as_value = None if value is None else self._search_leaf(*value, None, before)
        if as_value is None or (as_text is not None and len(as_text) <= len(as_value)):
            return as_text
        return as_text if self._completes_text(key.text, as_value) else as_value

    def _completes_text(self, leaf: int, data: bytes) -> bool:
        """Whether a text that is left at once when it has ended is ended by some of `data`."""
        leaves = self._machine.leaves
        for byte in data:
            after = leaves.next_states(leaf).get(byte)
            if after is None:
                return False
            leaf = after
            key = leaves.keys[leaf]
            if isinstance(key, Text) and key.term.nullable:
                return True
        return False

    def _value_begun(self, leaf: int, stack: list[int]) -> tuple[int, list[int]] | None:
        """The leaf and the stack of the JSON value that has begun; None if none has."""
        leaves = self._machine.leaves
        while True:
            spend(CHEAP)
            step = self._contexts.exit(stack[0], leaves.label_of(leaf))
            if step.kind == BLOCKED:
                return None
            removed, added = apply_exit(step)
            leaf, stack = step.leaf, [*reversed(added), *stack[removed:]]
            if not isinstance(leaves.label_of(leaf), Opened):
                return leaf, stack

    # From one leaf to the next

    def _after_exit(
        self, stack: list[int], node: int | None, label: Hashable, text: bytes
    ) -> bytes | None:
        """The completion after the leaf on top of `stack`, that of `node`, has been left with
        `label`; None if it can't be. `text` is the whole text up to there."""
        if self._names or node is None:
            return self._find_tail(stack, label, text)
        key = (node, label)
        if key in self._tails:
            return self._tails[key]
        by_text, self._by_text = self._by_text, False
        tail = self._find_tail(stack, label, text)
        if not self._by_text:
            self._tails[key] = tail
        self._by_text |= by_text
        return tail

    def _find_tail(self, stack: list[int], label: Hashable, text: bytes) -> bytes | None:
        while True:
            step = self._contexts.exit(stack[0], label)
            if step.kind & DYNAMIC:
                if self._names and self._text_names.are_repeated(stack[0], text):
                    return None
                if not self._is_last_name(stack[0]):
                    self._by_text = True
                    step = self._contexts.exit(stack[0], label, last_value(text))
            if step.kind == BLOCKED:
                return None
            removed, added = apply_exit(step)
            stack = [*reversed(added), *stack[removed:]]
            if not step.pops:
                return b"" if step.context == DONE else self._finish(stack, step.leaf, text)
            label = step.result

    def _is_last_name(self, context: int) -> bool:
        """Whether a name ends on a level that is completed without further ones but those that its
        schema lists, so that it makes no difference which name it was."""
        level = self._contexts.level(context)
        return level is not None and level.bracket == "{" and level.needs_no_names(1)

    def _finish(self, stack: list[int], leaf: int, text: bytes) -> bytes | None:
        ending = self._contexts.finish(stack, leaf, text, names=self._names)
        self._by_text |= ending.by_text
        return ending.text

    def _stack(self, node: int) -> list[int]:
        """The contexts from `node` down to the root."""
        arrays = self._machine.arrays
        found: list[int] = []
        while node >= 0:
            found.append(int(arrays.node_context[node]))
            node = int(arrays.node_parent[node])
        return found
