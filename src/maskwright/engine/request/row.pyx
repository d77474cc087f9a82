"""What most requests do in most steps: take one token that asks for nothing rare."""

from maskwright.engine.request.drafts cimport LookBack
from maskwright.engine.request.emission cimport Emitter
from maskwright.engine.request.mailbox cimport Mailbox
from maskwright.engine.schedule.sequence cimport Sequence
from maskwright.mask.position cimport Position, PositionPath
from maskwright.native cimport BUILT_FROM, const_int32s
from maskwright.native import require_built
from maskwright.processes.text_path cimport BudgetRow, KnownPosition, TextPath
from maskwright.sampling.bans cimport Bans
from maskwright.sampling.chain import divisor
from maskwright.sampling.penalties cimport Penalties

require_built(__name__, BUILT_FROM)


cdef class Masks:
    def __init__(
        self, tuple words, Py_ssize_t rows=0, Py_ssize_t hits=0, double seconds=0,
        tuple places=(), tuple free=(),
    ):
        self.words, self.places, self.free = words, places, free
        self.rows, self.hits, self.seconds = rows, hits, seconds
        self.first = const_int32s(words[0])


cdef class Row:
    def __init__(
        self, request, generation, sequence, matcher, free_words, eos, stop_tokens, texts, emitter,
        canonical, drafter,
    ):
        params = request.params
        self.generation, self.sequence, self.matcher = generation, sequence, matcher
        self.eos, self.stop_tokens, self.texts = eos, stop_tokens, texts
        self.emitter, self.drafter = emitter, drafter
        self.is_local = _knows_by_position(matcher)
        self.plain = (
            not request.trace
            and (drafter is None or isinstance(drafter, LookBack))
            and (
                matcher is None
                # Without canonical text, what the grammar forces is drafted.
                or (
                    (self.is_local or isinstance(matcher, TextPath))
                    and (canonical or drafter is None)
                )
            )
        )
        self.most = request.max_tokens
        self.seed = generation.seed
        self.temperature = divisor(params)
        if params.penalised:
            self.penalties = Penalties(params, sequence.prompt_length)
        if params.restricts:
            self.bans = Bans(params, sequence.prompt_length, eos, stop_tokens)
        self.params, self.scored, self.scores = params, params.logprobs is not None, []
        self.least, self.writes = params.min_tokens, canonical and not params.forbids
        self.top_k, self.top_p, self.min_p = params.top_k, params.top_p, params.min_p
        self.free, self.words = Masks((free_words,)), len(free_words)
        self._run, self._unsent, self._missed, self._text = [], [], (), ""

    cdef Py_ssize_t go_on(self, list tokens) except -1:
        """Take tokens that were drawn, which the sequence holds already, then draft what may come
        next and look its masks up. Returns how many were taken, and stops before one that takes
        more than a look at what is known; then there are no masks yet."""
        cdef Py_ssize_t taken = 0
        if self._run or self._missed or self._cuts or self._text:
            return 0
        for token in tokens:
            if not self.take(token):
                return taken
            taken += 1
        self.look_up()
        return taken

    cdef bint take(self, token) except -1:
        cdef Py_ssize_t left = self.most - self._digested - 1
        cdef KnownPosition here
        cdef Position local
        cdef str text
        if left < 1 or self._closed or token in self.eos or token in self.stop_tokens:
            return False
        if self.is_local:
            local = (<PositionPath>self.matcher).found_at_once(token)
            if local is None or not self.is_open(local, left):
                return False
        elif self.matcher is not None:
            here = (<TextPath>self.matcher).known_after(token)
            if here is None or not self.suffices(here, left):
                return False
        if self._digested < self.least:
            text = self.emitter.push_bytes(<bytes>self.texts[token], False)
        else:
            text = self.emitter.push_if_goes_on(<bytes>self.texts[token])
        if text is None:
            return False
        if self.is_local:
            (<PositionPath>self.matcher).move(token, local)
        elif self.matcher is not None:
            (<TextPath>self.matcher).move(token, here)
        self._digested += 1
        self._last = token
        self.publish_text(text, token)
        return True

    cdef int look_up(self) except -1:
        """Draft tokens, and set the masks of the next token and of those after the draft."""
        cdef Py_ssize_t left = self.most - self._digested
        cdef KnownPosition here = None, following
        cdef list guesses = [], draft = [], rows = [], frees = []
        if self.drafter is not None and left > 1:
            guesses = (<LookBack>self.drafter).following(self.sequence.tokens)[: left - 1]
        if self.is_local:
            return self.look_up_here(left, guesses)
        if self.matcher is not None:
            here = (<TextPath>self.matcher).last()
        if not guesses and (here is None or _is_free(here, left)):
            self.masks = self.free if here is None else _masks_at(here)
            return 0
        self.add_mask(here, left, rows, frees)
        for token in guesses:
            left -= 1
            if self.ends_draft(token):
                break
            if here is not None:
                following = here.after(token)
                if following is None or not self.suffices(following, left):
                    self.take_draft(guesses)
                    return 0
                here = following
            draft.append(token)
            self.add_mask(here, left, rows, frees)
        self.sequence.draft, self.sequence.by_model = draft, False
        filled = 0 if here is None else len(rows)
        self.masks = Masks(tuple(rows), filled, filled, 0, (), tuple(frees))
        return 0

    cdef int look_up_here(self, Py_ssize_t left, list guesses) except -1:
        """`look_up` for a grammar in this process. A draft ends where it is not known how the text
        goes on, which may take long to find out."""
        cdef PositionPath path = <PositionPath>self.matcher
        cdef Position here = path.here()
        cdef list draft = [], rows = [path.copied_row(here)]
        for token in guesses:
            left -= 1
            if self.ends_draft(token):
                break
            here = here.known_after(token)
            if here is None or not self.is_open(here, left):
                break
            draft.append(token)
            rows.append(path.copied_row(here))
        self.sequence.draft, self.sequence.by_model = draft, False
        self.masks = Masks(tuple(rows), len(rows), len(rows))
        return 0

    cdef bint ends_draft(self, token) except -1:
        """Whether a draft ends before a token, whatever the grammar says."""
        return token in self.eos or token in self.stop_tokens or not self.texts[token]

    cdef int add_mask(
        self, KnownPosition here, Py_ssize_t left, list rows, list frees
    ) except -1:
        """Append the mask at a position, `left` tokens before the limit, to `rows`; and to `frees`
        its number with the mask without the limit, where the tokens under both are to be
        compared."""
        cdef BudgetRow found
        if here is None:
            rows.append(self.free.words[0])
        elif _is_free(here, left):
            rows.append(here.row)
        else:
            found = here.within(left)
            if self.shortened_at is None and not self._settled and found.free is not found.row:
                frees.append((len(rows), found.free))
            rows.append(found.row)
        return 0

    cpdef int judge(self, Py_ssize_t drafted, Py_ssize_t accepted, counts) except -1:
        record = self.generation.record
        counts.drafted_tokens += drafted
        counts.accepted_tokens += accepted
        record.drafted += drafted
        record.accepted += accepted
        if self.sequence.by_model:
            counts.model_drafted_tokens += drafted
            counts.model_accepted_tokens += accepted
            record.model_drafted += drafted
            record.model_accepted += accepted
        elif self.drafter is not None:
            (<LookBack>self.drafter).judge(drafted, accepted)
            self.sequence.judge(drafted, accepted)
        return 0

    cdef int publish_text(self, str text, token) except -1:
        """Publish the text that is safe to send, with all tokens that weren't published."""
        cdef Py_ssize_t count
        cdef list scores = None
        cdef object at = self.shortened_at
        if at is not None and at >= self._digested:
            at = None  # a token that is still to be processed
        if text and not self._unsent and not self.scored:
            self.generation.put_token(text, token, at)
            return 0
        self._unsent.append(token)
        if text:
            if self.scored:
                count = len(self._unsent)
                scores, self.scores = self.scores[:count], self.scores[count:]
            self.generation.put_text(text, self._unsent, scores, at)
            self._unsent = []
        return 0

    cdef bint suffices(self, KnownPosition here, Py_ssize_t left):
        """Whether a text that comes to a position, `left` tokens before the limit, finds all that
        it needs there: its mask, and no text to be written without the model or process that would
        have to be asked."""
        if here.complete or not (_is_free(here, left) or here.within(left) is not None):
            return False
        if here.expands and not here.noted:
            return False
        if not self.writes:
            return True
        return here.run is not None and not here.run.tokens and not here.run.whole

    cdef bint is_open(self, Position here, Py_ssize_t left):
        """`suffices` for a grammar in this process, if the token limit doesn't matter either."""
        if here.row < 0 or left < here.sufficient_budget or here.complete is not False:
            return False
        return not self.writes or (here.forced_byte is not None and not here.forced_byte)


cdef bint _knows_by_position(matcher):
    """Whether a matcher computes masks in this process, and those depend on its position alone."""
    return (
        isinstance(matcher, PositionPath)
        and (<PositionPath>matcher).positions is not None
        and matcher.by_position
    )


cdef inline bint _is_free(KnownPosition here, Py_ssize_t left):
    """Whether the mask without a limit is known, and is the one under `left` tokens."""
    return here.row is not None and left >= here.sufficient_budget


cdef Masks _masks_at(KnownPosition here):
    """The mask at a position, made once. Another thread may have learned a better one since."""
    cdef Masks masks = here.drawn_under
    if masks is None or masks.words[0] is not here.row:
        masks = here.drawn_under = Masks((here.row,), 1, 1)
    return masks
