package org.restbench.workload.npb;

import org.restbench.workload.ParallelLoop;

/**
 * One kernel on one class of input: what to compute and what must come out. It has no state; all that a run writes is
 * made for that run.
 *
 * @param <T> the input that is built before the clock runs
 */
public interface Problem<T> {
    /** The class, e.g. {@code "A"}. */
    String name();

    /**
     * Builds the input.
     *
     * @param kept whether other requests are to use it too, at any time; else it may be used up by one run
     */
    T input(boolean kept, ParallelLoop loop);

    /** Runs the kernel as NPB 3.4 does, its untimed part included, and verifies the result. */
    Outcome run(T input, ParallelLoop loop);

    /** NPB's count of the operations of the timed region, in millions. */
    double millionOperations();

    /** Bytes of all that one run holds at once, the building of its own input included. */
    long workingBytes();

    /** Bytes of an input that is kept. */
    long keptBytes();
}
