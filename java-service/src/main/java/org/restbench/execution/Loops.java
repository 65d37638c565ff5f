package org.restbench.execution;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.restbench.workload.ParallelLoop;

/**
 * How the loops of requests are cut and run: for each request one loop object, which it uses for all its loops. By
 * itself a strategy whose stages run on the request's own thread.
 */
interface Loops extends ExecutionStrategy {
    /** All units in order, on the thread that asks. */
    Loops IN_ORDER = () -> (units, unitsPerTask, body) -> body.run(0, units);

    /** The loop of one request, with the threads that are made for it. */
    interface RequestLoop extends ParallelLoop, AutoCloseable {
        /** Ends the request's own threads. */
        @Override
        default void close() {}
    }

    /** Threads that are made for a request with these loops. */
    default long threads(List<ParallelLoop.Size> loops) {
        return 0;
    }

    RequestLoop open();

    @Override
    default <I, O> CompletionStage<byte[]> execute(Job<I, O> job) {
        try {
            return CompletableFuture.completedFuture(job.run(this));
        } catch (Throwable thrown) {
            return CompletableFuture.failedFuture(thrown);
        }
    }
}
