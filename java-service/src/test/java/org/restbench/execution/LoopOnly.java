package org.restbench.execution;

import org.restbench.codec.Codec;
import org.restbench.codec.Query;
import org.restbench.memory.MemoryBudget;
import org.restbench.workload.ParallelLoop;
import org.restbench.workload.Workload;

/** A loop of four units in tasks of two, and nothing else. */
record LoopOnly(ParallelLoop.Body loopBody) implements Workload<Integer, Integer>, Codec<Integer, Integer> {
    byte[] under(ExecutionStrategy strategy) {
        return Jobs.answer(strategy.execute(Jobs.of(this, this)));
    }

    @Override
    public String name() {
        return "loop";
    }

    @Override
    public long workingBytes(Integer input) {
        return 0;
    }

    @Override
    public Integer decode(byte[] body, Query query, MemoryBudget.Hold memory) {
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
    public byte[] encode(Integer output) {
        return new byte[0];
    }
}
