"""Structured decoding: text from a language model that always has the shape you asked for.

Compile a shape for the tokens of a model, and have a matcher say which of them may come next:

    import numpy as np
    import maskwright

    vocabulary = maskwright.Vocabulary([b"true", b"fal", b"se", b""], eos=3)
    grammar = maskwright.compile_json_schema({"type": "boolean"}, vocabulary)
    matcher = grammar.matcher()
    mask = np.zeros(vocabulary.words, np.int32)
    matcher.fill_mask(mask)  # bit i of word w allows token 32 * w + i
    matcher.accept(1)  # "fal"
    matcher.forced_tokens()  # [2]: "se" is all that may follow
    matcher.copy()  # an independent matcher at the same place

A schema is a dict, a bool, JSON text, the `pathlib.Path` of a file, or a class of pydantic.
`compile_regex`, `compile_grammar` and `compile_tools` compile other shapes, `explain` says what is
done with each keyword of a schema, and `validate` whether a text has a shape.

Each name is imported when it is first asked for: `maskwright --help` needs none of the compilers,
which take most of the time of an import.
"""

from __future__ import annotations

# So that `maskwright.errors` and `maskwright.limits` are there without imports of their own.
import maskwright.errors  # pyright: ignore[reportUnusedImport]
import maskwright.limits  # noqa: F401  # pyright: ignore[reportUnusedImport]
from maskwright.exports import importer, public_names
from maskwright.version import VERSION as __version__

_names = public_names(__file__)
__getattr__ = importer(__name__, _names, globals())
__all__ = [*_names, "__version__"]  # pyright: ignore[reportUnsupportedDunderAll]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
