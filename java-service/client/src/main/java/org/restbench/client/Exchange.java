package org.restbench.client;

import java.io.IOException;
import java.util.function.BiConsumer;

/** Takes a message to the service and brings its answer: the stage C. Many calls and batches may use one at once. */
public interface Exchange extends AutoCloseable {
    /**
     * Holds the thread until the last byte of the answer; an interrupt closes the connection.
     *
     * @throws ExchangeFailure what went wrong, {@code TIMEOUT} where the deadline passed; any other IOException counts
     *     as {@code CUT_OFF}
     */
    Answer send(byte[] request, Deadline deadline) throws IOException, InterruptedException;

    /** Holds no thread; ends as {@link #send} does. */
    Pending start(byte[] request, Deadline deadline);

    /** Closes all connections; calls in flight fail. */
    @Override
    void close();

    /** An answer to come. */
    interface Pending {
        /**
         * Called once with an answer or a failure, on any thread, at once where it is there already; must not block.
         */
        void whenDone(BiConsumer<Answer, IOException> then);

        /** Closes the connection. */
        void cancel();
    }
}
