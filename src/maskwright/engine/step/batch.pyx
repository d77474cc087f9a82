"""What a run is made of is said in `batch.pyi`."""

from maskwright.engine.schedule.chunk cimport Chunk
from maskwright.engine.schedule.sequence cimport Sequence
from maskwright.models.runs cimport Run
from maskwright.native cimport BUILT_FROM
from maskwright.native import require_built

require_built(__name__, BUILT_FROM)


def build_runs(chunks, adapters=None):
    cdef list runs = [], tokens
    cdef Chunk chunk
    cdef Sequence sequence
    for chunk in chunks:
        sequence = chunk.sequence
        tokens = sequence.tokens[chunk.start : chunk.start + chunk.count - chunk.drafted]
        if chunk.drafted:
            tokens += sequence.draft[: chunk.drafted]
        named = sequence.adapter
        adapter = None if named is None or adapters is None else adapters[named]
        runs.append(Run(tokens, chunk.start, sequence.table, chunk.count_rows(), adapter))
    return runs
