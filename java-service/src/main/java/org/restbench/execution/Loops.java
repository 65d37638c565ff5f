package org.restbench.execution;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.LongConsumer;
import org.restbench.workload.ParallelLoop;

/**
 * How the loops of requests are cut and run. Each request opens one loop object and uses it for all its loops. This is
 * a strategy as well, which runs the stages on the calling thread.
 */
interface Loops extends ExecutionStrategy {
    /** Runs all units in order, on the calling thread. */
    Loops IN_ORDER = waited -> (units, unitsPerTask, body) -> body.run(0, units);

    /** The loop object of one request, with the threads that are made for the request. */
    interface RequestLoop extends ParallelLoop, AutoCloseable {
        @Override
        default void close() {}
    }

    /** Number of threads that are made for a request with these loops. */
    default long threads(List<ParallelLoop.Size> loops) {
        return 0;
    }

    /** @param waited is called with a wait's nanoseconds after it; where it throws, the loop is not run */
    RequestLoop open(LongConsumer waited);

    @Override
    default <I, O> CompletionStage<byte[]> execute(Job<I, O> job) {
        try {
            return CompletableFuture.completedFuture(job.run(this));
        } catch (Throwable thrown) {
            return CompletableFuture.failedFuture(thrown);
        }
    }
}
