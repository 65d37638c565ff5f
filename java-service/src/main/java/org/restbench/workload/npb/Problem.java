package org.restbench.workload.npb;

import java.util.List;
import java.util.function.Function;
import org.restbench.workload.ParallelLoop;

/**
 * One kernel on one class of input: the computation and its expected result. A problem has no state; everything that a
 * run writes to is allocated for that run.
 *
 * @param <T> the input, which is built before the timed region
 */
public interface Problem<T> {
    /** The class, e.g. {@code "A"}. */
    String name();

    /**
     * Builds the input.
     *
     * @param kept whether other requests use the input as well, at any time; else one run may modify it
     */
    T input(boolean kept, ParallelLoop loop);

    /** Runs the kernel as NPB 3.4 does, its untimed part included, and verifies the result. */
    Outcome run(T input, ParallelLoop loop);

    /** NPB's count of the operations of the timed region, in millions. */
    double millionOperations();

    /** Bytes that one run holds at once, including those to build an input of its own. */
    long workingBytes();

    /** Bytes of an input that is shared with other requests. */
    long keptBytes();

    /**
     * The outcome of a run of a kernel.
     *
     * @param verified whether the value is the reference within NPB's epsilon, and no work was left out
     * @param value by which the kernel is verified: one number, for IS that of the checks passed; for FT alternating
     *     real and imaginary parts, in the order of the iterations
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

    /** A kernel by NPB's name, e.g. {@code "CG"}, with a problem for each class, from small to large. */
    public record Kernel(String name, List<Problem<?>> problems) {
        public static <C> Kernel of(String name, List<C> classes, Function<C, Problem<?>> problem) {
            return new Kernel(name, classes.stream().<Problem<?>>map(problem).toList());
        }
    }
}
