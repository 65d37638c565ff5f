package org.restbench.workload.npb;

import org.restbench.workload.RequestId;

/**
 * What a client gets.
 *
 * @param kernel NPB's name
 * @param npbClass the class
 * @param totalNanos of the whole stage, input and verification included
 */
public record NpbResult(RequestId id, String kernel, String npbClass, Outcome outcome, long totalNanos) {}
