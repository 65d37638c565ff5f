package org.restbench.execution;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;

/** All stages of a request in order on a virtual thread that is made for it. */
final class VirtualThreadPerRequest implements ExecutionStrategy {
    private final Workers workers;

    /** @param threads makes a virtual thread for each task */
    VirtualThreadPerRequest(ExecutorService threads) {
        workers = new Workers(threads);
    }

    @Override
    public <I, O> CompletionStage<byte[]> execute(Job<I, O> job) {
        CompletableFuture<byte[]> answer = new CompletableFuture<>();
        workers.handOver(answer, () -> answer.complete(job.run(Loops.IN_ORDER)));
        return answer;
    }

    @Override
    public void close(Deadline deadline) {
        workers.close(deadline);
    }
}
