"""What all tests of shared tables begin with."""

from __future__ import annotations

import pytest

from maskwright.mask.shared import generations


@pytest.fixture(autouse=True)
def looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have tables looked at whenever a grammar is compiled: tests don't wait for the next look."""
    monkeypatch.setattr(generations, "LOOKED_AT_EVERY", 1)
