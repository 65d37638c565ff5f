package org.restbench.workload.npb;

import java.util.List;

/**
 * The outcome of a run of a kernel.
 *
 * @param verified whether the value is the reference within NPB's epsilon, and no work was left out
 * @param value by which the kernel is verified: one number, for IS that of the checks passed; for FT alternating real
 *     and imaginary parts, in the order of the iterations
 * @param reference the value that NPB expects
 * @param kernelNanos duration of the region that NPB 3.4 times
 * @param millionOperations of that region, by NPB's formula
 */
public record Outcome(
        boolean verified,
        List<Double> value,
        List<Double> reference,
        int iterations,
        long kernelNanos,
        double millionOperations) {
    /** Millions of operations a second. */
    public double mops() {
        return millionOperations * 1e9 / kernelNanos;
    }
}
