package org.restbench.workload.npb;

import org.restbench.workload.RequestId;

/**
 * A request to run a kernel.
 *
 * @param problem the kernel on the class asked for
 * @param generate whether the input is built for this request alone
 */
public record NpbRequest(RequestId id, Problem<?> problem, boolean generate) {}
