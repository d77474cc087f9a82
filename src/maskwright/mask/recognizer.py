"""The recognizer of one grammar: where bytes lead in its machine, and what may follow there.

It calls the compiled part of the machine (`automaton.machine.step`) and supplies what that lacks:
rows of leaf states, and exits. Where an exit depends on the text so far (a name or an item that
must differ from earlier ones), the compiled part stops, and the exit is taken here.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Final, Protocol, TypeVar

from maskwright.automaton.machine.exits import BLOCKED, Configuration, Exit, apply_exit
from maskwright.automaton.machine.machine import Added
from maskwright.automaton.machine.step import DEPENDS_ON_TEXT, PENDING, TOO_MANY
from maskwright.automaton.value.last_value import last_value
from maskwright.errors import Construct, LimitError
from maskwright.immutable import Immutable
from maskwright.limits import CHEAP, Limits, Work, spend
from maskwright.mask.position import Position, Positions, unpacked
from maskwright.mask.shared.machine import MOST_BYTES, SharedMachine
from maskwright.mask.shared.vocabulary_tables import VocabularyTables

_MOST_IN_A_RUN: Final = 4_096
"""Bytes that compiled code reads without giving Python's lock back: some 100 microseconds."""
_Answer = TypeVar("_Answer")
_PLACING: Final = Limits(work=10_000)
"""What it may take to find the place of an error."""


class ConstructFinder(Protocol):
    """Finds the part of a grammar in which a text stands, for errors."""

    def at(self, contexts: list[int], text: bytes) -> Construct:
        """The construct that `text` is within. `contexts`: the contexts on the machine's stack, the
        innermost first."""
        ...

    def has(self, pointer: str) -> bool:
        """Whether `pointer` is a place in the grammar's own schemas."""
        ...


class Beginning(Immutable):
    """Where the texts of a grammar begin."""

    tables: VocabularyTables
    shared: SharedMachine
    start: tuple[int, int]
    """The context and the leaf state in which every text begins."""
    constructs: ConstructFinder
    """Where in the grammar a text stands."""


class Recognizer:
    """Reads bytes and tokens from any configuration of a grammar.

    Thread-safe. All code that uses or extends the machine does so within `with recognizer:`, a
    question. It holds the lock of the vocabulary's tables; the outermost one bounds the work of all
    questions within it, and after an error the machine is ready for the next one.
    """

    def __init__(self, beginning: Beginning) -> None:
        tables, shared = beginning.tables, beginning.shared
        self.constructs: Final = beginning.constructs
        self.tables: Final = tables
        self.shared: Final = shared
        self.vocabulary: Final = tables.vocabulary
        self.machine: Final = shared.machine
        self.walk: Final = shared.walk
        self.added: Final = Added()
        """What has been added to the machine on behalf of this grammar."""
        self.for_text: Added | None = None
        """What counts for the text that is being read, where a question is about one; guarded by
        the lock. What a question about no text adds counts for it alone."""
        self.positions: Final = Positions(
            shared.positions,
            self.walk,
            shared.precomputed,
            tables.known_alike,
            tables.leaves.labels,
            shared.text_names.matter,
            tables.lock,
        )
        context, leaf = beginning.start
        with tables.lock:
            root = self.machine.known_root(context)
        if root is None:
            with self:
                root = self.machine.root(context)
        self.start: Final = Configuration(leaf, root)
        self.first: Final = self.position(self.start)
        self.ended: Final = shared.ended
        """The position after an end token, which is no configuration of the machine."""

    def __enter__(self) -> None:
        self.tables.lock.acquire()
        if self.for_text is not None:
            self.machine.begin(self.added, self.for_text)
        elif self.machine.work.is_idle:
            self.machine.begin(self.added, Added())
        self.machine.work.__enter__()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if error is not None:
                self.machine.abandon()
            self.machine.work.__exit__(kind, error, trace)
        finally:
            self.tables.lock.release()

    def name_construct(self, error: LimitError, here: Configuration, text: bytes) -> None:
        """Have an error name the part of the grammar at which a text stands, unless it names a more
        precise one. It may name a place in the document of another grammar that shares contexts
        with this one; that is replaced too."""
        try:
            with self.tables.lock, Work(_PLACING):
                place = self.constructs.at(self.machine.stack(here.node), text)
        except LimitError:  # a pattern of names, say, takes too long to match
            place = self.constructs.at([], b"")
        outer, inner = place.pointer, error.pointer
        is_within = None not in (outer, inner) and f"{inner}/".startswith(f"{outer}/")
        if not (is_within and inner is not None and self.constructs.has(inner)):
            error.place(place)

    @property
    def is_overgrown(self) -> bool:
        """Whether new texts had better begin in another machine: this one takes much memory, or the
        grammar has added half of what its limits allow."""
        limits = self.shared.limits
        return (
            self.shared.nbytes > MOST_BYTES
            or 2 * self.added.contexts > limits.contexts
            or 2 * self.added.leaf_states > limits.leaf_states
        )

    def position(self, here: Configuration) -> Position:
        """Return the position of a configuration, which all grammars of one machine share."""
        return self.positions.at(here)

    # Where bytes and tokens lead

    def advance(
        self, here: Configuration, data: bytes, prefix: bytes | bytearray = b""
    ) -> Configuration | None:
        """Return the configuration after `data`; None if these bytes may not follow.

        `prefix`: the text so far. It is only read at the end of a name or an item that must differ
        from earlier ones.
        """
        with self:
            passed = 0
            done = 0
            arrays = self.machine.arrays
            while True:
                spend(CHEAP)
                target = arrays.take_bytes(here.leaf, here.node, data[done:])
                if target == PENDING:
                    self.machine.serve_requests()
                    continue
                if target != DEPENDS_ON_TEXT:
                    return None if target < 0 else unpacked(target)
                passed = arrays.pass_dynamic_exit(passed, arrays.stop_node)
                if passed >= TOO_MANY:
                    return None
                done += arrays.bytes_read
                stopped = self._stopped()
                following = self._dynamic_exit(stopped, b"".join((prefix, data[:done])))
                if following is None:
                    return None
                if done < len(data) and self.machine.contexts.wants_repeat(stopped[0]):
                    # The exit taken by the text may allow more to follow than one taken without,
                    # as for the mask, which must have allowed the rest too.
                    unseen = self._dynamic_exit(stopped, None)
                    if unseen is None or not self._is_walked(unseen, data[done:], passed):
                        return None
                here = following

    def read(self, here: Configuration, data: bytes, prefix: bytes) -> tuple[Configuration, int]:
        """Read as many of the bytes as the grammar allows, each as a step of its own. Returns the
        configuration after them, and their number. `prefix`: the text so far."""
        text = bytearray(prefix)
        taken = 0
        while taken < len(data):
            with self:
                run = data[taken : taken + _MOST_IN_A_RUN]
                count, leaf, node = self.machine.arrays.take_run(here.leaf, here.node, run)
                here = Configuration(leaf, node)
                spend(1 + count // 64)
            if count == 0:
                following = self.advance(here, data[taken : taken + 1], text)
                if following is None:
                    break
                here, count = following, 1
            text += data[taken : taken + count]
            taken += count
        return here, taken

    def reads_without_text(self, here: Configuration, data: bytes) -> bool:
        """Whether the grammar allows these bytes, and none of them ends a name or an item where the
        text so far decides on what follows."""
        arrays, taken = self.machine.arrays, 0
        while taken < len(data):
            with self:
                run = data[taken : taken + _MOST_IN_A_RUN]
                count, leaf, node = arrays.take_run(here.leaf, here.node, run)
                spend(1 + count // 64)
                here, taken = Configuration(leaf, node), taken + count
                if count == len(run):
                    continue
                target = arrays.take_bytes(here.leaf, here.node, data[taken : taken + 1])
                if target == PENDING:
                    self.machine.serve_requests()
                    continue
                if target < 0:
                    return False
                here, taken = unpacked(target), taken + 1
        return True

    def take_token(
        self, here: Configuration, token: int, read_prefix: Callable[[], bytes | bytearray]
    ) -> tuple[Configuration | None, bool]:
        """Return the configuration after a token, None if it may not follow, and whether this
        depends on the text. `read_prefix` returns the text so far, and is called only if it
        does."""
        with self:
            while (target := self.walk.take_token(here.leaf, here.node, token)) == PENDING:
                spelling = self.vocabulary.spellings[token]
                leaf = self.tables.leaves.after_characters(here.leaf, spelling)
                if leaf is not None:
                    self.machine.arrays.forget()
                    return Configuration(leaf, here.node), False
                self.machine.serve_requests()
            if target == DEPENDS_ON_TEXT:
                data = self.vocabulary.spellings[token]
                return self.advance(here, data, read_prefix()), True
            return None if target < 0 else unpacked(target), False

    def _stopped(self) -> tuple[int, int, int]:
        """Context, label and node of the dynamic exit at which the last bytes stopped."""
        arrays = self.machine.arrays
        return arrays.stop_context, arrays.stop_label, arrays.stop_node

    def _dynamic_exit(
        self, stopped: tuple[int, int, int], text: bytes | None
    ) -> Configuration | None:
        """Take an exit with the text so far or, if it is None, as a walk over the trie does."""
        context, label, node = stopped
        if text is not None and self.shared.text_names.are_repeated(context, text):
            return None
        value = None if text is None else last_value(text)
        exit = self.machine.contexts.exit(context, self.tables.leaves.labels[label], value)
        return self.take_exit(exit, node)

    def _is_walked(self, here: Configuration, data: bytes, passed: int) -> bool:
        """Whether a walk, which doesn't read the text, accepts the rest of a token."""
        arrays = self.machine.arrays
        while True:
            spend(CHEAP)
            target = arrays.take_bytes(here.leaf, here.node, data)
            if target == PENDING:
                self.machine.serve_requests()
                continue
            if target != DEPENDS_ON_TEXT:
                return target >= 0
            passed = arrays.pass_dynamic_exit(passed, arrays.stop_node)
            data = data[arrays.bytes_read :]
            following = self._dynamic_exit(self._stopped(), None)
            if passed >= TOO_MANY or following is None:
                return False
            here = following

    def leave(self, here: Configuration) -> Configuration:
        """The configuration after the leaf has been left without reading a byte; its leaf is DEAD
        where that is not possible."""
        while True:
            leaf, node = self.machine.arrays.leave(here.leaf, here.node)
            if not self._supplied():
                return Configuration(leaf, node)

    def take_exit(self, exit: Exit, node: int) -> Configuration | None:
        """The configuration after an exit from the context of `node`; None if that exit, or one
        that it leads to on a level below, is blocked."""
        machine = self.machine
        while exit.kind != BLOCKED:
            removed, added = apply_exit(exit)
            if removed:
                node = int(machine.arrays.node_parent[node])
            for context in added:
                node = self.node(context, node)
            if not exit.pops:
                return Configuration(exit.leaf, node)
            below = int(machine.arrays.node_context[node])
            exit = machine.contexts.exit(below, exit.result)
        return None

    def node(self, context: int, parent: int) -> int:
        """The interned node of a context on top of the stack `parent`."""
        self.machine.know_context(context)
        while True:
            node = self.machine.arrays.node(context, parent)
            if not self._supplied():
                return node

    # What may follow

    def accepting(self, here: Configuration) -> bool:
        """Whether the text may end here."""
        position = self.position(here)
        if position.accepting is None:
            is_accepting = self.machine.arrays.is_accepting
            position.accepting = self._ask(lambda: is_accepting(here.leaf, here.node))
        return position.accepting

    def complete(self, position: Position) -> bool:
        """Whether the text may end here, and nothing but an end token may follow."""
        if position.complete is None:
            here = position.configuration
            position.complete = self.accepting(here) and not self.next_bytes(here)
        return position.complete

    def forced_byte(self, here: Configuration) -> bytes:
        """The only byte with which the text can continue; b"" if it may end, or continue with
        different ones."""
        position = self.position(here)
        if position.forced_byte is None:
            options = b"" if self.accepting(here) else self.next_bytes(here)
            position.forced_byte = options if len(options) == 1 else b""
        return position.forced_byte

    def next_bytes(self, here: Configuration) -> bytes:
        """The bytes that may come next, in ascending order."""
        return self._ask(lambda: self.machine.arrays.next_bytes(here.leaf, here.node))

    def _ask(self, question: Callable[[], _Answer]) -> _Answer:
        """Call compiled code, and supply what it lacks, until it returns a result."""
        with self:
            while True:
                answer = question()
                if not self._supplied():
                    return answer

    def _supplied(self) -> bool:
        """Supply what compiled code lacks. Returns whether it lacked anything, and so has to be
        called again."""
        if not self.machine.arrays.lacking:
            return False
        self.machine.serve_requests()
        return True
