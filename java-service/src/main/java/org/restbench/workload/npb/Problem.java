package org.restbench.workload.npb;

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
}
