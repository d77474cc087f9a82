"""What a request has published and its reader has not taken yet; see `mailbox.pyi`."""

import threading
from collections import deque

from maskwright.engine.request.progress cimport Progress
from maskwright.native cimport BUILT_FROM
from maskwright.engine.request.request import Delta
from maskwright.native import require_built

require_built(__name__, BUILT_FROM)


cdef class Mailbox:
    def __init__(self, Py_ssize_t buffer, Progress record):
        self.record = record
        lock = threading.Lock()
        self._ready = threading.Condition(lock)
        self.acquire, self.give_back = lock.acquire, lock.release
        self._unread, self._apart = [], deque()
        self.texts, self.tokens, self.scores = [], [], []
        self.buffer = buffer

    def publish(self, delta):
        self.put(delta, len(delta.token_ids), delta.finish_reason is not None)

    cdef int put(self, delta, Py_ssize_t tokens, bint is_last) except -1:
        self.acquire()
        try:
            self.join_parts()
            self._unread.append(delta)
            self.behind += tokens
        except:
            self.give_back()
            raise
        return self.deliver(is_last)

    cdef int put_token(self, str text, token, shortened_at) except -1:
        self.acquire()
        self.shortened_at = shortened_at
        self.texts.append(text)
        self.tokens.append(token)
        self.behind += 1
        return self.deliver(False)

    cdef int put_text(self, str text, list tokens, list scores, shortened_at) except -1:
        self.acquire()
        self.shortened_at = shortened_at
        self.texts.append(text)
        self.tokens += tokens
        if scores is not None:
            self.scores += scores
        self.behind += len(tokens)
        return self.deliver(False)

    cdef int deliver(self, bint is_last) except -1:
        """Give the lock back, and wake the reader."""
        cdef object waiter = None
        cdef bint urgent = is_last or not self.has_published
        if is_last or not self._wakes_once:
            waiter, self._waiter = self._waiter, None
        self.has_published = True
        if self._waiting and (is_last or not self._wakes_once):
            self._ready.notify_all()
        self.give_back()
        if waiter is not None:
            wake_ups, notify = waiter
            wake_ups.pass_on(notify, urgent=urgent)
        return 0

    cdef int join_parts(self) except -1:
        """Make a delta of the parts that came last."""
        if self.texts:
            scores = tuple(self.scores)
            self._unread.append(
                Delta(
                    "".join(self.texts), tuple(self.tokens), None, None, scores, None,
                    self.shortened_at,
                )
            )
            self.texts, self.tokens, self.scores = [], [], []
        return 0

    @property
    def _filled(self):
        return bool(self._apart or self._unread or self.texts)

    def publish_apart(self, delta):
        waiter = None
        with self._ready:
            self._apart.append(delta)
            if not self._wakes_once:
                waiter, self._waiter = self._waiter, None
            self._ready.notify_all()
        if waiter is not None:
            wake_ups, notify = waiter
            wake_ups.pass_on(notify)

    def throttle(self):
        return self.is_behind()

    cdef bint is_behind(self) except -1:
        if not self._streams:
            return False
        self.acquire()
        try:
            self._throttled = self.behind >= self.buffer
            return self._throttled
        finally:
            self.give_back()

    def _take_unread(self):
        self.join_parts()
        unread, self._unread = self._unread, []
        self.behind = 0
        return unread
