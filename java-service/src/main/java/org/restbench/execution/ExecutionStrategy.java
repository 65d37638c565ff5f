package org.restbench.execution;

import org.restbench.workload.Workload;

/**
 * Decides where a request's three stages run and how the loops in them are cut and run. Knows nothing of what they do.
 */
public interface ExecutionStrategy extends AutoCloseable {
    /**
     * Runs the stages in order and returns when the last is done. Called by many threads at once.
     *
     * @param clock times each stage
     * @return the response's bytes
     * @throws RuntimeException what a stage threw, as it was thrown
     * @throws StrategyFault where the strategy cannot run as its name says
     */
    <I, O> byte[] execute(Workload<I, O> workload, byte[] body, StageClock clock);

    /** Ends the threads this strategy keeps, if any. */
    @Override
    default void close() {}
}
