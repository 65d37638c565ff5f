package org.restbench.client;

import java.util.Objects;

/** What is to be done with each input. */
public record Job<I, O, R>(Codec<I, O> codec, Exchange exchange, Processor<I, O, R> process) {
    public Job {
        Objects.requireNonNull(codec, "codec");
        Objects.requireNonNull(exchange, "exchange");
        Objects.requireNonNull(process, "process");
    }
}
