package org.restbench.workload;

/**
 * What a workload asks of its strategy: a loop over independent units, as in OpenMP, and the memory that the loop's
 * tasks share. It lives next to {@link Workload}, which needs it, so that {@code execution} depends on {@code workload}
 * and not both on each other.
 */
public interface ParallelLoop {
    /** Work on the units {@code from} (inclusive) to {@code to} (exclusive). */
    @FunctionalInterface
    interface Body {
        void run(int from, int to);
    }

    /** How large a loop is, as {@link #forEach} has it. */
    record Size(int units, int unitsPerTask) {
        /** How many tasks of the natural grain it is cut into. */
        public int tasks() {
            return (int) (((long) units + unitsPerTask - 1) / unitsPerTask);
        }
    }

    /**
     * Runs the body over all units from 0, each exactly once, and returns when all are done. What a body writes is
     * visible to the caller afterwards. An exception of a body is thrown on to the caller once no body runs any more.
     *
     * @param units how many there are, at least 1
     * @param unitsPerTask the natural grain: how many neighbouring units make one task worth having, at least 1
     */
    void forEach(int units, int unitsPerTask, Body body);

    /**
     * Zeroed memory for {@code product(shape)} numbers, row-major, that all tasks can reach. Tasks here are threads.
     */
    default long[] array(int... shape) {
        return new long[length(shape)];
    }

    /** As {@link #array}, in double precision. */
    default double[] doubles(int... shape) {
        return new double[length(shape)];
    }

    /** As {@link #array}, for 32-bit integers. */
    default int[] ints(int... shape) {
        return new int[length(shape)];
    }

    private static int length(int... shape) {
        int length = 1;
        for (int size : shape) {
            length = Math.multiplyExact(length, size);
        }
        return length;
    }
}
