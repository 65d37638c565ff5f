package org.restbench.soap;

import org.restbench.codec.Codec;
import org.restbench.codec.CodedWorkload;
import org.restbench.codec.Query;
import org.restbench.memory.MemoryBudget;
import org.restbench.workload.RequestId;
import org.restbench.workload.Workload;

/**
 * One request whose XML is read already: a codec between JAXB's objects and a workload. So a strategy runs it as any
 * other, and decodes and encodes between texts and numbers.
 */
abstract class Operation<I, O> implements Codec<I, O> {
    private static final byte[] NONE = {};

    private final Workload<I, O> workload;
    private Object answer;

    Operation(Workload<I, O> workload) {
        this.workload = workload;
    }

    CodedWorkload<I, O> workload() {
        return new CodedWorkload<>(workload, this);
    }

    abstract I input(Query query, MemoryBudget.Hold memory);

    /** What JAXB is to write. */
    abstract Object message(O output);

    /** Null where it is none. */
    abstract RequestId id();

    /** What JAXB is to write, once a strategy has encoded it. */
    Object answer() {
        return answer;
    }

    @Override
    public I decode(byte[] body, Query query, MemoryBudget.Hold memory) {
        return input(query, memory);
    }

    /** No bytes: they are written when the strategy is done. */
    @Override
    public byte[] encode(O output) {
        answer = message(output);
        return NONE;
    }

    @Override
    public RequestId identify(byte[] body) {
        return id();
    }
}
