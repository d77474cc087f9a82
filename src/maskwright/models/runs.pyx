"""What the classes and functions are is said in `runs.pyi`."""

from typing import NamedTuple

import numpy as np

from libc.stdint cimport int64_t

from maskwright.kernels.reference import ROW_MULTIPLE, Span
from maskwright.native cimport BUILT_FROM
from maskwright.native import require_built

require_built(__name__, BUILT_FROM)

cdef Py_ssize_t MULTIPLE = ROW_MULTIPLE


class StepRows(NamedTuple):
    tokens: object
    positions: object
    blocks: object
    offsets: object
    select: object
    selected: int
    spans: list


class CompiledPlan(NamedTuple):
    positions: object
    starts: object
    tables: object


cdef class Run:
    def __init__(self, tokens, Py_ssize_t start, table, Py_ssize_t rows, adapter=None):
        self.tokens = tokens if type(tokens) is list else list(tokens)
        self.table = table if type(table) is list else list(table)
        self.start, self.rows, self.adapter = start, rows, adapter


def step_rows(runs, Py_ssize_t block_size):
    cdef Py_ssize_t real = 0, selected = 0, row = 0, chosen = 0, position, number, count
    cdef Py_ssize_t padded, first
    cdef list spans = []
    cdef Run run
    for run in runs:
        count = len(run.tokens)
        if not (0 <= run.start and run.start + count <= len(run.table) * block_size):
            raise IndexError("a run goes on after the end of its blocks")
        real += count
        selected += min(run.rows, count)
    padded = _padded(real)
    # One piece of memory, since that is made and cleared once.
    numbers = np.zeros(2 * padded + 2 * real + _padded(selected), np.int64)
    cdef int64_t[::1] to = numbers
    cdef Py_ssize_t positions = padded, blocks = 2 * padded, offsets = blocks + real
    cdef Py_ssize_t select = offsets + real
    for run in runs:
        count, first = len(run.tokens), row
        spans.append(Span(row, run.start, count, run.table))
        for number in range(count):
            position = run.start + number
            to[row] = run.tokens[number]
            to[positions + row] = position
            to[blocks + row] = run.table[position // block_size]
            to[offsets + row] = position % block_size
            row += 1
        for number in range(max(first, row - run.rows), row):
            to[select + chosen] = number
            chosen += 1
    return StepRows(
        numbers[:padded], numbers[positions:blocks], numbers[blocks:offsets],
        numbers[offsets:select], numbers[select:], selected, spans,
    )


cdef Py_ssize_t _padded(Py_ssize_t count) noexcept:
    return (count + MULTIPLE - 1) // MULTIPLE * MULTIPLE


def plan_compiled(spans, Py_ssize_t block_size):
    cdef Py_ssize_t rows = 0, blocks = 0, row = 0, at = 0, number, first, start, count, own
    cdef list table
    for span in spans:
        count = span.count
        rows += count
        blocks += (<Py_ssize_t>span.start + count - 1) // block_size + 1
    numbers = np.empty(2 * rows + blocks, np.int64)
    cdef int64_t[::1] to = numbers
    cdef Py_ssize_t starts = rows, tables = 2 * rows
    for span in spans:
        start, count = span.start, span.count
        table = span.table if type(span.table) is list else list(span.table)
        own = (start + count - 1) // block_size + 1
        if own > len(table):
            raise IndexError("a span goes on after the end of its blocks")
        for number in range(count):
            to[row] = start + number
            to[starts + row] = at
            row += 1
        for number in range(own):
            to[tables + at] = table[number]
            at += 1
    return CompiledPlan(numbers[:rows], numbers[starts:tables], numbers[tables:])
