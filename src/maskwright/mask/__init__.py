"""Machine and vocabulary together: mask rows, matchers, and the compilers.

- `budget/`: Masks that keep only tokens after which the text can be completed within a budget.
- `compile/`: The compilers, which turn a schema, pattern, grammar, tag or list of tools into a
  `Grammar`.
- `matcher/`: Matchers, the only mutable objects of a request: accepted tokens, masks, forced
  tokens, events.
- `ready_rows/`: Mask rows of strings and plain text that are computed once for a vocabulary.
- `shared/`: What grammars share: the tables of a vocabulary, machines, bounds, and caches.
- `walk/`: The machine walked over the token trie in compiled code, and the rows that result.
- `grammar`: A compiled grammar for users: its report, its size, its matchers.
- `name_positions`: Positions within names that must differ from names that only the text has.
- `position`: A configuration of a grammar, and what has been computed about it.
- `recognizer`: Where bytes lead in a grammar's machine, and what may follow there.
- `walker`: The masks of positions, and where tokens lead.

Each name is imported when it is first asked for, so that a program which compiles a schema doesn't
import what only grammars, tags and tools need.
"""

from __future__ import annotations

from maskwright.exports import importer, public_names

_names = public_names(__file__)
__all__ = [*_names]  # pyright: ignore[reportUnsupportedDunderAll]
__getattr__ = importer(__name__, _names, globals())


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
