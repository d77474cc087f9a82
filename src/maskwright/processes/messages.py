"""What the engine's process and a grammar process send each other: plain data, pickled.

A grammar process answers jobs in the order in which they come. Numbers of positions and rows are
its own: another process gives the same position another number.
"""

from __future__ import annotations

import os
import pickle
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from maskwright.grammar.schema.tree import Report
from maskwright.immutable import Acyclic, Immutable
from maskwright.mask import Grammar
from maskwright.mask.matcher.protocol import ForcedRun
from maskwright.vocab import Vocabulary

LARGE: Final = 1 << 15
"""Bytes from which on a message is laid into a file in memory."""


class Parcel:
    """A picklable value as it is sent: the bytes of its pickle, or the path of a file that holds
    them as long as this lives. A large schema takes a slow process long to receive, and a
    connection holds little that has not been received: whoever sent it there would be held up."""

    def __init__(self, value: Any) -> None:
        data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
        self.sent: bytes | str = data
        if len(data) >= LARGE:
            file = os.memfd_create("maskwright-parcel")
            weakref.finalize(self, os.close, file)
            written = 0
            while written < len(data):
                written += os.write(file, memoryview(data)[written:])
            self.sent = f"/proc/{os.getpid()}/fd/{file}"


def opened(sent: bytes | str) -> Any:
    """The value that a parcel holds, by what was sent of it."""
    return pickle.loads(sent if isinstance(sent, bytes) else Path(sent).read_bytes())


class Build(Immutable):
    """Compiles a grammar: the arguments of one of the functions of `maskwright.mask` that compile,
    but for the vocabulary, which comes after `given`."""

    compile: Callable[..., Grammar]
    given: tuple[Any, ...]
    options: dict[str, Any]

    def __call__(self, vocabulary: Vocabulary) -> Grammar:
        return self.compile(*self.given, vocabulary, **self.options)


class Inquiry(Immutable):
    """Finds something out about a shape: a function that can be pickled, to be called with `given`
    and the vocabulary. It returns plain data."""

    find: Callable[..., Any]
    given: tuple[Any, ...]

    def __call__(self, vocabulary: Vocabulary) -> Any:
        return self.find(*self.given, vocabulary)


ENDLESS = 1 << 60
"""A budget that nobody has."""

OWN = -1
"""The number of a position that stands for one text alone."""


# Jobs


class Compile(Immutable):
    """Compile a grammar, which is then known by its number. `build` is what is sent of the parcel
    of a `Build`. `again`: another process has done it before."""

    grammar: int
    build: bytes | str
    again: bool


class Inquire(Immutable):
    """Work on an inquiry, which is numbered like a grammar. `inquiry` is what is sent of the parcel
    of an `Inquiry`."""

    grammar: int
    inquiry: bytes | str


class LeastTokens(Immutable):
    """The fewest tokens found for any text, see `Grammar.least_tokens`."""

    grammar: int
    enough: int


class TextQuestion(Acyclic):
    """What comes next in the text of a request.

    `tokens` follow the first `known` ones, which the process has read already; the last `new` of
    them are to be described. After them `left` tokens may come. `canonical`: text that the grammar
    forces is written without the model, so what comes after it is asked for.
    """

    grammar: int
    request: int
    known: int
    tokens: list[int]
    new: int
    left: int
    canonical: bool


class LookAhead(Acyclic):
    """The text of a request stands at a position that has not been expanded: `tokens` follow the
    first `known` ones, which the process has read already. It has no answer: expansions come when
    there is nothing else to do."""

    grammar: int
    request: int
    known: int
    tokens: list[int]


class ReadEvents(Immutable):
    """The events of the next tokens of a text, which begins anew if it is `fresh`. `earlier` are
    the tokens of calls before that the process has not read."""

    grammar: int
    text: int
    fresh: bool
    earlier: list[list[int]]
    tokens: list[int]
    final: bool


class Forget(NamedTuple):
    """Texts that have ended, and grammars that nobody holds. What was sent about the grammars in
    `taught` has been forgotten and has to be sent again. It has no answer."""

    texts: list[int]
    grammars: list[int]
    taught: list[int]


Job: TypeAlias = Compile | Inquire | LeastTokens | TextQuestion | LookAhead | ReadEvents | Forget


# Answers


class Compiled(Immutable):
    """A grammar has been compiled."""

    report: Report
    min_tokens: int


class Scope(Acyclic):
    """The budgets, `low` to `high`, under which a mask is the one that was filled; `shared`: for
    every text that leads to its position."""

    low: int
    high: int
    shared: bool


class Description(Immutable):
    """What is known of a position; what was not asked for is None. `row`: the number of the mask
    under the budgets of `scope`; `free_row`: that of the mask without a budget, where it is
    another one."""

    number: int
    state: tuple[int, ...]
    accepting: bool
    complete: bool
    run: ForcedRun | None = None
    row: int | None = None
    scope: Scope | None = None
    free_row: int | None = None


class Step(Immutable):
    """A token, and the position after it; `shared`: it leads there whatever the text before."""

    token: int
    shared: bool
    reached: Description


class Lesson(Immutable):
    """The answer to a question: the position before the new tokens, and the way from there along
    them and the text that the grammar forces after them.

    `rows` are masks, int32 words as bytes, that have not been sent before; the numbers of
    `forgotten` ones are not used again.
    """

    here: Description
    steps: list[Step]
    rows: list[tuple[int, bytes]]
    forgotten: list[int]


class Target(Immutable):
    """Where tokens lead, and the way from there along the text that the grammar forces."""

    reached: Description
    steps: list[Step]

    @property
    def described(self) -> list[Description]:
        """All positions on the way."""
        return [self.reached, *(step.reached for step in self.steps)]


class Expansion(Immutable):
    """Where the tokens lead that a mask allows, sent unasked: `here` is where they are taken.

    `tokens` holds the tokens that this is about, ascending, as int32, and `groups` a byte for each
    of them: token `tokens[i]` leads to `targets[groups[i]]`. `whole`: nothing more will be sent
    about the position. `rows` and `forgotten`: see `Lesson`.
    """

    grammar: int
    here: Description
    tokens: bytes
    groups: bytes
    targets: list[Target]
    whole: bool
    rows: list[tuple[int, bytes]]
    forgotten: list[int]


class Heavy(Immutable):
    """The job was abandoned because it took longer than the shared process gives to any."""


Answer: TypeAlias = (
    Expansion | Compiled | int | Lesson | list[Any] | dict[str, Any] | Heavy | Exception
)
"""To an inquiry, what it has found out: plain data."""
