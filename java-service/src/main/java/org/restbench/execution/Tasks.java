package org.restbench.execution;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.restbench.execution.ExecutionStrategy.Deadline;
import org.restbench.execution.ExecutionStrategy.StoppingException;
import org.restbench.workload.ParallelLoop;

/** What every use of an executor needs: running the tasks of a loop, one failure, the executor's end. */
final class Tasks {
    /**
     * Tasks of one loop that exist at once; later ones are made when these are done. Twice the rows of the study's
     * largest matrix, so that no loop that is measured is cut in two; it bounds the memory of a loop over millions of
     * units.
     */
    static final int MOST_AT_ONCE = 4000;

    private Tasks() {}

    /**
     * Makes threads named by a prefix and a number from 1. The names are an interface: the harness finds the threads of
     * a strategy by them in {@code /proc}, which shows 15 characters.
     */
    static ThreadFactory threads(String prefix) {
        AtomicInteger made = new AtomicInteger();
        return work -> new Thread(work, prefix + made.incrementAndGet());
    }

    static void run(int task, int units, int unitsPerTask, ParallelLoop.Body body) {
        body.run((int) ((long) task * unitsPerTask), (int) Math.min(units, (task + 1L) * unitsPerTask));
    }

    /** Runs a loop with one task per {@code unitsPerTask} units, so many at once, as {@code runAll} of a list. */
    static void runAll(ExecutorService executor, int atOnce, int units, int unitsPerTask, ParallelLoop.Body body) {
        int tasks = new ParallelLoop.Size(units, unitsPerTask).tasks();
        for (int from = 0; from < tasks; from += atOnce) {
            int to = Math.min(tasks, from + atOnce);
            List<Runnable> now = new ArrayList<>(to - from);
            for (int i = from; i < to; i++) {
                int task = i;
                now.add(() -> run(task, units, unitsPerTask, body));
            }
            runAll(executor, now);
        }
    }

    /** Runs all tasks, waits for all, and rethrows what the first failed task in the list has thrown. */
    static void runAll(ExecutorService executor, List<Runnable> tasks) {
        try {
            for (Future<?> done :
                    executor.invokeAll(tasks.stream().map(Executors::callable).toList())) {
                done.get();
            }
        } catch (ExecutionException failed) {
            throw unchecked(failed.getCause());
        } catch (RejectedExecutionException | CancellationException closed) {
            throw new StoppingException(closed);
        } catch (InterruptedException interrupted) {
            throw interrupted(interrupted);
        }
    }

    /** Runs pieces of work and keeps what the first one that failed has thrown. */
    static final class Failure {
        private final AtomicReference<Throwable> first = new AtomicReference<>();

        void keep(Runnable work) {
            try {
                work.run();
            } catch (Throwable thrown) {
                first.compareAndSet(null, thrown);
            }
        }

        void rethrow() {
            if (first.get() != null) {
                throw unchecked(first.get());
            }
        }
    }

    /** The throwable for a {@code throw} statement; throws an {@link Error} itself, wraps a checked exception. */
    static RuntimeException unchecked(Throwable thrown) {
        if (thrown instanceof Error error) {
            throw error;
        }
        return thrown instanceof RuntimeException runtime ? runtime : new IllegalStateException(thrown);
    }

    /** For a wait that was interrupted: threads that wait for work are interrupted only by the stop. */
    static StoppingException interrupted(InterruptedException cause) {
        Thread.currentThread().interrupt();
        return new StoppingException(cause);
    }

    /** Lets tasks finish up to the deadline; then interrupts and cancels them, so that no caller waits for ever. */
    static void end(ExecutorService executor, Deadline deadline) {
        executor.shutdown();
        try {
            if (executor.awaitTermination(deadline.remainingNanos(), TimeUnit.NANOSECONDS)) {
                return;
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        for (Runnable never : executor.shutdownNow()) {
            if (never instanceof Future<?> waited) {
                waited.cancel(false);
            }
        }
    }
}
