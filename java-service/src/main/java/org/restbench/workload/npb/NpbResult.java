package org.restbench.workload.npb;

import org.restbench.workload.RequestId;

/**
 * The result of a run.
 *
 * @param kernel NPB's name
 * @param npbClass NPB's class of input, e.g. {@code "A"}
 * @param totalNanos duration of the whole stage of compute, input and verification included
 */
public record NpbResult(RequestId id, String kernel, String npbClass, Outcome outcome, long totalNanos) {}
