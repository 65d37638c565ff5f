package org.restbench.client;

import java.util.Iterator;

/** A way of making many calls: on which threads their stages run, and what waits for what. */
public interface CallingStrategy extends AutoCloseable {
    /**
     * Begins a batch. At most threads + {@code inFlight} + 4·{@code queue} inputs are ahead of the outcomes taken.
     *
     * @param inputs asked by one thread at a time; what it throws ends the batch after the calls it gave
     */
    <I, O, R> Calls<R> start(Iterator<? extends I> inputs, Job<I, O, R> job, Limits limits);

    /** Closes the batches under way. */
    @Override
    void close();
}
