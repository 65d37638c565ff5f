package org.restbench.client;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;

/** Sends a message to the service and receives its answer (stage C), for many calls and batches at once. */
public interface Exchange extends AutoCloseable {
    /**
     * Sends a message. The future completes with the answer. Its connection is closed where the future is cancelled, or
     * where the answer takes longer or is larger than the limits allow. {@link Outcome.Kind} lists the exceptions with
     * which the future fails.
     */
    CompletableFuture<Answer> start(byte[] request, Limits limits);

    /**
     * Closes all connections; calls in flight fail. On Java 17 to 20 the idle connections of {@code java.net.http} and
     * its selector thread stay until the {@code HttpClient} is garbage-collected.
     */
    @Override
    void close();

    /** The answer has more bytes than the limits allow. */
    final class TooLarge extends IOException {
        public TooLarge(int mostBytes) {
            super("an answer of more than " + mostBytes + " bytes");
        }
    }
}
