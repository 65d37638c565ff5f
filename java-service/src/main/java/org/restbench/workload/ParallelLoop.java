package org.restbench.workload;

/**
 * What a workload needs of its strategy: a loop over independent units, as in OpenMP, and memory that the loop's tasks
 * share. The interface is in the package of {@link Workload}, which uses it, so that {@code execution} depends on
 * {@code workload} and not the other way round as well.
 */
public interface ParallelLoop {
    /** Work on the units {@code from} (inclusive) to {@code to} (exclusive). */
    @FunctionalInterface
    interface Body {
        void run(int from, int to);
    }

    /** The size of a loop, by the arguments of {@link #forEach}. */
    record Size(int units, int unitsPerTask) {
        public int tasks() {
            return (int) (((long) units + unitsPerTask - 1) / unitsPerTask);
        }
    }

    /**
     * Runs the body over all units from 0, each exactly once, and returns when all are done. What a body writes is
     * visible to the caller afterwards. An exception of a body is rethrown to the caller once no body runs any more.
     *
     * @param units number of units, at least 1
     * @param unitsPerTask the natural grain: number of neighbouring units whose work is worth a task, at least 1
     */
    void forEach(int units, int unitsPerTask, Body body);

    /** Zeroed memory for numbers in double precision, shared by all tasks. */
    default double[] doubles(int length) {
        return new double[length];
    }
}
