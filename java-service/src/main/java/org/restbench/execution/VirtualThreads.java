package org.restbench.execution;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.restbench.workload.ParallelLoop;

/**
 * A virtual thread each {@code unitsPerTask} units, on Java 21 and later. The service is compiled for 17, so this is
 * the one place that looks the method up by name.
 */
final class VirtualThreads implements ParallelLoop {
    private final ExecutorService threads;

    private VirtualThreads(ExecutorService threads) {
        this.threads = threads;
    }

    /** The loop, or nothing where this Java has no virtual threads. */
    static Optional<VirtualThreads> ifAvailable() {
        MethodHandle factory;
        try {
            MethodType type = MethodType.methodType(ExecutorService.class);
            factory = MethodHandles.publicLookup().findStatic(Executors.class, "newVirtualThreadPerTaskExecutor", type);
        } catch (NoSuchMethodException | IllegalAccessException olderJava) {
            return Optional.empty();
        }
        return Optional.of(new VirtualThreads(executor(factory)));
    }

    private static ExecutorService executor(MethodHandle factory) {
        try {
            return (ExecutorService) factory.invokeExact();
        } catch (Throwable thrown) {
            throw Tasks.unchecked(thrown);
        }
    }

    @Override
    public void forEach(int units, int unitsPerTask, Body body) {
        Tasks.runAll(threads, Tasks.ofGrain(units, unitsPerTask, body));
    }

    void close() {
        Tasks.end(threads);
    }
}
