package org.restbench.microbench;

import org.restbench.workload.ParallelLoop;
import org.restbench.workload.RequestId;
import org.restbench.workload.Workload;

/** A loop over the elements of a product, a row a task as the matrix workload has it, in which nothing is done. */
record NothingToDo(int rows) implements Workload<Integer, Integer> {
    /** Of the study's rows sweep and its larger levels. */
    private static final int INNER = 50;

    private static final int COLUMNS = 20;

    private static final byte[] UNWRITTEN = {};

    @Override
    public String kind() {
        return "matrix loops";
    }

    /** Those of a product of this size, so that a strategy that chooses takes it for one. */
    @Override
    public long operations(Integer units) {
        return (long) units * INNER;
    }

    @Override
    public Integer parse(byte[] body) {
        return rows * COLUMNS;
    }

    @Override
    public Integer compute(Integer units, ParallelLoop loop) {
        loop.forEach(units, COLUMNS, (from, to) -> {});
        return units;
    }

    @Override
    public byte[] serialize(Integer output) {
        return UNWRITTEN;
    }

    @Override
    public RequestId identify(byte[] body) {
        return null;
    }
}
