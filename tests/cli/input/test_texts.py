from __future__ import annotations

import pytest

from maskwright.cli.input.texts import read_text
from maskwright.errors import InputError


def test_a_missing_file_is_named() -> None:
    with pytest.raises(InputError, match=r"missing\.json: No such file"):
        read_text("missing.json")
