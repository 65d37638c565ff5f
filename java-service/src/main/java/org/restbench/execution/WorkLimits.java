package org.restbench.execution;

import java.util.function.Supplier;
import org.restbench.workload.InvalidRequest;
import org.restbench.workload.RequestId;
import org.restbench.workload.Workload.Bound;

/**
 * How much work one request may ask for.
 *
 * @param maxLoopOperations operations of work in plain loops
 * @param maxOperations operations of other work
 * @param maxRequestThreads threads made for one request
 */
public record WorkLimits(long maxLoopOperations, long maxOperations, long maxRequestThreads) {
    /** For work that is not a client's. */
    public static final WorkLimits NONE = new WorkLimits(Long.MAX_VALUE, Long.MAX_VALUE, Long.MAX_VALUE);

    /** @throws InvalidRequest 011 where there are more operations than its bound allows */
    void requireOperations(Bound bound, long operations, Supplier<RequestId> id) {
        if (bound != Bound.MEMORY) {
            require("operations", operations, bound == Bound.OPERATIONS ? maxOperations : maxLoopOperations, id);
        }
    }

    static void require(String what, long number, long limit, Supplier<RequestId> id) {
        if (number > limit) {
            throw new InvalidRequest("011", what + ": " + number + ", the limit is " + limit, id.get());
        }
    }
}
