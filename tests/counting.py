"""An object that counts the calls of one of its methods, where the class can't be patched."""

from __future__ import annotations

from typing import Any


class Counting:
    """Stands for another object. `calls` has the arguments of each call of one method."""

    def __init__(self, real: Any, method: str) -> None:
        self._real, self._method = real, method
        self.calls: list[tuple[Any, ...]] = []

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._real, name)
        if name != self._method:
            return found

        def counted(*arguments: Any) -> Any:
            self.calls.append(arguments)
            return found(*arguments)

        return counted
