"""docs/constants.md lists the numbers of the code as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import constants_page
from tools.constants_page import PAGE, Constant, cell, constants, page, shown

CODE = '''
MOST: Final = 1 << 20
"""Entries up to which
something is done."""
QUOTE: Final = 0x22
NAMES: Final = ("a",)
"""No number."""
FACTOR: Final = 0.5
"""A share."""
DERIVED: Final = 2 * MOST
"""What follows from another."""
'''


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text() == page(), "run tools/constants_page.py"


def test_numbers_with_a_description_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "module.py").write_text(CODE)
    monkeypatch.setattr(constants_page, "PACKAGE", tmp_path)
    module = Path("module.py")
    assert list(constants(module)) == [
        Constant(module, "MOST", "1 << 20", "Entries up to which something is done."),
        Constant(module, "FACTOR", "0.5", "A share."),
    ]


def test_values_and_texts_fit_into_a_table() -> None:
    assert shown("1048576 * 2") == "1,048,576 \\* 2"
    assert shown("0.12345678") == "0.12345678"
    assert cell("a | b") == "a \\| b"
