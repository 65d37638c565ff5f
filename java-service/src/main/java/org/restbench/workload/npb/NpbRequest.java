package org.restbench.workload.npb;

import org.restbench.workload.RequestId;

/**
 * What a client asks of a kernel.
 *
 * @param problem the kernel on the class asked for
 * @param generate whether the input is built for this request alone
 */
public record NpbRequest(RequestId id, Problem<?> problem, boolean generate) {
    /** Bytes that this request holds at once; a shared input comes in addition to what a run makes for itself. */
    long bytes() {
        return problem.workingBytes() + (generate ? 0 : problem.keptBytes());
    }
}
