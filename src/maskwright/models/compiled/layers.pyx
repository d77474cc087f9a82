# distutils: extra_compile_args = -pthread
# distutils: extra_link_args = -pthread
"""The loops over rows, heads and blocks; vectors and the order of sums are in `kernels.h`."""

import math
from collections import namedtuple

from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy, memset

import numpy as np

from maskwright.native cimport BUILT_FROM
from maskwright.instructions import NUMBER
from maskwright.native import require_built

require_built(__name__, BUILT_FROM)

cdef extern from "instructions.h":
    pass

cdef extern from "models/compiled/kernels.h":
    enum:
        ROWS_OF_A_TILE "ROWS"
        PARTIAL
        LINE

    struct heads_t "heads":
        Py_ssize_t count, group, kv_heads, width

    struct ahead_t "ahead":
        const float *begin
        Py_ssize_t count

    struct kernels:
        int columns
        void (*multiply)(
            const float *x, Py_ssize_t rows, Py_ssize_t inputs, const float *packed,
            Py_ssize_t outputs, const float *bias, float *out, const float *then,
        ) noexcept nogil
        void (*add_and_norm)(
            float *hidden, const float *update, const float *weight, Py_ssize_t width, float eps,
            float *out,
        ) noexcept nogil
        void (*norm)(
            const float *row, const float *weight, Py_ssize_t width, float eps, float *out,
        ) noexcept nogil
        void (*silu_multiply)(
            const float *gate, const float *up, Py_ssize_t width, float *out,
        ) noexcept nogil
        void (*rotate)(
            float *head, Py_ssize_t width, const float *cos, const float *sin,
        ) noexcept nogil
        void (*score)(
            heads_t heads, const float *queries, const float *keys, Py_ssize_t rows, float *scores,
            Py_ssize_t room, ahead_t next, ahead_t values,
        ) noexcept nogil
        float (*soften)(
            float *scores, Py_ssize_t first, Py_ssize_t end, float scale,
        ) noexcept nogil
        void (*mix)(
            heads_t heads, const float *weights, Py_ssize_t room, const float *values,
            Py_ssize_t rows, float *out, ahead_t next,
        ) noexcept nogil
        void (*divide)(float *numbers, Py_ssize_t width, float divisor) noexcept nogil
        void (*exp)(const float *x, Py_ssize_t count, float *out) noexcept nogil

    const kernels *const KERNEL_SETS[]

cdef extern from "models/compiled/thread_pool.h" nogil:
    enum:
        MOST_THREADS

    ctypedef void (*work_on)(void *job, Py_ssize_t piece, Py_ssize_t thread) noexcept nogil
    void share_pieces(work_on work, void *job, Py_ssize_t pieces, Py_ssize_t threads)
    void say_done(int64_t *count, int64_t done)
    void wait_for(const int64_t *count, int64_t done)
    void forget_threads_in_forks()

cdef const kernels *chosen = KERNEL_SETS[<Py_ssize_t>NUMBER]

# Blocks of the next row whose keys are fetched: they and the present row's values have to stay in
# the cache of a core.
cdef enum:
    MOST_FETCHED = 64

ROWS = ROWS_OF_A_TILE
COLUMNS = chosen.columns

cdef enum Stage:
    STAGE_QKV
    STAGE_ROTATE
    STAGE_ATTEND
    STAGE_OUTPUT
    STAGE_GATE_UP
    STAGE_DOWN
    STAGE_COUNT

QKV, ROTATE, ATTEND, OUTPUT, GATE_UP, DOWN, STAGES = range(STAGE_COUNT + 1)


LayerRows = namedtuple(
    "LayerRows",
    "hidden update normed qkv qkv_heads mixed mixed_heads gate_up inner",
    module=__name__,
)


cdef class LayerWeights:
    cdef const float[:, ::1] input_norm, qkv_bias, query_norm, key_norm, output_bias
    cdef const float[:, ::1] mlp_norm, gate_up_bias, down_bias, cos, sin
    cdef const float[:, :, :, ::1] qkv, output, gate_up, down
    cdef const int64_t[::1] window
    cdef float eps, scale

    def __init__(
        self, *, const float[:, ::1] input_norm, const float[:, :, :, ::1] qkv,
        const float[:, ::1] qkv_bias, const float[:, ::1] query_norm,
        const float[:, ::1] key_norm, const float[:, :, :, ::1] output,
        const float[:, ::1] output_bias, const float[:, ::1] mlp_norm,
        const float[:, :, :, ::1] gate_up, const float[:, ::1] gate_up_bias,
        const float[:, :, :, ::1] down, const float[:, ::1] down_bias,
        const int64_t[::1] window, const float[:, ::1] cos, const float[:, ::1] sin,
        float eps, float scale,
    ):
        self.input_norm, self.mlp_norm = input_norm, mlp_norm
        self.qkv, self.output, self.gate_up, self.down = qkv, output, gate_up, down
        self.qkv_bias, self.output_bias = qkv_bias, output_bias
        self.gate_up_bias, self.down_bias = gate_up_bias, down_bias
        self.query_norm, self.key_norm = query_norm, key_norm
        self.window, self.cos, self.sin = window, cos, sin
        self.eps, self.scale = eps, scale

    @property
    def nbytes(self):
        return self.qkv.nbytes + self.output.nbytes + self.gate_up.nbytes + self.down.nbytes


# Rows in pieces, which several threads take

# The rows of a piece: about so many, and no fewer than the least. The fewer they are, the longer
# each takes, since every piece reads all weights.
cdef enum:
    ROWS_OF_A_PIECE = 16
    LEAST_ROWS = 8

cdef Py_ssize_t threads_of_a_job = 1

forget_threads_in_forks()


def set_threads(Py_ssize_t threads):
    global threads_of_a_job
    if threads < 1:
        raise ValueError(f"{threads} threads, which is less than 1")
    threads_of_a_job = min(threads, MOST_THREADS)


cdef class Job:
    """Work on `rows` rows, in one piece unless it is divided."""

    cdef Py_ssize_t rows, pieces, threads

    def __cinit__(self):
        self.pieces = self.threads = 1

    cdef void divide(self) noexcept:
        """Choose pieces of equal size, and as many for each thread."""
        cdef Py_ssize_t each = max(1, self.rows // (threads_of_a_job * ROWS_OF_A_PIECE))
        if threads_of_a_job > 1:
            self.threads = threads_of_a_job
            self.pieces = max(1, min(self.threads * each, self.rows // LEAST_ROWS))

    cdef Py_ssize_t first(self, Py_ssize_t piece) noexcept nogil:
        """The first row of a piece; of the number of pieces, the number of rows."""
        return piece * (self.rows // ROWS_OF_A_TILE) // self.pieces * ROWS_OF_A_TILE

    cdef void work(self, Py_ssize_t piece, Py_ssize_t thread) noexcept nogil:
        pass

    cdef void run(self) noexcept:
        with nogil:
            share_pieces(<work_on><void *>_work, <void *>self, self.pieces, self.threads)


cdef void _work(Job job, Py_ssize_t piece, Py_ssize_t thread) noexcept nogil:
    job.work(piece, thread)


# Layers


cdef class Stages(Job):
    cdef Py_ssize_t begin, end
    cdef LayerWeights weights
    cdef float[:, ::1] hidden, update, normed, qkv, mixed, gate_up, inner
    cdef float[:, :, ::1] qkv_heads, mixed_heads
    cdef float[:, :, :, :, :, ::1] pool
    cdef const int64_t[::1] positions, starts, tables
    # For each thread the scores of a query, and for each piece the layers whose keys are stored.
    cdef float[:, :, ::1] scores
    cdef int64_t[::1] stored

    cdef void work(self, Py_ssize_t piece, Py_ssize_t thread) noexcept nogil:
        self.run_rows(self.weights, piece, thread)

    cdef void run_rows(
        self, LayerWeights weights, Py_ssize_t piece, Py_ssize_t thread
    ) noexcept nogil:
        cdef Py_ssize_t low = self.first(piece), high = self.first(piece + 1)
        cdef Py_ssize_t real = min(high, self.positions.shape[0]), layers = weights.qkv.shape[0]
        cdef Py_ssize_t number, stage, layer
        cdef float[:, ::1] hidden = self.hidden[low:high], update = self.update[low:high]
        cdef float[:, ::1] normed = self.normed[low:high], qkv = self.qkv[low:high]
        cdef float[:, ::1] mixed = self.mixed[low:high], gate_up = self.gate_up[low:high]
        cdef float[:, ::1] inner = self.inner[low:high]
        cdef float[:, :, ::1] qkv_heads = self.qkv_heads[low:high]
        cdef float[:, :, ::1] mixed_heads = self.mixed_heads[low:high]
        cdef const int64_t[::1] positions = self.positions[low:real]
        cdef const int64_t[::1] starts = self.starts[low:real]
        for number in range(self.begin, self.end):
            layer = number // STAGE_COUNT
            stage = number % STAGE_COUNT
            if stage == STAGE_QKV:
                _add_and_norm(hidden, update, weights.input_norm[layer], weights.eps, normed)
                _multiply(
                    normed, weights.qkv[layer], weights.qkv_bias[layer], qkv,
                    &weights.output[layer, 0, 0, 0],
                )
            elif stage == STAGE_ROTATE:
                _rotate(qkv_heads, mixed_heads.shape[1], weights, layer, positions)
            elif stage == STAGE_ATTEND:
                _store(qkv_heads, self.pool, layer, positions, starts, self.tables)
                self.wait_for_store(piece, low, layer)
                _attend(
                    qkv_heads, self.pool, layer, positions, starts, self.tables, weights.scale,
                    weights.window[layer], self.scores[thread], mixed_heads,
                )
            elif stage == STAGE_OUTPUT:
                _multiply(
                    mixed, weights.output[layer], weights.output_bias[layer], update,
                    &weights.gate_up[layer, 0, 0, 0],
                )
            elif stage == STAGE_GATE_UP:
                _add_and_norm(hidden, update, weights.mlp_norm[layer], weights.eps, normed)
                _multiply(
                    normed, weights.gate_up[layer], weights.gate_up_bias[layer], gate_up,
                    &weights.down[layer, 0, 0, 0],
                )
            else:
                _silu_multiply(gate_up, inner)
                _multiply(
                    inner, weights.down[layer], weights.down_bias[layer], update,
                    &weights.qkv[layer + 1, 0, 0, 0] if layer + 1 < layers else NULL,
                )

    cdef void wait_for_store(
        self, Py_ssize_t piece, Py_ssize_t low, Py_ssize_t layer
    ) noexcept nogil:
        """Wait until the piece before has stored its keys and values, if the first sequence of this
        one begins there, or before it."""
        if piece and low < self.starts.shape[0] and self.starts[low] == self.starts[low - 1]:
            wait_for(&self.stored[piece - 1], layer + 1)
        say_done(&self.stored[piece], layer + 1)


def run_stages(
    Py_ssize_t first, Py_ssize_t end, LayerWeights weights not None, rows,
    float[:, :, :, :, :, ::1] pool, const int64_t[::1] positions, const int64_t[::1] starts,
    const int64_t[::1] tables,
):
    cdef Stages job = Stages()
    job.begin, job.end, job.weights = first, end, weights
    job.hidden, job.update, job.normed = rows.hidden, rows.update, rows.normed
    job.qkv, job.qkv_heads = rows.qkv, rows.qkv_heads
    job.mixed, job.mixed_heads = rows.mixed, rows.mixed_heads
    job.gate_up, job.inner = rows.gate_up, rows.inner
    job.positions, job.starts, job.tables = positions, starts, tables
    job.rows = job.hidden.shape[0]
    if end - first > STAGE_COUNT:  # a single stage takes no longer than waking threads
        job.divide()
    if pool is not None:
        job.pool = pool
        job.scores = _scores(job.threads, job.mixed_heads, positions, pool.shape[3])
        job.stored = np.zeros(job.pieces, np.int64)
    job.run()


# Products and operations on rows


def pack(weights):
    outputs, inputs = weights[0].shape
    panels = -(-outputs // COLUMNS)
    packed = _empty((len(weights), panels, inputs, COLUMNS))
    for weight, home in zip(weights, packed):
        padded = np.zeros((panels * COLUMNS, inputs), np.float32)
        padded[:outputs] = weight
        home[:] = padded.reshape(panels, COLUMNS, inputs).transpose(0, 2, 1)
    return packed


def _empty(shape):
    """An array whose rows begin where a line of the cache does, if they are whole lines."""
    count = math.prod(shape)
    room = np.empty(count + LINE, np.float32)
    skipped = -(room.ctypes.data // room.itemsize) % int(LINE)
    return room[skipped : skipped + count].reshape(shape)


cdef class Product(Job):
    cdef const float[:, ::1] x
    cdef const float[:, :, ::1] packed
    cdef const float[::1] bias
    cdef float[:, ::1] out

    cdef void work(self, Py_ssize_t piece, Py_ssize_t thread) noexcept nogil:
        cdef Py_ssize_t low = self.first(piece), high = self.first(piece + 1)
        _multiply(self.x[low:high], self.packed, self.bias, self.out[low:high], NULL)


def multiply(
    const float[:, ::1] x, const float[:, :, ::1] packed, const float[::1] bias, float[:, ::1] out
):
    if x.shape[0] % ROWS_OF_A_TILE or x.shape[0] != out.shape[0]:
        raise ValueError(f"{x.shape[0]} rows, which is not a multiple of {ROWS_OF_A_TILE}")
    cdef Product job = Product()
    job.x, job.packed, job.bias, job.out, job.rows = x, packed, bias, out, x.shape[0]
    job.divide()
    job.run()


def add_and_norm(
    float[:, ::1] hidden, const float[:, ::1] update, const float[::1] weight, float eps,
    float[:, ::1] normed,
):
    with nogil:
        _add_and_norm(hidden, update, weight, eps, normed)


def silu_multiply(const float[:, ::1] gate_up, float[:, ::1] out):
    with nogil:
        _silu_multiply(gate_up, out)


def exp(const float[::1] x, float[::1] out):
    with nogil:
        if x.shape[0]:
            chosen.exp(&x[0], x.shape[0], &out[0])


cdef void _multiply(
    const float[:, ::1] x, const float[:, :, ::1] packed, const float[::1] bias, float[:, ::1] out,
    const float *then,
) noexcept nogil:
    if x.shape[0]:
        chosen.multiply(
            &x[0, 0], x.shape[0], x.shape[1], &packed[0, 0, 0], out.shape[1],
            &bias[0] if bias.shape[0] else NULL, &out[0, 0], then,
        )


cdef void _add_and_norm(
    float[:, ::1] hidden, const float[:, ::1] update, const float[::1] weight, float eps,
    float[:, ::1] normed,
) noexcept nogil:
    cdef Py_ssize_t row
    for row in range(hidden.shape[0]):
        chosen.add_and_norm(
            &hidden[row, 0], &update[row, 0], &weight[0], weight.shape[0], eps, &normed[row, 0]
        )


cdef void _silu_multiply(const float[:, ::1] gate_up, float[:, ::1] out) noexcept nogil:
    cdef Py_ssize_t row, width = out.shape[1]
    for row in range(out.shape[0]):
        chosen.silu_multiply(&gate_up[row, 0], &gate_up[row, width], width, &out[row, 0])


cdef void _rotate(
    float[:, :, ::1] qkv, Py_ssize_t heads, LayerWeights weights, Py_ssize_t layer,
    const int64_t[::1] positions,
) noexcept nogil:
    """Norm, if there are weights of one, and rope of queries and keys."""
    cdef Py_ssize_t row, head, width = qkv.shape[2], kv_heads = (qkv.shape[1] - heads) // 2
    cdef int64_t position
    cdef bint normed = weights.query_norm.shape[1] != 0
    cdef float *mine
    cdef const float *weight
    for row in range(positions.shape[0]):
        position = positions[row]
        for head in range(heads + kv_heads):
            mine = &qkv[row, head, 0]
            if normed:
                weight = (
                    &weights.query_norm[layer, 0] if head < heads else &weights.key_norm[layer, 0]
                )
                chosen.norm(mine, weight, width, weights.eps, mine)
            chosen.rotate(mine, width, &weights.cos[position, 0], &weights.sin[position, 0])


# Attention


def store(
    const float[:, :, ::1] qkv, float[:, :, :, :, :, ::1] pool, Py_ssize_t layer,
    const int64_t[::1] positions, const int64_t[::1] starts, const int64_t[::1] tables,
):
    with nogil:
        _store(qkv, pool, layer, positions, starts, tables)


def attend(
    const float[:, :, ::1] qkv, const float[:, :, :, :, :, ::1] pool, Py_ssize_t layer,
    const int64_t[::1] positions, const int64_t[::1] starts, const int64_t[::1] tables,
    float scale, Py_ssize_t window, float[:, :, ::1] out,
):
    cdef float[:, ::1] scores = _scores(1, out, positions, pool.shape[3])[0]
    with nogil:
        _attend(qkv, pool, layer, positions, starts, tables, scale, window, scores, out)


def attend_codes(
    const float[:, :, ::1] qkv, const uint8_t[:, :, :, :, :, ::1] codes,
    const float[:, :, :, :, ::1] scales, const float[::1] levels, Py_ssize_t layer,
    const int64_t[::1] positions, const int64_t[::1] starts, const int64_t[::1] tables,
    float scale, Py_ssize_t window, float[:, :, ::1] out,
):
    cdef Py_ssize_t size = codes.shape[3], count = positions.shape[0]
    cdef float[:, ::1] scores = _scores(1, out, positions, size)[0]
    cdef Py_ssize_t blocks = scores.shape[1] // size + 1
    # The numbers of one sequence: blocks in order, as of a pool of one layer.
    cdef float[:, :, :, :, :, ::1] numbers = np.empty(
        (blocks, 1, 2, size, codes.shape[4], codes.shape[5]), np.float32
    )
    cdef const int64_t[::1] in_order = np.arange(blocks), zeros = np.zeros(count, np.int64)
    cdef Py_ssize_t row = 0, end, number, seen
    cdef blocks_t nothing
    nothing.first, nothing.count = NULL, 0
    with nogil:
        while row < count:
            end = row + 1
            while end < count and starts[end] == starts[row]:
                end += 1
            seen = max(0, positions[row] + 1 - window) if window else 0
            for number in range(seen // size, positions[end - 1] // size + 1):
                _decode(codes, scales, levels, tables[starts[row] + number], layer, number, numbers)
            while row < end:
                _attend_row(
                    &qkv[row, 0, 0], numbers, 0, positions[row],
                    _blocks(positions, zeros, in_order, row, window, size), 0, scale, window,
                    scores, &out[row, 0, 0], nothing,
                )
                row += 1


cdef void _store(
    const float[:, :, ::1] qkv, float[:, :, :, :, :, ::1] pool, Py_ssize_t layer,
    const int64_t[::1] positions, const int64_t[::1] starts, const int64_t[::1] tables,
) noexcept nogil:
    cdef Py_ssize_t size = pool.shape[3], stride = pool.shape[4] * pool.shape[5]
    cdef Py_ssize_t keys = qkv.shape[1] - 2 * pool.shape[4], values = qkv.shape[1] - pool.shape[4]
    cdef Py_ssize_t row, at
    cdef int64_t block
    for row in range(positions.shape[0]):
        block = tables[starts[row] + positions[row] // size]
        at = positions[row] % size
        memcpy(&pool[block, layer, 0, at, 0, 0], &qkv[row, keys, 0], stride * sizeof(float))
        memcpy(&pool[block, layer, 1, at, 0, 0], &qkv[row, values, 0], stride * sizeof(float))


cdef void _attend(
    const float[:, :, ::1] qkv, const float[:, :, :, :, :, ::1] pool, Py_ssize_t layer,
    const int64_t[::1] positions, const int64_t[::1] starts, const int64_t[::1] tables,
    float scale, Py_ssize_t window, float[:, ::1] scores, float[:, :, ::1] out,
) noexcept nogil:
    cdef Py_ssize_t row, count = positions.shape[0], size = pool.shape[3], fetched = 0
    cdef blocks_t mine, then = _blocks(positions, starts, tables, 0, window, size)
    for row in range(count):
        mine, then = then, _blocks(positions, starts, tables, row + 1, window, size)
        fetched = _attend_row(
            &qkv[row, 0, 0], pool, layer, positions[row], mine, fetched, scale, window, scores,
            &out[row, 0, 0], then,
        )


cdef _scores(
    Py_ssize_t threads, const float[:, :, ::1] out, const int64_t[::1] positions, Py_ssize_t size
):
    """Room for the scores of one query's heads in each thread: whole blocks, and the numbers after
    them that are read with the last; the sum of a head's weights comes last."""
    cdef Py_ssize_t row, last = 0
    for row in range(positions.shape[0]):
        last = max(last, positions[row])
    room = (last // size + 1) * size + PARTIAL + 1
    return np.empty((threads, out.shape[1], room), np.float32)


cdef struct blocks_t:
    # The numbers of the blocks that a query reads.
    const int64_t *first
    Py_ssize_t count


cdef blocks_t _blocks(
    const int64_t[::1] positions, const int64_t[::1] starts, const int64_t[::1] tables,
    Py_ssize_t row, Py_ssize_t window, Py_ssize_t size,
) noexcept nogil:
    """The blocks of a row; none after the last row."""
    cdef blocks_t blocks
    cdef Py_ssize_t begin
    blocks.first, blocks.count = NULL, 0
    if row < positions.shape[0]:
        begin = max(0, positions[row] + 1 - window) // size if window else 0
        blocks.first = &tables[starts[row] + begin]
        blocks.count = positions[row] // size + 1 - begin
    return blocks


cdef Py_ssize_t _attend_row(
    const float *qkv, const float[:, :, :, :, :, ::1] pool, Py_ssize_t layer, int64_t position,
    blocks_t blocks, Py_ssize_t fetched, float scale, Py_ssize_t window, float[:, ::1] scores,
    float *out, blocks_t then,
) noexcept nogil:
    """The attention of one query, `qkv` `[heads + 2 * kv_heads, head_dim]`: `out`
    `[heads, head_dim]`. Scoring keys fetches the values, and mixing values fetches the keys of the
    next row, whose blocks are `then`: so memory is read all the time. `fetched`: the number of this
    row's blocks for which this was done; returns that of the next row."""
    cdef Py_ssize_t size = pool.shape[3], room = scores.shape[1]
    cdef Py_ssize_t half = size * pool.shape[4] * pool.shape[5]
    cdef Py_ssize_t end = position + 1, first = max(0, end - window) if window else 0
    cdef Py_ssize_t begin = first // size, number, head, low, count
    cdef Py_ssize_t fetches = min(blocks.count, then.count, MOST_FETCHED)
    cdef ahead_t next, values
    cdef heads_t heads
    cdef const float *block
    heads.count, heads.kv_heads, heads.width = scores.shape[0], pool.shape[4], pool.shape[5]
    heads.group = heads.count // heads.kv_heads
    for number in range(blocks.count):
        count = min(size, end - (begin + number) * size)
        block = &pool[blocks.first[number], layer, 0, 0, 0, 0]
        values.begin, values.count = block + half, half
        next.begin, next.count = NULL, 0
        if fetched <= number + 1 < blocks.count:
            next.begin, next.count = &pool[blocks.first[number + 1], layer, 0, 0, 0, 0], half
        chosen.score(heads, qkv, block, count, &scores[0, number * size], room, next, values)
    for head in range(heads.count):
        scores[head, room - 1] = chosen.soften(
            &scores[head, 0], first - begin * size, end - begin * size, scale
        )
    memset(out, 0, heads.count * heads.width * sizeof(float))
    for number in range(blocks.count):
        low = max(first - (begin + number) * size, 0)
        count = min(size, end - (begin + number) * size) - low
        next.begin, next.count = NULL, 0
        if number < fetches:
            next.begin, next.count = &pool[then.first[number], layer, 0, 0, 0, 0], half
        chosen.mix(
            heads, &scores[0, number * size + low], room,
            &pool[blocks.first[number], layer, 1, low, 0, 0], count, out, next,
        )
    for head in range(heads.count):
        chosen.divide(out + head * heads.width, heads.width, scores[head, room - 1])
    return fetches


cdef void _decode(
    const uint8_t[:, :, :, :, :, ::1] codes, const float[:, :, :, :, ::1] scales,
    const float[::1] levels, int64_t block, Py_ssize_t layer, Py_ssize_t number,
    float[:, :, :, :, :, ::1] numbers,
) noexcept nogil:
    """Decode the keys and values of `block` in one layer to `numbers[number, 0]`."""
    cdef Py_ssize_t part, at, head, d
    cdef float scale
    for part in range(2):
        for at in range(codes.shape[3]):
            for head in range(codes.shape[4]):
                scale = scales[block, layer, part, at, head]
                for d in range(codes.shape[5]):
                    numbers[number, 0, part, at, head, d] = (
                        levels[codes[block, layer, part, at, head, d]] * scale
                    )
