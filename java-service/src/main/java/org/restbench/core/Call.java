package org.restbench.core;

import org.restbench.codec.CodedWorkload;
import org.restbench.codec.Query;
import org.restbench.execution.ExecutionStrategy;
import org.restbench.execution.Job;
import org.restbench.execution.WorkLimits;
import org.restbench.memory.MemoryBudget;

/**
 * A request whose body is whole.
 *
 * @param memory the request's, has room for the body as its protocol reads it
 * @param limits of its work
 * @param delayTiming the begin of Server-Timing: the delay and a comma where one was asked for, else empty
 */
public record Call(
        Head head,
        byte[] body,
        Query query,
        MemoryBudget.Hold memory,
        WorkLimits limits,
        ExecutionStrategy strategy,
        String delayTiming) {
    /** Its work, for the strategy. Starts the work's clock. */
    public <I, O> Job<I, O> job(CodedWorkload<I, O> workload) {
        return new Job<>(workload, body, query, memory, limits, head.isWanted());
    }
}
