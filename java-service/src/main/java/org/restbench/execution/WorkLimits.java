package org.restbench.execution;

import java.util.function.Supplier;
import org.restbench.workload.InvalidRequest;
import org.restbench.workload.RequestId;
import org.restbench.workload.Workload;
import org.restbench.workload.Workload.Bound;

/**
 * How much work one request may ask for.
 *
 * @param maxLoopOperations operations of work in plain loops
 * @param maxOperations operations of other work
 * @param maxRequestThreads threads made for one request
 */
public record WorkLimits(long maxLoopOperations, long maxOperations, long maxRequestThreads) {
    /** No limits, for work that no client asks for. */
    public static final WorkLimits NONE = new WorkLimits(Long.MAX_VALUE, Long.MAX_VALUE, Long.MAX_VALUE);

    /** @throws InvalidRequest 011 where the request has more operations, or its loops more threads, than the limit */
    <I> void require(Workload<I, ?> workload, I input, Loops loops, Supplier<RequestId> id) {
        Bound bound = workload.bound(input);
        if (bound != Bound.MEMORY) {
            long limit = bound == Bound.OPERATIONS ? maxOperations : maxLoopOperations;
            require("operations", workload.operations(input), limit, id);
            require("threads", loops.threads(workload.loops(input)), maxRequestThreads, id);
        }
    }

    private static void require(String what, long number, long limit, Supplier<RequestId> id) {
        if (number > limit) {
            throw new InvalidRequest("011", what + ": " + number + ", the limit is " + limit, id.get());
        }
    }
}
