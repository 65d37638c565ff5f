package org.restbench.execution;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.restbench.workload.ParallelLoop;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lasting threads that take whole jobs, first come, first served, and help with loops that others have opened. A loop
 * goes before a waiting job: it was cut because somebody was idle.
 */
final class Crew implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Crew.class);

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition work = lock.newCondition();
    private final Deque<Job<?>> jobs = new ArrayDeque<>();
    private final Deque<CutLoop> loops = new ArrayDeque<>();
    private final List<Thread> threads = new ArrayList<>();
    private int atJobs;
    private boolean closed;

    /** Run first and told afterwards, by one thread; what is in between needs no memory. */
    private static final class Job<T> {
        private final Supplier<T> work;
        private final CompletableFuture<T> result = new CompletableFuture<>();
        private T value;
        private Throwable failure;

        Job(Supplier<T> work) {
            this.work = work;
        }

        void run() {
            try {
                value = work.get();
            } catch (Throwable thrown) { // also an Error: whoever waits is told, and the thread lives on
                failure = thrown;
            }
        }

        void tell() {
            if (failure == null) {
                result.complete(value);
            } else {
                result.completeExceptionally(failure);
            }
        }

        void refuse() {
            result.completeExceptionally(new IllegalStateException("the service was stopped with requests waiting"));
        }
    }

    Crew(int size, ThreadFactory factory) {
        for (int i = 0; i < size; i++) {
            Thread thread = factory.newThread(this::workUntilClosed);
            threads.add(thread);
            thread.start();
        }
    }

    /** Threads that no job needs, begun or waiting: they can help. */
    int idle() {
        lock.lock();
        try {
            return Math.max(0, threads.size() - atJobs - jobs.size());
        } finally {
            lock.unlock();
        }
    }

    /** Jobs that nobody has begun. */
    int waiting() {
        lock.lock();
        try {
            return jobs.size();
        } finally {
            lock.unlock();
        }
    }

    /** Runs a job on one of the threads, when its turn comes; waits, and throws what it threw. */
    <T> T call(Supplier<T> task) {
        Job<T> job = new Job<>(task);
        lock.lock();
        try {
            if (closed) {
                job.refuse();
            } else {
                jobs.add(job);
                work.signal();
            }
        } finally {
            lock.unlock();
        }
        return Tasks.resultOf(job.result);
    }

    /**
     * Runs a loop on the current thread, with the help of those of the crew who come in time.
     *
     * @param workers the current thread, and how many of the crew there are to help it
     * @return whether any did
     */
    boolean share(int workers, int units, int unitsPerTask, ParallelLoop.Body body) {
        CutLoop loop = new CutLoop(units, unitsPerTask, workers, body);
        open(loop);
        try {
            loop.run();
        } finally {
            withdraw(loop);
        }
        return loop.helped();
    }

    private void open(CutLoop loop) {
        int helpers = loop.places();
        lock.lock();
        try {
            if (helpers > 0) {
                loops.add(loop);
            }
            for (int i = 0; i < helpers; i++) {
                work.signal();
            }
        } finally {
            lock.unlock();
        }
    }

    private void withdraw(CutLoop loop) {
        lock.lock();
        try {
            loops.remove(loop);
        } finally {
            lock.unlock();
        }
    }

    private void workUntilClosed() {
        boolean more = true;
        while (more) {
            try {
                more = workOnce();
            } catch (Throwable exhausted) { // without memory to wait or to tell: the thread matters more
                tell(exhausted);
            }
        }
    }

    private static void tell(Throwable exhausted) {
        try {
            LOG.error("{} goes on with the next request", Thread.currentThread().getName(), exhausted);
        } catch (Error still) {
            // no memory for that either
        }
    }

    /** Waits for something to do and does it; false once the crew is closed. */
    private boolean workOnce() {
        CutLoop loop;
        Job<?> job = null;
        lock.lock();
        try {
            while ((loop = joinLoop()) == null && (job = jobs.poll()) == null && !closed) {
                work.awaitUninterruptibly();
            }
            atJobs += job == null ? 0 : 1;
        } finally {
            lock.unlock();
        }
        if (loop != null) {
            loop.work();
        } else if (job != null) {
            work(job);
        }
        return loop != null || job != null;
    }

    /** Idle again before anybody knows the result: who sends the next job finds it so. */
    private void work(Job<?> job) {
        job.run();
        lock.lock();
        try {
            atJobs--;
        } finally {
            lock.unlock();
        }
        job.tell();
    }

    /** The loop opened first of those with a place for a helper and something left. */
    private CutLoop joinLoop() {
        for (CutLoop loop : loops) {
            if (loop.join()) {
                return loop;
            }
        }
        return null;
    }

    /** Ends the threads after what they are at; jobs that wait fail. */
    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            jobs.forEach(Job::refuse);
            jobs.clear();
            work.signalAll();
        } finally {
            lock.unlock();
        }
        try {
            for (Thread thread : threads) {
                thread.join(TimeUnit.SECONDS.toMillis(Tasks.STOP_SECONDS));
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
