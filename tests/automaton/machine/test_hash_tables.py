"""Hash tables written anew where they have grown."""

from __future__ import annotations

from random import Random

import numpy as np

from maskwright.automaton.machine.hash_tables import hash_nodes, move_exits


def test_every_node_is_entered_once() -> None:
    random = Random(0)
    pairs = random.sample(
        [(context, parent) for context in range(40) for parent in range(-1, 40)], 200
    )
    context, parent = (np.array(each, np.int32) for each in zip(*pairs, strict=True))
    slots = np.full(512, -1, np.int32)
    hash_nodes(context, parent, slots, 0, 150)
    hash_nodes(context, parent, slots, 150, 200)
    assert sorted(slots[slots >= 0].tolist()) == list(range(200))


def test_exits_move_with_all_their_fields() -> None:
    random = Random(1)
    keys = [random.randrange(1 << 20) << 32 | random.randrange(1 << 20) for _ in range(60)]
    old = [np.full(128, -1, np.int64), *(np.zeros(128, np.int32) for _ in range(4))]
    for slot, key in zip(random.sample(range(128), 60), keys, strict=True):
        old[0][slot] = key
        for number, field in enumerate(old[1:], 1):
            field[slot] = key % 1_000 + number
    new = [np.full(256, -1, np.int64), *(np.zeros(256, np.int32) for _ in range(4))]
    move_exits(tuple(old), tuple(new))
    filled = new[0] >= 0
    assert sorted(new[0][filled].tolist()) == sorted(keys)
    for number, field in enumerate(new[1:], 1):
        assert (field[filled] == new[0][filled] % 1_000 + number).all()
