package org.restbench.microbench;

import org.restbench.workload.ParallelLoop;
import org.restbench.workload.RequestId;
import org.restbench.workload.Workload;

/** A workload whose request was parsed before, and whose result nobody reads. */
record ComputeOnly(Workload<Object, Object> whole, Object input) implements Workload<Object, Object> {
    private static final byte[] UNWRITTEN = {};

    @Override
    public String kind() {
        return whole.kind();
    }

    @Override
    public long operations(Object parsed) {
        return whole.operations(parsed);
    }

    @Override
    public Object parse(byte[] body) {
        return input;
    }

    @Override
    public Object compute(Object parsed, ParallelLoop loop) {
        return whole.compute(parsed, loop);
    }

    @Override
    public byte[] serialize(Object output) {
        return UNWRITTEN;
    }

    @Override
    public RequestId identify(byte[] body) {
        return null;
    }
}
