"""The parts of vLLM and SGLang that our modules import, for machines without these engines.

Only what their documents promise: base classes, and the names that an integration imports.
"""

from __future__ import annotations

import importlib.util
import sys
from enum import Enum, auto
from types import ModuleType

import pytest


class LogitsProcessor:
    """vLLM's base class, which holds nothing."""


class MoveDirectionality(Enum):
    """How two places of vLLM's batch change."""

    UNIDIRECTIONAL = auto()
    SWAP = auto()


class BaseGrammarObject:
    """SGLang's base class of a request's text."""

    def __init__(self) -> None:
        self.finished = False


class BaseGrammarBackend:
    """SGLang's base class of a backend."""


class InvalidGrammarObject(BaseGrammarObject):
    """What SGLang wants for a shape that can't be compiled."""

    def __init__(self, error_message: str) -> None:
        super().__init__()
        self.error_message = error_message


def provide(monkeypatch: pytest.MonkeyPatch, name: str, **names: object) -> None:
    """Put a module of an engine into place, with its packages, unless the engine is installed."""
    top = name.partition(".")[0]
    if top not in sys.modules and importlib.util.find_spec(top) is not None:
        return
    parts = name.split(".")
    for count in range(1, len(parts) + 1):
        path = ".".join(parts[:count])
        if path not in sys.modules:
            monkeypatch.setitem(sys.modules, path, ModuleType(path))
    for attribute, value in names.items():
        monkeypatch.setattr(sys.modules[name], attribute, value, raising=False)
