package org.restbench.workload.npb;

import org.restbench.workload.InvalidRequest;
import org.restbench.workload.RequestId;

/**
 * What a client asks of a kernel.
 *
 * @param problem the kernel on the class asked for
 * @param generate whether the input is built for this request alone
 */
public record NpbRequest(RequestId id, Problem<?> problem, boolean generate) {
    private static final long MEBIBYTE = 1 << 20;

    /** Bytes that this request holds at once; a shared input comes in addition to what a run makes for itself. */
    long bytes() {
        return problem.workingBytes() + (generate ? 0 : problem.keptBytes());
    }

    /**
     * @param limitBytes of memory that there is
     * @throws InvalidRequest 010 where it needs more
     */
    public void requireFits(long limitBytes) {
        if (bytes() > limitBytes) {
            long needed = (bytes() + MEBIBYTE - 1) / MEBIBYTE;
            String message = "class: " + problem.name() + " needs " + needed + " MiB of memory, the limit is "
                    + limitBytes / MEBIBYTE + " MiB";
            throw new InvalidRequest("010", message, id);
        }
    }
}
