package org.restbench.client;

import java.util.List;
import java.util.Map;

/** A batch of calls under way. */
public interface Calls<R> extends AutoCloseable {
    /**
     * Waits for the next call that ends and returns its outcome. After the last one returns null or, where the iterator
     * of the inputs threw an exception, throws that exception once. An interrupt ends the wait, not the batch.
     */
    Outcome<R> take() throws InterruptedException;

    /**
     * Takes all outcomes that were not taken yet and returns them in the order of the inputs. Where {@link #take}
     * throws an exception, the next call returns also those taken before it.
     */
    List<Outcome<R>> all() throws InterruptedException;

    /** Pulls no more inputs and closes connections in flight; unfinished calls become {@link Outcome.Cancelled}. */
    void cancel();

    Totals totals();

    /** Cancels, and waits for the threads. An IllegalStateException names those that ignore an interrupt for 1 s. */
    @Override
    void close();

    /**
     * What a batch has used so far.
     *
     * @param elapsedSeconds from the start of the batch to its last outcome, or to now while the batch is under way
     * @param wall wall-clock seconds by stage, summed over the calls that ended
     * @param cpu CPU seconds of the threads that ran each stage; 0 where no thread was held, and on virtual threads
     * @param peakInFlight largest number of calls between sending and answer at once
     * @param peakQueued largest number of messages in the buffers before C, D and P; for S, of outcomes waiting to be
     *     taken
     * @param attempts number of requests sent, retries included
     * @param peakThreads largest number of threads alive at once, by thread name without the number
     * @param threadsMade threads started in all, without the thread that takes the outcomes
     */
    record Totals(
            double elapsedSeconds,
            Map<Stage, Double> wall,
            Map<Stage, Double> cpu,
            int peakInFlight,
            Map<Stage, Integer> peakQueued,
            long attempts,
            long retries,
            Map<String, Integer> peakThreads,
            long threadsMade) {}
}
