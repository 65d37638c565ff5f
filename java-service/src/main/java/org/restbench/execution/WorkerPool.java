package org.restbench.execution;

import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * All stages of a request in order on one thread of a pool that the service keeps, as usual middleware does. Blocking
 * workloads have a second pool: its threads mostly wait, need no core each, and are made when they are needed. The
 * queues need no bound of their own, as the service limits the requests in flight.
 */
final class WorkerPool implements ExecutionStrategy {
    private static final String NAMES = "worker-pool-";
    private static final int BLOCKING_THREADS = 20;

    private final Workers computing;
    private final Workers blocking;

    /** @param threads of each pool; 0 for one per core (20 in the pool of blocking workloads) */
    WorkerPool(int threads, int cores) {
        int waiting = threads == 0 ? BLOCKING_THREADS : threads;
        computing = new Workers(Tasks.threads(NAMES), threads == 0 ? cores : threads, new LinkedBlockingQueue<>());
        blocking = new Workers(Executors.newFixedThreadPool(waiting, Tasks.threads(NAMES)));
    }

    @Override
    public <I, O> CompletionStage<byte[]> execute(Job<I, O> job) {
        return (job.workload().isBlocking() ? blocking : computing).execute(job);
    }

    @Override
    public void close(Deadline deadline) {
        computing.close(deadline);
        blocking.close(deadline);
    }
}
