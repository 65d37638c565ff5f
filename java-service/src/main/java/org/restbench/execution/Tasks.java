package org.restbench.execution;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.restbench.workload.ParallelLoop;

/**
 * A loop's work as tasks for an executor, and what every executor needs: all run, one failure told, the end awaited.
 */
final class Tasks {
    /**
     * Tasks of one loop that exist at once; those behind them wait unmade. Twice the rows of the study's largest
     * matrix, so that nothing that is measured is cut in two; and a loop over millions of units costs no more memory.
     */
    static final int MOST_AT_ONCE = 4000;

    /** For threads of the service itself, when it is stopped: requests in flight have had their time before. */
    static final int STOP_SECONDS = 5;

    /** For threads of one loop: all its tasks are done, or one of its threads could not be started. */
    static final int LOOP_END_SECONDS = 60;

    private Tasks() {}

    /** How many tasks of {@code unitsPerTask} units it takes. */
    static int count(int units, int unitsPerTask) {
        return (int) (((long) units + unitsPerTask - 1) / unitsPerTask);
    }

    static Callable<Void> of(int from, int to, ParallelLoop.Body body) {
        return () -> {
            body.run(from, to);
            return null;
        };
    }

    /**
     * Runs a loop as one task each {@code unitsPerTask} units; waits and throws as {@code runAll} of a list does.
     *
     * @param atOnce tasks that exist at once
     */
    static void runAll(ExecutorService executor, int atOnce, int units, int unitsPerTask, ParallelLoop.Body body) {
        int tasks = count(units, unitsPerTask);
        for (int from = 0; from < tasks; from += atOnce) {
            int to = Math.min(tasks, from + atOnce);
            List<Callable<Void>> now = new ArrayList<>(to - from);
            for (long task = from; task < to; task++) {
                now.add(of((int) (task * unitsPerTask), (int) Math.min(units, (task + 1) * unitsPerTask), body));
            }
            runAll(executor, now);
        }
    }

    /** Runs all tasks, waits for all, and throws on what the first of them that failed threw. */
    static void runAll(ExecutorService executor, List<Callable<Void>> tasks) {
        try {
            for (Future<Void> done : executor.invokeAll(tasks)) {
                resultOf(done);
            }
        } catch (InterruptedException interrupted) {
            throw interrupted(interrupted);
        }
    }

    /** A task's result, or what it threw, as it was thrown. */
    static <T> T resultOf(Future<T> future) {
        try {
            return future.get();
        } catch (ExecutionException failed) {
            throw unchecked(failed.getCause());
        } catch (InterruptedException interrupted) {
            throw interrupted(interrupted);
        }
    }

    /** The same throwable, for a {@code throw} statement: a stage throws no checked exception. */
    static RuntimeException unchecked(Throwable thrown) {
        if (thrown instanceof Error error) {
            throw error;
        }
        return thrown instanceof RuntimeException runtime ? runtime : new IllegalStateException(thrown);
    }

    static IllegalStateException interrupted(InterruptedException cause) {
        Thread.currentThread().interrupt();
        return new IllegalStateException("interrupted while work was waited for: the service is being stopped", cause);
    }

    /** Lets running tasks finish and waits until the executor's threads are gone, so many seconds at most. */
    static void end(ExecutorService executor, int seconds) {
        executor.shutdown();
        try {
            if (!executor.awaitTermination(seconds, TimeUnit.SECONDS)) {
                executor.shutdownNow();
            }
        } catch (InterruptedException interrupted) {
            executor.shutdownNow();
            Thread.currentThread().interrupt();
        }
    }
}
