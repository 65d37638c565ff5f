package org.restbench.execution;

import org.restbench.workload.ParallelLoop;
import org.restbench.workload.Workload;

/** The stages run on the request's own thread; what differs is how their loops run. */
final class OnCaller implements ExecutionStrategy {
    private final ParallelLoop loop;
    private final Runnable closeLoop;

    OnCaller(ParallelLoop loop) {
        this(loop, () -> {});
    }

    /** @param closeLoop ends the threads that the loop keeps */
    OnCaller(ParallelLoop loop, Runnable closeLoop) {
        this.loop = loop;
        this.closeLoop = closeLoop;
    }

    @Override
    public <I, O> byte[] execute(Workload<I, O> workload, byte[] body, StageClock clock) {
        return Stages.run(workload, body, loop, clock);
    }

    @Override
    public void close() {
        closeLoop.run();
    }
}
