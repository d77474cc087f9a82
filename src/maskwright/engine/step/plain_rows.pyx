"""The plain rows of a step, one after the other; what they are is in `plain_rows.pyi`."""

from typing import NamedTuple

import numpy as np

from libc.stdint cimport int32_t, uint32_t

from maskwright.engine.request.progress cimport Progress
from maskwright.engine.request.row cimport Masks, Row
from maskwright.engine.schedule.chunk cimport Chunk
from maskwright.engine.schedule.sequence cimport Sequence
from maskwright.engine.schedule.sequence import Phase
from maskwright.native cimport BUILT_FROM, const_int32s
from maskwright.native import require_built
from maskwright.sampling.chain import no_token
from maskwright.sampling.device_draw import PlainDraws
from maskwright.sampling.device_rows import RowColumns
from maskwright.sampling.draw cimport Draw, Draws
from maskwright.sampling.scores import score

require_built(__name__, BUILT_FROM)

cdef object RUNNING = Phase.RUNNING


class RowsLeft(NamedTuple):
    left: list
    failed: list
    behind: list
    settled: list


cdef class PlainRows:
    def __init__(self):
        self.rows, self.drafts, self.draws = [], [], Draws(16)

    def collect(self, tuple chunks, dict active, dict held, place):
        cdef list others = []
        cdef Chunk chunk
        cdef Py_ssize_t first = 0
        cdef object row
        self.clear()
        self.on_device = place == "device"
        for chunk in chunks:
            if chunk.samples:
                row = active.get(chunk.sequence.arrival)
                if (
                    place is not None
                    and row is not None
                    and _is_plain(<Row>row, chunk)
                    and not (self.on_device and ((<Row>row).scored or (<Row>row).masks.free))
                    and chunk.sequence.arrival not in held
                ):
                    self.enter(row, chunk, first)
                else:
                    others.append((chunk, first))
            first += chunk.count_rows()
        self.enter_unlimited()
        return others

    cdef int clear(self) except -1:
        self.rows, self.drafts, self.count = [], [], 0
        self.penalised = self.restricted = False
        self.narrowed, self.logits, self.unchanged = None, None, {}
        self.masks, self.changed, self.unlimited = [], {}, []
        self.landed = False
        return 0

    def land(self, list rows):
        cdef list others = [], tokens
        cdef Py_ssize_t place
        cdef Draw *draw
        self.clear()
        self.landed = True
        for place, (row, tokens) in enumerate(rows):
            if not (<Row>row).plain:
                others.append(place)
                continue
            self.make_room(len(tokens))
            for token in tokens:
                draw = &self.draws.each[self.count]
                draw.row, draw.token = place, token
                self.count += 1
            self.rows.append(row)
            self.drafts.append(tokens[: len(tokens) - 1] if len(tokens) > 1 else None)
        return others

    cdef int make_room(self, Py_ssize_t count) except -1:
        """Make room for so many more draws."""
        cdef Draws larger
        cdef Py_ssize_t number
        if self.count + count > self.draws.room:
            larger = Draws(2 * (self.count + count))
            for number in range(self.count):
                larger.each[number] = self.draws.each[number]
            self.draws = larger
        return 0

    cdef int enter(self, object row, Chunk chunk, Py_ssize_t first) except -1:
        """Enter a row, whose chunk's first row of logits is number `first`: one draw, and one more
        after each token of its draft."""
        cdef Row entered = <Row>row
        cdef Masks masks = entered.masks
        cdef Draw *draw
        cdef Py_ssize_t number, ahead
        first += chunk.count_rows() - 1 - chunk.drafted
        for ahead, mask in masks.free:
            if ahead <= chunk.drafted:
                self.unlimited.append((len(self.rows), ahead, self.count + ahead, mask))
        self.make_room(1 + chunk.drafted)
        for number in range(1 + chunk.drafted):
            draw = &self.draws.each[self.count]
            if number == 0 or masks is entered.free:
                draw.mask = masks.first
            else:
                draw.mask = const_int32s(masks.words[number])
            draw.fallback, draw.scored = NULL, entered.scored
            draw.row = first + number
            draw.temperature, draw.seed = entered.temperature, entered.seed
            draw.position = <uint32_t>(len(entered.sequence.tokens) + number)
            draw.top_k, draw.top_p, draw.min_p = entered.top_k, entered.top_p, entered.min_p
            if self.on_device:
                self.masks.append(masks.words[number])
                if entered.penalties is not None or entered.bans is not None:
                    self.changed[self.count] = row.sample_row(chunk.sequence.draft[:number])
            self.count += 1
        self.words = entered.words
        self.penalised = self.penalised or entered.penalties is not None
        self.restricted = self.restricted or entered.bans is not None
        self.rows.append(row)
        self.drafts.append(chunk.sequence.draft[: chunk.drafted] if chunk.drafted else None)
        return 0

    cdef int enter_unlimited(self) except -1:
        cdef Draw *draw
        self.make_room(len(self.unlimited))
        for _, _, within, mask in self.unlimited:
            draw = &self.draws.each[self.count]
            draw[0] = self.draws.each[<Py_ssize_t>within]
            draw.mask, draw.scored = const_int32s(mask), False
            self.count += 1
        return 0

    def __len__(self):
        return len(self.rows)

    @property
    def places(self):
        cdef Py_ssize_t at = 0, number
        cdef list found = []
        for row, draft in zip(self.rows, self.drafts):
            for number in range(1 if draft is None else 1 + len(draft)):
                found.append((row, number, self.draws.each[at].row))
                at += 1
        return found

    def draw(self, logits):
        self.logits = logits
        if self.penalised:
            self.penalise(logits)
        if self.restricted:
            self.restrict()
        self.draws.draw(logits, self.count, self.words)

    @property
    def device_draws(self):
        cdef Py_ssize_t number
        return PlainDraws(
            [self.draws.each[number].row for number in range(self.count)],
            RowColumns(*self.draws.columns(self.count)), self.masks, self.changed,
        )

    def take_tokens(self, list tokens):
        cdef Py_ssize_t number
        if len(tokens) != self.count:
            raise ValueError(f"{len(tokens)} tokens of {self.count} draws")
        for number in range(self.count):
            self.draws.each[number].token = tokens[number]

    cdef int penalise(self, logits) except -1:
        """Change the logits of rows with penalties or a bias."""
        cdef Py_ssize_t at = 0, number, first, count, place
        cdef Row row
        for number in range(len(self.rows)):
            row, draft = <Row>self.rows[number], self.drafts[number]
            count = 1 if draft is None else 1 + len(draft)
            if row.penalties is not None:
                first = self.draws.each[at].row
                for place in range(first, first + count if row.scored else first):
                    self.unchanged[place] = logits[place].copy()
                row.penalties.apply(row.sequence.tokens, draft or (), logits[first : first + count])
            at += count
        return 0

    cdef int restrict(self) except -1:
        """Make the masks of rows smaller that forbid tokens."""
        cdef Py_ssize_t at = 0, number, before
        self.narrowed = np.empty((self.count, 2, self.words), np.int32)
        for number in range(len(self.rows)):
            for before in range(1 if self.drafts[number] is None else 1 + len(self.drafts[number])):
                self.narrow(number, before, at)
                at += 1
        for number, before, _, _ in self.unlimited:
            self.narrow(number, before, at)
            at += 1
        return 0

    cdef int narrow(self, Py_ssize_t number, Py_ssize_t before, Py_ssize_t at) except -1:
        """Make the mask of draw number `at` smaller, of a row after so many of its draft tokens, if
        the row forbids tokens."""
        cdef int32_t[:, :, ::1] narrowed = self.narrowed
        cdef Row row = <Row>self.rows[number]
        cdef Draw *draw = &self.draws.each[at]
        if row.bans is not None:
            if row.bans.narrow_into(
                row.sequence.tokens, (self.drafts[number] or [])[:before], draw.mask, self.words,
                &narrowed[at, 0, 0], &narrowed[at, 1, 0],
            ):
                draw.fallback = &narrowed[at, 1, 0]
            draw.mask = &narrowed[at, 0, 0]
        return 0

    cdef int score(self, Row row, Py_ssize_t at, list tokens) except -1:
        """Score tokens that were drawn from number `at` on."""
        cdef Py_ssize_t number
        cdef Draw *draw
        for number in range(len(tokens)):
            draw = &self.draws.each[at + number]
            raw = self.unchanged.get(draw.row)
            row.scores.append(
                score(
                    self.logits[draw.row] if raw is None else raw, row.masks.words[number],
                    tokens[number], draw.processed, draw.support, row.params,
                )
            )
        return 0

    def go_on(self, double now, seen, counts, charge):
        cdef list left = [], failed = [], behind = [], settled = [], tokens, draft
        cdef Py_ssize_t at = 0, first, number, place, taken, sampled = 0, charged = 0, filled = 0, hits = 0
        cdef Py_ssize_t compared = 0
        cdef Row row
        cdef Sequence sequence = None, one = None
        cdef Progress record
        for number in range(len(self.rows)):
            row, draft = <Row>self.rows[number], <list>self.drafts[number]
            first, place = at, self.draws.each[at].row
            at += 1 if draft is None else 1 + len(draft)
            if self.draws.each[first].token < 0:
                failed.append((place, row, no_token(self.draws.each[first].token)))
                continue
            tokens = self.accepted(first, draft)
            if self.unlimited:
                compared = self.compare(row, number, tokens, compared)
            sequence, record = row.sequence, row.generation.record
            if draft is not None:
                if not self.landed:
                    row.judge(len(draft), _equal(draft, tokens), counts)
                if len(tokens) > 1:
                    sequence.computed += len(tokens) - 1
                    settled.append(sequence)
            record.draw(len(tokens), now, seen)
            if row.scored:
                self.score(row, first, tokens)
            row.masks = None
            if sequence.draft:
                sequence.draft = []
            sequence.tokens += tokens
            if one is not None and (sequence.rank != one.rank or sequence.client != one.client):
                charge(one, output=charged)
                charged = 0
            one = sequence
            charged += len(tokens)
            sampled += len(tokens)
            try:
                taken = row.go_on(tokens)
            except Exception as error:  # any error of a grammar ends its request alone
                failed.append((place, row, error))
                continue
            if taken < len(tokens):
                left.append((place, row, tokens[taken:]))
                continue
            if row.masks is not row.free and row.masks.rows:
                filled += row.masks.rows
                hits += row.masks.hits
                record.filled(row.masks.rows, row.masks.hits, row.masks.seconds, seen)
            if row.generation.is_behind():
                behind.append(row)
        if charged:
            charge(one, output=charged)
        counts.sampled_tokens += sampled
        counts.mask_rows += filled
        counts.mask_hits += hits
        self.clear()
        return RowsLeft(left, failed, behind, settled)

    cdef Py_ssize_t compare(
        self, Row row, Py_ssize_t number, list tokens, Py_ssize_t at
    ) except -1:
        """Note the first of the `tokens` of row `number` that the token limit has changed. Draws
        without it up to number `at` were of earlier rows; returns the number up to which they have
        been looked at."""
        cdef Py_ssize_t place, ahead, first = self.count - len(self.unlimited)
        while at < len(self.unlimited):
            place, ahead, _, _ = self.unlimited[at]
            if place > number:
                break
            if place == number and ahead < len(tokens):
                if self.draws.each[first + at].token != tokens[ahead]:
                    row.note_shortened(ahead)
            at += 1
        return at

    cdef list accepted(self, Py_ssize_t at, list draft):
        """The tokens drawn from number `at` on, up to the first that isn't the draft's: rows after
        that were computed after a token that was not drawn. A draft row without a token is sampled
        again if the text gets there."""
        cdef list tokens = [self.draws.each[at].token]
        cdef Py_ssize_t number
        if draft is not None:
            for number in range(len(draft)):
                if tokens[number] != draft[number] or self.draws.each[at + number + 1].token < 0:
                    break
                tokens.append(self.draws.each[at + number + 1].token)
        return tokens


cdef bint _is_plain(Row row, Chunk chunk) except -1:
    """Whether a row can be drawn here: nothing about it is rare in this step."""
    cdef Sequence sequence = chunk.sequence
    return (
        row.plain
        and not (chunk.drafted and sequence.by_model)
        and row.masks is not None
        and sequence.count_pending() == 0
        and sequence.phase is RUNNING
    )


cdef Py_ssize_t _equal(list draft, list tokens) except -1:
    """How many tokens of a draft were drawn; after the first other one, nothing was."""
    cdef Py_ssize_t last = len(tokens) - 1
    return last + (last < <Py_ssize_t>len(draft) and tokens[last] == draft[last])
