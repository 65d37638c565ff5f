package org.restbench.execution;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.LongConsumer;
import org.restbench.execution.ThreadPool.ThreadBudget;
import org.restbench.workload.ParallelLoop;

/**
 * One virtual thread per {@code unitsPerTask} units, on Java 21 and later. The service is compiled for Java 17, so this
 * is the one place that looks up by name the method which makes virtual threads.
 */
record VirtualThreads(ExecutorService threads, ThreadBudget budget) implements Loops {
    /** The strategy; empty where this Java has no virtual threads. */
    static Optional<VirtualThreads> ifAvailable(ThreadBudget budget) {
        try {
            Object threads =
                    Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
            return Optional.of(new VirtualThreads((ExecutorService) threads, budget));
        } catch (NoSuchMethodException olderJava) {
            return Optional.empty();
        } catch (ReflectiveOperationException failed) {
            throw new IllegalStateException("no virtual threads, though this Java has them", failed);
        }
    }

    @Override
    public long threads(List<ParallelLoop.Size> loops) {
        return loops.stream().mapToLong(ParallelLoop.Size::tasks).sum();
    }

    @Override
    public RequestLoop open(LongConsumer waited) {
        return (units, unitsPerTask, body) -> {
            int tasks = new ParallelLoop.Size(units, unitsPerTask).tasks();
            int atOnce = budget.take(Math.min(tasks, Tasks.MOST_AT_ONCE), waited);
            try {
                Tasks.runAll(threads, atOnce, units, unitsPerTask, body);
            } finally {
                budget.giveBack(atOnce);
            }
        };
    }

    @Override
    public void close(Deadline deadline) {
        Tasks.end(threads, deadline);
    }
}
