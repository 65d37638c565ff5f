package org.restbench.execution;

import java.util.concurrent.CompletionStage;

/**
 * Decides where a request's three stages run and how the loops in them are cut and run. Knows nothing of what they do.
 */
public interface ExecutionStrategy {
    /**
     * Runs the stages in order. Called by many threads at once.
     *
     * @return the response's bytes, or what a stage threw, as it was thrown; or a {@link StrategyFault} where the
     *     strategy cannot run as its name says, a {@link StoppingException} where it is closed, an
     *     {@link AbandonedException} where nobody waits any more. Done already where the caller's thread did the work;
     *     completed in any case, at the latest when the strategy is closed.
     */
    <I, O> CompletionStage<byte[]> execute(Job<I, O> job);

    /** Ends the threads this strategy keeps, if any, and fails what is not done by the deadline. */
    default void close(Deadline deadline) {}
}
