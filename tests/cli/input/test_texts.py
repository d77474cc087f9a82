from __future__ import annotations

import pytest

from maskwright.cli.input.texts import bytes_of
from maskwright.errors import InputError


def test_a_missing_file_is_named() -> None:
    with pytest.raises(InputError, match=r"missing\.json: No such file"):
        bytes_of("missing.json")


def test_no_name_is_no_folder() -> None:
    with pytest.raises(InputError, match="the name of a file is empty; '-' is standard input"):
        bytes_of("")
