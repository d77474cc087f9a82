"""The engines that maskbench.py measures, with one interface of three calls.

An engine is made once, for the vocabulary `tekken()`. `compile` makes a grammar, and `start` makes
a walk from that. The functions of a walk are the engine's own, bound to their arguments, so that
nothing else is timed. The settings are those that enforce a schema as the specification defines it:
any whitespace, and every property that the schema doesn't forbid.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from maskwright import Grammar, Vocabulary, compile_json_schema
from maskwright.grammar.schema.options import PropertyOrder

Mask = npt.NDArray[np.int32]


class Refused(Exception):
    """The engine doesn't compile the schema; the message is the engine's."""


@dataclass(frozen=True, slots=True)
class Walk:
    """One text that is being read. `fill` writes the mask, `accept` reads a token."""

    fill: Callable[[], object]
    accept: Callable[[int], bool]
    accepting: Callable[[], bool]


class Engine(Protocol):
    """`mask`, int32 `[V / 32]`, is the row to which the `fill` of every walk writes."""

    mask: Mask

    def compile(self, schema: Any) -> Any: ...

    def start(self, compiled: Any) -> Walk: ...


class Maskwright:
    """This project, with one of its property orders."""

    def __init__(self, vocabulary: Vocabulary, order: PropertyOrder) -> None:
        self.mask = np.zeros(vocabulary.words, np.int32)
        self._vocabulary = vocabulary
        self._order: PropertyOrder = order

    def compile(self, schema: Any) -> Grammar:
        return compile_json_schema(schema, self._vocabulary, property_order=self._order)

    def start(self, compiled: Grammar) -> Walk:
        matcher = compiled.matcher()
        return Walk(
            partial(matcher.fill_mask, self.mask), matcher.accept, lambda: matcher.accepting
        )


def _peer(module: str, name: str, vocabulary: Vocabulary) -> Engine:
    """An engine of another project, which is imported only where it is measured: a process that
    measures ours holds none of its objects, which collections would look at."""
    return getattr(import_module(f"benchmarks.peers.{module}"), name)(vocabulary)


ENGINES: Final[dict[str, Callable[[Vocabulary], Engine]]] = {
    "maskwright": partial(Maskwright, order="schema"),
    "maskwright-any": partial(Maskwright, order="any"),
    "llguidance": partial(_peer, "of_llguidance", "LLGuidance"),
    "xgrammar": partial(_peer, "of_xgrammar", "XGrammar"),
    "glrmask": partial(_peer, "of_glrmask", "GLRMask"),
}


def allows(mask: Mask, token: int) -> bool:
    """Bit `token` of a mask."""
    return bool(mask[token >> 5] >> (token & 31) & 1)
