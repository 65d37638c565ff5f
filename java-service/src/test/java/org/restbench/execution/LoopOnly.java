package org.restbench.execution;

import org.restbench.workload.ParallelLoop;
import org.restbench.workload.RequestId;
import org.restbench.workload.Workload;

/** A loop of four units in tasks of two, and nothing else. */
record LoopOnly(ParallelLoop.Body loopBody) implements Workload<Integer, Integer> {
    @Override
    public String kind() {
        return "loop";
    }

    @Override
    public Integer parse(byte[] body) {
        return 4;
    }

    @Override
    public long operations(Integer units) {
        return units;
    }

    @Override
    public Integer compute(Integer units, ParallelLoop loop) {
        loop.forEach(units, 2, loopBody);
        return units;
    }

    @Override
    public byte[] serialize(Integer output) {
        return new byte[0];
    }

    @Override
    public RequestId identify(byte[] body) {
        return null;
    }
}
