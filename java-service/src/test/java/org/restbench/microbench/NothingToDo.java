package org.restbench.microbench;

import org.restbench.workload.ParallelLoop;
import org.restbench.workload.Workload;

/** A loop over the elements of a product, a row a task as the matrix workload has it, in which nothing is done. */
record NothingToDo() implements Workload<Integer, Integer> {
    /** Of the study's rows sweep and its larger levels. */
    private static final int INNER = 50;

    private static final int COLUMNS = 20;

    /** The input: the elements of so many rows. */
    static int units(int rows) {
        return rows * COLUMNS;
    }

    @Override
    public String name() {
        return "nothing";
    }

    /** Those of a product of this size, so that a strategy that chooses takes it for one. */
    @Override
    public long operations(Integer units) {
        return (long) units * INNER;
    }

    @Override
    public long workingBytes(Integer units) {
        return 0;
    }

    @Override
    public Integer compute(Integer units, ParallelLoop loop) {
        loop.forEach(units, COLUMNS, (from, to) -> {});
        return units;
    }
}
