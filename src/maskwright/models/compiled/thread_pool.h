/* Threads that share the pieces of a job with the thread that has it.

There is one pool in a process, for the model of one engine at a time: who comes while it is in use
does all pieces alone. The threads know nothing of the interpreter, so they need not wait for its
lock. They sleep between two jobs, and nothing depends on when they wake up: whoever is there takes
the next piece. */

#ifndef MASKWRIGHT_THREAD_POOL_H
#define MASKWRIGHT_THREAD_POOL_H

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#define MOST_THREADS 16 /* of a job, its own thread included */

/* Does a piece of a job, in the thread of this number. */
typedef void (*work_on)(void *job, ptrdiff_t piece, ptrdiff_t thread);

static struct {
    pthread_mutex_t lock;
    pthread_cond_t begun, ended;
    ptrdiff_t helpers; /* threads that were started */
    ptrdiff_t inside;  /* helpers that are at work */
    uint64_t jobs;     /* begun so far */
    int busy;          /* whether there is a job, which ends when its own thread leaves */
    int open;          /* whether helpers may still come to it */
    /* The present job: at most so many `threads` work on it, the one that has it included. */
    work_on work;
    void *job;
    ptrdiff_t pieces, next, threads;
    int processor; /* on which helpers don't run */
    pthread_t helper[MOST_THREADS - 1];
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER,
          .begun = PTHREAD_COND_INITIALIZER,
          .ended = PTHREAD_COND_INITIALIZER,
          .processor = -1};

static void work_on_pieces(ptrdiff_t thread) {
    for (;;) {
        const ptrdiff_t piece = __atomic_fetch_add(&pool.next, 1, __ATOMIC_RELAXED);
        if (piece >= pool.pieces) return;
        pool.work(pool.job, piece, thread);
    }
}

static void *help(void *argument) {
    const ptrdiff_t number = (ptrdiff_t)argument;
    uint64_t seen = 0;
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        while (!pool.open || pool.jobs == seen || number >= pool.threads)
            pthread_cond_wait(&pool.begun, &pool.lock);
        seen = pool.jobs;
        pool.inside++;
        pthread_mutex_unlock(&pool.lock);
        work_on_pieces(number);
        pthread_mutex_lock(&pool.lock);
        if (!--pool.inside) pthread_cond_signal(&pool.ended);
    }
    return NULL;
}

/* A process that was forked has none of the threads. */
static void forget_helpers(void) {
    pool.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    pool.begun = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    pool.ended = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    pool.helpers = pool.inside = pool.busy = pool.open = 0;
}

static void forget_threads_in_forks(void) { pthread_atfork(NULL, NULL, forget_helpers); }

/* Start the helpers that are missing; if the system gives no more threads, there are fewer. Signals
are for threads of the interpreter. The caller holds the lock. */
static void start_helpers(ptrdiff_t count) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (pool.helpers < count) {
        pthread_t *thread = &pool.helper[pool.helpers];
        if (pthread_create(thread, NULL, help, (void *)(pool.helpers + 1))) break;
        pthread_detach(*thread);
        pool.helpers++;
        pool.processor = -1;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Keep helpers from the processor of the calling thread. Where few processors share a cache, Linux
wakes a thread on the one that it last ran on without looking for another one that is idle; if that
is the caller's, it waits there until the caller has done all pieces. */
static void keep_helpers_off(void) {
#if defined(__linux__)
    const int processor = sched_getcpu();
    cpu_set_t others;
    if (processor < 0 || processor == pool.processor) return;
    pool.processor = processor;
    if (pthread_getaffinity_np(pthread_self(), sizeof others, &others)) return;
    CPU_CLR(processor, &others);
    if (CPU_COUNT(&others) == 0) return;
    for (ptrdiff_t number = 0; number < pool.helpers; number++)
        pthread_setaffinity_np(pool.helper[number], sizeof others, &others);
#endif
}

/* Do all pieces of a job with at most so many threads, and return when all are done. A piece that
waits for an earlier one waits for a thread that is at work on it. */
static void share_pieces(work_on work, void *job, ptrdiff_t pieces, ptrdiff_t threads) {
    pthread_mutex_lock(&pool.lock);
    const int alone = pieces < 2 || threads < 2 || pool.busy;
    if (!alone) {
        start_helpers(threads - 1);
        keep_helpers_off();
        pool.busy = pool.open = 1;
        pool.jobs++;
        pool.work = work;
        pool.job = job;
        pool.pieces = pieces;
        pool.threads = threads;
        pool.next = 0;
        pthread_cond_broadcast(&pool.begun);
    }
    pthread_mutex_unlock(&pool.lock);
    if (alone) {
        for (ptrdiff_t piece = 0; piece < pieces; piece++) work(job, piece, 0);
        return;
    }
    work_on_pieces(0);
    pthread_mutex_lock(&pool.lock);
    pool.open = 0;
    while (pool.inside) pthread_cond_wait(&pool.ended, &pool.lock);
    pool.busy = 0;
    pthread_mutex_unlock(&pool.lock);
}

/* Note how far a piece has come; wait until another piece has come so far. */
static inline void say_done(int64_t *count, int64_t done) {
    __atomic_store_n(count, done, __ATOMIC_RELEASE);
}

static inline void wait_for(const int64_t *count, int64_t done) {
    while (__atomic_load_n(count, __ATOMIC_ACQUIRE) < done) sched_yield();
}

#endif
