package org.restbench.execution;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * All stages of a request in order on one thread of a pool that the service keeps: the usual middleware. Requests of
 * blocking workloads have a pool of their own, made when one first comes: its threads wait, and need no core each. The
 * queues need no bound of their own, as the service's limit of requests in flight is one.
 */
final class WorkerPool implements ExecutionStrategy {
    private static final int BLOCKING_THREADS = 20;

    private final Workers computing;
    private final int blockingThreads;
    private Workers blocking;

    /**
     * @param threads of each pool, 0 for as many as cores, and 20 for blocking workloads
     * @param cores that the service may use
     */
    WorkerPool(int threads, int cores) {
        computing = workers(threads == 0 ? cores : threads);
        blockingThreads = threads == 0 ? BLOCKING_THREADS : threads;
    }

    private static Workers workers(int threads) {
        return new Workers(Tasks.threads("worker-pool-"), threads, new LinkedBlockingQueue<>());
    }

    @Override
    public <I, O> CompletionStage<byte[]> execute(Job<I, O> job) {
        CompletableFuture<byte[]> answer = new CompletableFuture<>();
        Workers workers = job.workload().isBlocking() ? blocking() : computing;
        workers.handOver(answer, () -> answer.complete(job.run(Loops.IN_ORDER)));
        return answer;
    }

    private synchronized Workers blocking() {
        if (blocking == null) {
            blocking = workers(blockingThreads);
        }
        return blocking;
    }

    @Override
    public synchronized void close(Deadline deadline) {
        computing.close(deadline);
        if (blocking != null) {
            blocking.close(deadline);
        }
    }
}
