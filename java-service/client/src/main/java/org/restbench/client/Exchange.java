package org.restbench.client;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;

/** Takes a message to the service and brings its answer: the stage C. Many calls and batches may use one at once. */
public interface Exchange extends AutoCloseable {
    /**
     * An answer to come, within the time and the bytes that the limits give a call. Its connection is closed where it
     * is cancelled, too late or too large. It fails as {@link Outcome.Kind} says.
     */
    CompletableFuture<Answer> start(byte[] request, Limits limits);

    /**
     * Closes all connections; calls in flight fail. On Java 17 to 20 idle connections of {@code java.net.http}, and the
     * thread that looks after them, stay until its client is collected.
     */
    @Override
    void close();

    /** An answer of more bytes than the limits allow. */
    final class TooLarge extends IOException {
        public TooLarge(int mostBytes) {
            super("an answer of more than " + mostBytes + " bytes");
        }
    }
}
