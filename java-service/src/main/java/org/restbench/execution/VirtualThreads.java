package org.restbench.execution;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A virtual thread each {@code unitsPerTask} units, on Java 21 and later. The service is compiled for 17, so this is
 * the one place that looks the method up by name.
 */
final class VirtualThreads implements Loops {
    private final ExecutorService threads;
    private final ThreadBudget budget;

    private VirtualThreads(ExecutorService threads, ThreadBudget budget) {
        this.threads = threads;
        this.budget = budget;
    }

    /** The loops, or nothing where this Java has no virtual threads. */
    static Optional<VirtualThreads> ifAvailable(ThreadBudget budget) {
        MethodHandle factory;
        try {
            MethodType type = MethodType.methodType(ExecutorService.class);
            factory = MethodHandles.publicLookup().findStatic(Executors.class, "newVirtualThreadPerTaskExecutor", type);
        } catch (NoSuchMethodException | IllegalAccessException olderJava) {
            return Optional.empty();
        }
        return Optional.of(new VirtualThreads(executor(factory), budget));
    }

    private static ExecutorService executor(MethodHandle factory) {
        try {
            return (ExecutorService) factory.invokeExact();
        } catch (Throwable thrown) {
            throw Tasks.unchecked(thrown);
        }
    }

    @Override
    public RequestLoop open(Job<?, ?> job) {
        return (units, unitsPerTask, body) -> {
            int tasks = Tasks.count(units, unitsPerTask);
            job.requireThreads(tasks);
            int atOnce = budget.take(Math.min(tasks, Tasks.MOST_AT_ONCE));
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
