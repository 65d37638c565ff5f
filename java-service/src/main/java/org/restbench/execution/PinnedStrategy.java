package org.restbench.execution;

import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.restbench.affinity.CoreAffinity;
import org.restbench.affinity.PinRefused;
import org.restbench.affinity.PinnedThreads;
import org.restbench.workload.ParallelLoop;
import org.restbench.workload.Workload;

/** The study's AF: the stages run in order on a long-lived thread that is bound to a core of its own. */
final class PinnedStrategy implements ExecutionStrategy {
    private final PinnedThreads threads;
    private final ThreadPoolExecutor workers;
    private final ParallelLoop inOrder = new InOrderLoop();

    /** @param cores one for each worker */
    PinnedStrategy(CoreAffinity affinity, List<Integer> cores) {
        threads = new PinnedThreads(affinity, cores);
        // the queue needs no bound of its own: the service's limit of requests in flight is one
        workers = new ThreadPoolExecutor(
                cores.size(), cores.size(), 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), threads);
        workers.prestartAllCoreThreads();
    }

    @Override
    public <I, O> byte[] execute(Workload<I, O> workload, byte[] body, StageClock clock) {
        return Tasks.resultOf(workers.submit(() -> onWorker(workload, body, clock)));
    }

    private <I, O> byte[] onWorker(Workload<I, O> workload, byte[] body, StageClock clock) {
        try {
            threads.requirePinned();
        } catch (PinRefused refused) {
            throw new StrategyFault("pinned: " + refused.getMessage(), refused);
        }
        return Stages.run(workload, body, inOrder, clock);
    }

    @Override
    public void close() {
        Tasks.end(workers, Tasks.STOP_SECONDS);
    }
}
