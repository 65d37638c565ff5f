package org.restbench.client;

import java.util.Objects;

/** What is to be done with each input. */
public record Job<I, O, R>(Codec<I, O> codec, Exchange exchange, Processor<I, O, R> process) {
    public Job {
        Objects.requireNonNull(codec, "codec");
        Objects.requireNonNull(exchange, "exchange");
        Objects.requireNonNull(process, "process");
    }

    /** What is done with an output: the stage P. */
    @FunctionalInterface
    public interface Processor<I, O, R> {
        /** The result of a call; any exception or error is this call's failure in P. */
        R process(long index, I input, O output) throws Exception;
    }
}
