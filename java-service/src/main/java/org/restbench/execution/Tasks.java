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

    static List<Callable<Void>> ofGrain(int units, int unitsPerTask, ParallelLoop.Body body) {
        List<Callable<Void>> tasks = new ArrayList<>(count(units, unitsPerTask));
        for (long from = 0; from < units; from += unitsPerTask) {
            tasks.add(of((int) from, (int) Math.min(units, from + unitsPerTask), body));
        }
        return tasks;
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

    /** Lets running tasks finish and waits until the executor's threads are gone. */
    static void end(ExecutorService executor) {
        executor.shutdown();
        try {
            if (!executor.awaitTermination(1, TimeUnit.MINUTES)) {
                executor.shutdownNow();
            }
        } catch (InterruptedException interrupted) {
            executor.shutdownNow();
            Thread.currentThread().interrupt();
        }
    }
}
