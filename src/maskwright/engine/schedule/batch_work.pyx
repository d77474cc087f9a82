"""What the scheduler does for each sequence of a step; see `batch_work.pyi`."""

from typing import NamedTuple

from maskwright.engine.schedule.chunk cimport Chunk
from maskwright.engine.schedule.sequence cimport Sequence
from maskwright.engine.schedule.sequence import Phase
from maskwright.native cimport BUILT_FROM
from maskwright.native import require_built

require_built(__name__, BUILT_FROM)


class Totals(NamedTuple):
    tokens: int
    decodes: int
    prompt_tokens: int
    prompt_position: float

cdef object RUNNING = Phase.RUNNING


def decode_all(list running, Py_ssize_t block_size):
    cdef list chunks = [], short_of_blocks = []
    cdef Sequence sequence
    cdef Py_ssize_t pending
    for sequence in running:
        pending = sequence.count_pending()
        if pending == 0:
            continue
        if pending != 1 or sequence.draft or not sequence.is_decoding():
            return None
        if len(sequence.table) * block_size <= sequence.computed:
            short_of_blocks.append(sequence)
        chunks.append(Chunk(sequence, sequence.computed, 1, True))
    return tuple(chunks), short_of_blocks


def commit(tuple chunks, Py_ssize_t block_size, bint all_change):
    cdef list settled = []
    cdef Chunk chunk
    cdef Sequence sequence
    cdef Py_ssize_t held
    for chunk in chunks:
        sequence = chunk.sequence
        if sequence.phase is not RUNNING:
            continue
        held = len(sequence.table) - sequence.outside_window
        sequence.blocks_peak = max(sequence.blocks_peak, held)
        sequence.computed = chunk.start + chunk.count - chunk.drafted
        if all_change or sequence.computed // block_size != chunk.start // block_size:
            settled.append(sequence)
    return settled


def count_decoding(list running):
    cdef Py_ssize_t total = 0
    cdef Sequence sequence
    for sequence in running:
        if sequence.is_decoding():
            total += sequence.count_pending()
    return total


def most_prefilled(list running):
    cdef Py_ssize_t most = 0
    cdef Sequence sequence
    for sequence in running:
        if (
            sequence.transfer is None
            and sequence.count_pending()
            and not sequence.is_decoding()
        ):
            most = max(most, sequence.computed)
    return most


def totals(tuple chunks):
    cdef Py_ssize_t tokens = 0, decodes = 0, fresh = 0
    cdef double before = 0
    cdef Chunk chunk
    for chunk in chunks:
        tokens += chunk.count
        if chunk.is_decoding():
            decodes += 1
        else:
            fresh += chunk.count
            before += (chunk.start + (chunk.count - 1) / 2.0) * chunk.count
    return Totals(tokens, decodes, fresh, before / fresh if fresh else 0.0)
