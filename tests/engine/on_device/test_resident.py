"""Tables of states in the device's memory."""

from __future__ import annotations

import numpy as np
import torch

from maskwright.engine.on_device.automaton import STOPPED, TokenAutomaton
from maskwright.engine.on_device.resident import ResidentTables

CPU = torch.device("cpu")


def random_automaton(seed: int, states: int) -> TokenAutomaton:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, 4, states)

    def numbers(low: int, high: int, size: int) -> np.ndarray:
        return rng.integers(low, high, size).astype(np.int32)

    return TokenAutomaton(
        rows=tuple(rng.integers(0, 2**31, 2).astype(np.int32) for _ in range(3)),
        mask=numbers(0, 3, states),
        needs=numbers(1, 9, states),
        others=numbers(-1, states, states),
        starts=np.concatenate(([0], np.cumsum(sizes))).astype(np.int32),
        tokens=numbers(0, 64, int(sizes.sum())),
        targets=numbers(-1, states, int(sizes.sum())),
        rests=((),) * states,
        states={},
        whole=True,
    )


def check(tables: ResidentTables, automaton: TokenAutomaton, base: int) -> None:
    """Every state on the device is the one of the table, moved by `base`."""
    rows = tables.next_rows

    def moved(target: int) -> int:
        return STOPPED if target == STOPPED else base + target

    for state in range(len(automaton.mask)):
        here = base + state
        mask = tables.masks[int(rows.masks[here])]
        assert mask.tolist() == automaton.rows[automaton.mask[state]].tolist()
        assert rows.needs[here] == automaton.needs[state]
        assert rows.others[here] == moved(automaton.others[state])
        begin, end = int(rows.begins[here]), int(rows.ends[here])
        first, last = automaton.starts[state : state + 2]
        assert rows.tokens[begin:end].tolist() == automaton.tokens[first:last].tolist()
        targets = [moved(target) for target in automaton.targets[first:last]]
        assert rows.targets[begin:end].tolist() == targets
        assert end - begin <= rows.most


def test_tables_stay_until_there_is_no_room() -> None:
    tables = ResidentTables(2, CPU, states=20, moves=100)
    first, second, third = (random_automaton(seed, 8) for seed in range(3))
    masks = tables.masks.data_ptr()
    bases = tables.bases([first, second, first])
    assert bases is not None
    assert bases[0] == bases[2] != bases[1]
    check(tables, first, bases[0])
    check(tables, second, bases[1])
    assert tables.bases([second]) == bases[1:2]
    assert tables.copied == 2
    moved = tables.bases([third, second])
    assert moved is not None
    check(tables, third, moved[0])
    check(tables, second, moved[1])
    assert tables.copied == 4
    assert tables.masks.data_ptr() == masks


def test_tables_that_do_not_fit_together() -> None:
    tables = ResidentTables(2, CPU, states=20, moves=100)
    assert tables.bases([random_automaton(seed, 8) for seed in range(3)]) is None
    one = random_automaton(7, 20)
    bases = tables.bases([one])
    assert bases == [0]
    check(tables, one, 0)
