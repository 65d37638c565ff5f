package org.restbench.execution;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import org.restbench.affinity.CoreAffinity;
import org.restbench.affinity.CoreAffinity.PinRefused;
import org.restbench.affinity.PinnedThreads;

/** The study's AF: the stages run in order on a long-lived thread that is bound to a core of its own. */
final class PinnedStrategy implements ExecutionStrategy {
    private final PinnedThreads threads;
    private final Workers workers;

    /** @param cores one for each worker */
    PinnedStrategy(CoreAffinity affinity, List<Integer> cores) {
        threads = new PinnedThreads(affinity, cores);
        // the queue needs no bound of its own: the service limits the requests in flight
        workers = new Workers(threads, cores.size(), new LinkedBlockingQueue<>());
    }

    @Override
    public <I, O> CompletionStage<byte[]> execute(Job<I, O> job) {
        CompletableFuture<byte[]> answer = new CompletableFuture<>();
        workers.handOver(answer, () -> {
            try {
                threads.requirePinned();
            } catch (PinRefused refused) {
                throw new StrategyFault("pinned: " + refused.getMessage(), refused);
            }
            answer.complete(job.run(Loops.IN_ORDER));
        });
        return answer;
    }

    @Override
    public void close(Deadline deadline) {
        workers.close(deadline);
        threads.close();
    }
}
