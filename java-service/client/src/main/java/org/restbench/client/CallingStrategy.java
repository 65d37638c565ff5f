package org.restbench.client;

import java.util.Iterator;

/** A way of making many calls: it decides on which threads their stages run, and when each stage starts. */
public interface CallingStrategy extends AutoCloseable {
    /**
     * Starts a batch. At most threads + {@code inFlight} + 4·{@code queue} inputs are pulled beyond the outcomes taken.
     *
     * @param inputs one for each call, pulled by one thread at a time; an exception of the iterator ends the batch
     *     after the calls of the inputs pulled before
     */
    <I, O, R> Calls<R> start(Iterator<? extends I> inputs, Job<I, O, R> job, Limits limits);

    /** Closes all batches under way, as {@link Calls#close} does. */
    @Override
    void close();
}
