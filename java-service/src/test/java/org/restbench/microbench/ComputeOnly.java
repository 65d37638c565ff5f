package org.restbench.microbench;

import org.restbench.codec.Codec;
import org.restbench.codec.Query;
import org.restbench.codec.Workloads.CodedWorkload;
import org.restbench.memory.MemoryBudget;
import org.restbench.workload.Workload;

/** A codec whose request was decoded before, and whose result nobody reads. */
record ComputeOnly<I, O>(I input) implements Codec<I, O> {
    private static final byte[] UNWRITTEN = {};

    static <I, O> CodedWorkload<I, O> of(Workload<I, O> workload, I input) {
        return new CodedWorkload<>(workload, new ComputeOnly<>(input));
    }

    @Override
    public I decode(byte[] body, Query query, MemoryBudget.Hold memory) {
        return input;
    }

    @Override
    public byte[] encode(O output) {
        return UNWRITTEN;
    }
}
