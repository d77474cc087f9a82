"""What the scheduler does for each sequence of a step; see `batch_work.pyi`."""

from typing import NamedTuple

from maskwright.engine.schedule.chunk cimport Chunk
from maskwright.engine.schedule.sequence cimport Sequence
from maskwright.engine.schedule.sequence import Phase
from maskwright.engine.schedule.step_time import FIXED_ROWS
from maskwright.native cimport BUILT_FROM
from maskwright.native import require_built

require_built(__name__, BUILT_FROM)

RECOVERY = 0.01


class Totals(NamedTuple):
    tokens: int
    decodes: int
    prompt_tokens: int
    prompt_position: float

cdef object RUNNING = Phase.RUNNING
cdef double FIXED = FIXED_ROWS
cdef double RECOVERED = RECOVERY


def decode(list running, step, Py_ssize_t block_size, pool, room):
    cdef list short = []
    cdef dict counts = step.counts, drafts = step.drafts
    cdef Sequence sequence
    cdef Py_ssize_t budget = step.budget, left, count, end, missing
    for sequence in running:
        if sequence.is_decoding():
            short.append(sequence)
    left = len(short)
    for sequence in short:
        left -= 1
        if not budget or sequence.phase is not RUNNING:
            continue
        count = min(sequence.count_pending(), max(<Py_ssize_t>1, budget - left))
        if _missing(sequence, count, block_size) > 0 and not room(sequence, count, step):
            continue
        counts[sequence] = count
        budget -= count
        if sequence.scored < sequence.to_score:
            step.scorable -= count
    for sequence in short:
        count = min(<Py_ssize_t>len(sequence.draft), budget)
        if not count:
            continue
        if not _pays(sequence, len(short)):
            continue
        end = sequence.count_pending()
        if counts.get(sequence) != end:
            continue
        end += count
        missing = _missing(sequence, end, block_size)
        if missing + step.promised > pool.free:
            continue
        if missing <= 0 or room(sequence, end, step):
            drafts[sequence] = count
            budget -= count
    step.budget = budget


def draft_pays(list running):
    cdef Sequence sequence
    for sequence in running:
        if sequence.draft and _pays(sequence, len(running)):
            return True
    return False


cdef bint _pays(Sequence sequence, Py_ssize_t decoding):
    """Whether the draft of a sequence is to be tried, of so many that decode. An accepted draft
    token saves a row and the sequence's part of the fixed cost of a step; a rejected one costs a
    row. So the more sequences decode, the higher the acceptance rate has to be."""
    if sequence.by_model or sequence.acceptance * (1 + FIXED / decoding) >= 1:
        return True
    sequence.acceptance += RECOVERED
    return False


cdef Py_ssize_t _missing(Sequence sequence, Py_ssize_t count, Py_ssize_t block_size) noexcept:
    """Blocks that must be allocated before `count` more tokens can be computed."""
    cdef Py_ssize_t positions = sequence.computed + count
    return (positions + block_size - 1) // block_size - <Py_ssize_t>len(sequence.table)


def has_more(list running, dict counts):
    cdef Sequence sequence
    for sequence in running:
        if sequence.count_pending() > counts.get(sequence, 0):
            return True
    return False


def chunks_of(dict counts, dict drafts):
    cdef list chunks = []
    cdef Sequence sequence
    cdef Py_ssize_t count, drafted, scored
    for sequence, planned in counts.items():
        count, drafted, scored = planned, drafts.get(sequence, 0) if drafts else 0, 0
        if sequence.scored < sequence.to_score:
            scored = sequence.computed + count - max(sequence.computed, sequence.scored)
            scored = max(<Py_ssize_t>0, scored)
        chunks.append(
            Chunk(
                sequence, sequence.computed, count + drafted, count == sequence.count_pending(),
                drafted, scored,
            )
        )
    return tuple(chunks)


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
