package org.restbench.workload.npb;

/**
 * The outcome of a run of a kernel.
 *
 * @param verified whether the value is the reference within NPB's epsilon, and no work was left out
 * @param kernelNanos duration of the region that NPB 3.4 times
 * @param millionOperations of that region, by NPB's formula
 */
public record Outcome(
        boolean verified, Value value, Value reference, int iterations, long kernelNanos, double millionOperations) {
    /** Millions of operations a second. */
    public double mops() {
        return millionOperations * 1e9 / kernelNanos;
    }
}
