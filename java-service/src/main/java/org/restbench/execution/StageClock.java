package org.restbench.execution;

import java.util.Map;
import java.util.function.Supplier;

/**
 * How long one request spent in each stage. The only place where stages are timed. The clock starts when it is made,
 * that is when the request is given to its strategy. As with {@link Job}, stages may run on different threads.
 */
public final class StageClock {
    private final long startedNanos = System.nanoTime();
    private long parseNanos;
    private long computeNanos;
    private long waitedNanos;
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
        computeNanos = System.nanoTime() - start - waitedNanos;
        return result;
    }

    /** Counts a wait for threads within compute as queue. To be called on the thread that computes. */
    void waited(long nanos) {
        waitedNanos += nanos;
    }

    public <T> T serialize(Supplier<T> stage) {
        long start = System.nanoTime();
        T result = stage.get();
        serializedNanos = System.nanoTime();
        serializeNanos = serializedNanos - start;
        return result;
    }

    long parseNanos() {
        return parseNanos;
    }

    long computeNanos() {
        return computeNanos;
    }

    /**
     * The value of the header Server-Timing. {@code queue} is the time from the clock's start to the end of the last
     * stage without the stages themselves: the time of waiting for a thread to run a stage, or for the threads of a
     * loop.
     *
     * @param partNanos what parts of compute took, listed after the stages, in order
     */
    public String serverTiming(Map<String, Long> partNanos) {
        StringBuilder header = new StringBuilder(96);
        append(header, "queue", serializedNanos - startedNanos - parseNanos - computeNanos - serializeNanos);
        append(header.append(", "), "parse", parseNanos);
        append(header.append(", "), "compute", computeNanos);
        append(header.append(", "), "serialize", serializeNanos);
        partNanos.forEach((name, nanos) -> append(header.append(", "), name, nanos));
        return header.toString();
    }

    /** {@code name;dur=1.234}: milliseconds, rounded to three decimals. */
    public static String entry(String name, long nanos) {
        StringBuilder header = new StringBuilder(24);
        append(header, name, nanos);
        return header.toString();
    }

    private static void append(StringBuilder header, String name, long nanos) {
        long micros = (nanos + 500) / 1000;
        header.append(name).append(";dur=").append(micros / 1000).append('.');
        String decimals = Long.toString(1000 + micros % 1000);
        header.append(decimals, 1, 4);
    }
}
