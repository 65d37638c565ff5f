package org.restbench.execution;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** The stages run on the request's own thread; what differs is how their loops run. */
record OnCaller(Loops loops) implements ExecutionStrategy {
    @Override
    public <I, O> CompletionStage<byte[]> execute(Job<I, O> job) {
        try {
            return CompletableFuture.completedFuture(job.run(loops));
        } catch (Throwable thrown) {
            return CompletableFuture.failedFuture(thrown);
        }
    }

    @Override
    public void close(Deadline deadline) {
        loops.close(deadline);
    }
}
