"""Compute a mask with the package that is installed, without sources and without PyTorch.

    python tests/native/installed.py

Wheels are tried so (`[tool.cibuildwheel]` in pyproject.toml). It needs NumPy, `referencing` and
`jsonschema-specifications`.
"""

from __future__ import annotations

import sys

import numpy as np

from maskwright import Vocabulary, compile_json_schema, native

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
TEXT = b'{"a":"x"}'


def main() -> None:
    vocabulary = Vocabulary([bytes([byte]) for byte in range(256)] + [b'":"', b""], eos=257)
    matcher = compile_json_schema(SCHEMA, vocabulary).matcher()
    out = np.zeros(vocabulary.words, np.int32)
    for byte in TEXT:
        matcher.fill_mask(out)
        assert out[byte >> 5] >> (byte & 31) & 1, f"{bytes([byte])!r} is not allowed"
        assert matcher.accept(byte)
    matcher.fill_mask(out)
    assert matcher.accepting
    assert "torch" not in sys.modules
    print(f"{native.__file__} reads {TEXT.decode()}")


if __name__ == "__main__":
    main()
