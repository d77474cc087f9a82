"""How much room each token needs inside a JSON string whose characters are counted or weighed.

One walk says of every token how many characters a string must have room for, so that an end can
follow the token. The rows under all bounds follow from it: those of the tokens that need no more.
"""

# Compiled code: array elements are plain numbers here, which numpy's types don't say.
# pyright: reportUntypedFunctionDecorator=false, reportArgumentType=false, reportReturnType=false
# pyright: reportAssignmentType=false
from __future__ import annotations

from typing import Final

import numpy as np

from maskwright.automaton.leaf.character_arrays import UNKNOWN, CharacterArrays
from maskwright.compiled import compiled
from maskwright.mask.ready_rows.inside import (
    NO_ROOM,
    Measure,
    Path,
    counted,
    interval_of,
    least_room,
    read_byte,
)
from maskwright.mask.ready_rows.product import LISTED
from maskwright.vocab.trie import Trie

TOO_MUCH: Final = np.iinfo(np.int16).max
"""The need of a token that does not stay inside, or needs more than any bound leaves."""


@compiled(nogil=True)
def _room_within(
    characters: CharacterArrays,
    measure: Measure,
    state: int,
    count: int,
    part: int,
    value: int,
    room: int,
) -> int:
    """The least room, from `room` on, in which a character can be completed that has been begun;
    `TOO_MUCH` if there is none."""
    farthest = 0
    for each in measure.fewest[0]:
        if each < TOO_MUCH:
            farthest = max(farthest, each)
    last = min(measure.most, count + measure.beyond + farthest)
    for most in range(room, max(room, last) + 1):
        # What counting begins anew after keeps the bound of the measure.
        if (
            least_room(characters, measure, state, count + measure.most - most, part, value)
            < NO_ROOM
        ):
            return most
    return TOO_MUCH


@compiled(nogil=True, inline="always")
def _write(trie: Trie, needs: np.ndarray, at: int, need: int) -> None:
    """Write what the tokens of a node need."""
    token = trie.token[at]
    while token >= 0:
        needs[token] = min(need, TOO_MUCH)
        token = trie.twin[token]


@compiled(nogil=True)
def walk_room(
    trie: Trie,
    characters: CharacterArrays,
    measure: Measure,
    path: Path,
    state: int,
    part: int,
    value: int,
    needs: np.ndarray,
    missing: np.ndarray,
    plain: bool,
) -> int:
    """Write the room that each token needs from `state` on to `needs` (int16 [V], `TOO_MUCH`
    before), of a character of which `part` and `value` have been read; `plain` as there.

    Where counting begins anew within a token, the room is that up to there, and the rest of the
    token must keep the bound of `measure`, which has no least count. Returns how often a state was
    met whose transitions are not known, and lists some of these states, as `walk_string` does.
    """
    known, fewest = characters.known, measure.fewest
    start, of_interval, beyond = characters.start, characters.of_interval, characters.beyond
    states, parts, values, counts = path.state, path.part, path.value, path.read
    rooms, over = np.zeros((2, len(states)), np.int32)
    states[0], parts[0], values[0], counts[0] = state, part, value, 0
    lacking = listed = at = 0
    while at < len(trie.byte):
        depth, byte = trie.depth[at], trie.byte[at]
        here, part, value = states[depth - 1], parts[depth - 1], values[depth - 1]
        count, room, is_over = counts[depth - 1], rooms[depth - 1], over[depth - 1]
        if known[here] < 0:
            if known[here] == UNKNOWN and listed < len(missing):
                known[here] = LISTED
                missing[listed] = here
                listed += 1
            lacking += 1
            at = trie.skip[at]
            continue
        target = -1
        if part == 0 and byte < 0x80 and (plain or byte != 0x5C):
            if plain or (byte >= 0x20 and byte != 0x22):
                target = characters.ascii[here, byte]
                count = counted(measure, count, byte)
                is_over |= count == 0
        else:
            part, value = read_byte(byte, part, value)
            if part == 0 and value >= 0:
                if value < 0x80:
                    target = characters.ascii[here, value]
                else:
                    target = beyond[here, of_interval[interval_of(start, value)]]
                count = counted(measure, count, value)
                is_over |= count == 0
            elif part >= 0:
                target = here
        need = room
        if target >= 0 and part == 0:
            if count + fewest[0, target] > measure.most:
                target = -1
            elif not is_over:
                room = need = max(room, count + fewest[0, target])
        elif target >= 0 and trie.token[at] >= 0:
            lowest = measure.most if is_over else room
            least = _room_within(characters, measure, here, count, part, value, lowest)
            need = room if is_over and least < TOO_MUCH else least
        if target < 0:
            at = trie.skip[at]
            continue
        _write(trie, needs, at, need)
        states[depth], parts[depth], values[depth] = target, part, value
        counts[depth], rooms[depth], over[depth] = count, room, is_over
        at += 1
    return lacking
