package org.restbench.execution;

import java.util.function.Supplier;

/**
 * How long one request spent in each stage. The only place where stages are timed. It starts when it is made, that is
 * when the request is given to its strategy. The stages may run on different threads, one after the other; whoever
 * passes the request on (a queue, a future) makes the times visible.
 */
public final class StageClock {
    private final long startedNanos = System.nanoTime();
    private long parseNanos;
    private long computeNanos;
    private long serializeNanos;
    private long serializedNanos;

    public <T> T parse(Supplier<T> stage) {
        long start = System.nanoTime();
        T result = stage.get();
        parseNanos = System.nanoTime() - start;
        return result;
    }

    public <T> T compute(Supplier<T> stage) {
        long start = System.nanoTime();
        T result = stage.get();
        computeNanos = System.nanoTime() - start;
        return result;
    }

    public <T> T serialize(Supplier<T> stage) {
        long start = System.nanoTime();
        T result = stage.get();
        serializedNanos = System.nanoTime();
        serializeNanos = serializedNanos - start;
        return result;
    }

    /** From its start to the end of the last stage, without the stages: waiting for whatever runs a stage. */
    public long queueNanos() {
        return serializedNanos - startedNanos - parseNanos - computeNanos - serializeNanos;
    }

    public long parseNanos() {
        return parseNanos;
    }

    public long computeNanos() {
        return computeNanos;
    }

    public long serializeNanos() {
        return serializeNanos;
    }
}
