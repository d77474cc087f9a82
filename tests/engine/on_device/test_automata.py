"""When the tables of grammars are made."""

from __future__ import annotations

from unittest.mock import patch

from maskwright.engine import EngineConfig, Request
from maskwright.engine.on_device import automata
from maskwright.engine.on_device.automata import REST, Automata
from maskwright.mask import compile_regex
from maskwright.models import LoadedModel
from maskwright.sampling import SamplingParams
from tests.bounds import wait_until
from tests.engine.step.test_core import Harness

SECONDS = 1.0
"""What making a table takes here."""


def test_tables_in_the_background_take_a_small_share_of_the_time(loaded: LoadedModel) -> None:
    """However many grammars there are: after each table, none is made for `REST` times as long."""
    harness, now = Harness(loaded, EngineConfig(drafts=0)), [0.0]
    for number in range(3):
        grammar = compile_regex(f"[a-z]{{1{number}}}", loaded.vocab)
        harness.add(Request([65], SamplingParams(), 30, grammar=grammar), number)
    harness.step()
    first, second, third = harness.core._active.values()
    tabulate = automata.tabulate

    def slowly(*args, **kwargs):
        now[0] += SECONDS
        return tabulate(*args, **kwargs)

    tables = Automata(background=True, clock=lambda: now[0])
    with patch.object(automata, "tabulate", slowly):
        wait_until(lambda: tables.find(first))
        for waiting in (second, third):
            begun = now[0]
            now[0] = begun + 0.99 * REST * SECONDS
            assert tables.find(waiting) is None
            assert tables.find(first) is not None
            now[0] = begun + REST * SECONDS
            wait_until(lambda who=waiting: tables.find(who))
            assert now[0] == begun + (REST + 1) * SECONDS
    tables.stop()
