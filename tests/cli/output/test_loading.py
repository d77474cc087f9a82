"""What surrounds the import of a command."""

from __future__ import annotations

import gc

import pytest

from maskwright.cli.output.progress import loading


def test_no_garbage_is_looked_for_while_modules_are_imported() -> None:
    assert gc.isenabled()
    with loading():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_garbage_is_looked_for_again_after_an_import_that_failed() -> None:
    with pytest.raises(ImportError), loading():
        raise ImportError
    assert gc.isenabled()


def test_what_was_off_before_stays_off() -> None:
    gc.disable()
    try:
        with loading():
            assert not gc.isenabled()
        assert not gc.isenabled()
    finally:
        gc.enable()
