package org.restbench.soap;

import org.restbench.codec.Codec;
import org.restbench.codec.Workloads.CodedWorkload;
import org.restbench.workload.RequestId;
import org.restbench.workload.Workload;

/**
 * One request whose XML has been read: a codec between JAXB's objects and a workload. A strategy runs it as any other
 * request; its decoding and encoding convert between texts and numbers.
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

    /** The object that JAXB writes for an output. */
    abstract Object message(O output);

    /** The request's id; null where its text is no valid id. */
    abstract RequestId id();

    /** The object that JAXB writes; null until a strategy has encoded the output. */
    Object answer() {
        return answer;
    }

    /** Returns no bytes: CXF writes the answer when the strategy is done. */
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
