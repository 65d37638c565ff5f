package org.restbench.client;

import java.util.Objects;

/** How each input is processed: a codec for S and D, an exchange for C, the caller's code for P. */
public record Job<I, O, R>(Codec<I, O> codec, Exchange exchange, Processor<I, O, R> process) {
    public Job {
        Objects.requireNonNull(codec, "codec");
        Objects.requireNonNull(exchange, "exchange");
        Objects.requireNonNull(process, "process");
    }

    /** The caller's code for an output (stage P). */
    @FunctionalInterface
    public interface Processor<I, O, R> {
        /**
         * Returns the result of a call. Any exception or error makes this call fail in P. But under {@code sequential},
         * where the taking thread runs P, an InterruptedException is taken for that thread's interrupt:
         * {@link Calls#take} throws one, and the call is {@link Outcome.Cancelled}.
         *
         * @param index position of the input in the batch, from 0
         */
        R process(long index, I input, O output) throws Exception;
    }
}
